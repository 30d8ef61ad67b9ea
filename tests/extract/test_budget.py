from __future__ import annotations

import pytest

from stacklens.core.errors import StacklensError
from stacklens.extract.config import Budget, BudgetUse, ExtractionConfig, parse_budget


@pytest.mark.parametrize("text", ["", "0", "0s", "-1", "60 seconds", "1e3", "nan", "inf", "2d", "s", "none!", "٣s"])
def test_what_is_no_time_is_refused_in_one_line(text: str) -> None:
    with pytest.raises(StacklensError, match=r"^a budget is a time such as 60s, 2m or 1h, or none, not [^\n]*$"):
        parse_budget(text)


@pytest.mark.parametrize(
    ("text", "seconds"), [("5", 5.0), ("60s", 60.0), ("2m", 120.0), (" 1.5 h ", 5_400.0), ("NONE", None)]
)
def test_a_time_has_a_unit_or_is_in_seconds(text: str, seconds: float | None) -> None:
    assert parse_budget(text) == seconds


def test_a_budget_is_over_when_it_is_used_up_and_without_one_nothing_is() -> None:
    short, none = Budget(1e-9), Budget(None)
    assert short.use() == BudgetUse(1e-9, False)  # nobody has asked
    assert short.over()
    assert not none.over()
    assert (short.use(), none.use()) == (BudgetUse(1e-9, True), BudgetUse(None, False))


def test_there_are_three_methods() -> None:
    with pytest.raises(StacklensError, match=r"^method is 'best'; expected one of auto, kmeans, learn"):
        ExtractionConfig(method="best")  # type: ignore[arg-type]
