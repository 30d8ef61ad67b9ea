"""A small share of every attack, with fixed seeds; `make attack` runs as much of them as one likes."""

import pytest
from tests.attack.campaign import Attack, discover

SEEDS = (2, 3)
ATTACKS = discover()


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("attack", ATTACKS, ids=[attack.name for attack in ATTACKS])
def test_no_claim_falls_to_an_attack(attack: Attack, seed: int) -> None:
    assert attack.round(seed).total() > 0
