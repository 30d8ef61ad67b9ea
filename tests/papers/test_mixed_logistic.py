"""The mixed logistic model: planted effects come back, and its parts agree with plain twins of them."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

from stacklens.papers.mixed_logistic import Members, MixedFit, fit_mixed, members_of

SLOPES = (1.0, -0.8, 0.0)


def planted(n: int, seed: int, deviations: tuple[float, float] = (1.0, 0.7)) -> tuple[np.ndarray, np.ndarray, Members]:
    """Return outcomes, predictors and groups of ``n`` networks of 8 families and 9 tasks, by known effects."""
    random = np.random.default_rng(seed)
    families, tasks = random.integers(0, 8, n), random.integers(0, 9, n)
    common = random.normal(size=(n, 1))
    values = 0.7 * common + 0.7 * random.normal(size=(n, len(SLOPES)))
    values = (values - values.mean(0)) / values.std(0)
    effects = random.normal(size=8) * deviations[0], random.normal(size=9) * deviations[1]
    odds = 0.3 + values @ np.array(SLOPES) + effects[0][families] + effects[1][tasks]
    seen = (random.random(n) < 1 / (1 + np.exp(-odds))).astype(int)
    return seen, values, members_of([f"family {k}" for k in families], [f"task {k}" for k in tasks])


@pytest.fixture(scope="module")
def fitted() -> tuple[MixedFit, np.ndarray, np.ndarray, Members]:
    seen, values, members = planted(1_500, seed=1)
    return fit_mixed(seen, values, members), seen, values, members


def test_planted_effects_come_back(fitted: tuple[MixedFit, np.ndarray, np.ndarray, Members]) -> None:
    fit = fitted[0]
    assert fit.settled
    ratios = fit.odds_ratios()
    for slope, (ratio, low, high) in zip(SLOPES, ratios, strict=True):
        assert low < np.exp(slope) < high
        assert abs(np.log(ratio) - slope) < 0.25
        assert high / low < 2
    half = 2.131450 * np.sqrt(np.diag(fit.covariance)[1 : 1 + len(SLOPES)])  # Student's, 7 + 8 degrees of freedom
    np.testing.assert_allclose(np.log(ratios[:, 2] / ratios[:, 0]), half, rtol=1e-6)
    assert 0.5 < fit.deviations[0] < 2
    assert 0.3 < fit.deviations[1] < 1.5


@pytest.mark.slow
def test_intervals_hold_what_they_say() -> None:
    inside = 0
    for seed in range(20):
        ratios = fit_mixed(*planted(200, seed)).odds_ratios()
        inside += sum(low < np.exp(slope) < high for slope, (_, low, high) in zip(SLOPES, ratios, strict=True))
    assert inside >= 52  # of 60; fewer have a chance of three in a thousand at 95 %


def test_the_covariance_is_the_inverse_of_the_curvature_of_statsmodels_own_posterior(
    fitted: tuple[MixedFit, np.ndarray, np.ndarray, Members],
) -> None:
    fit, seen, values, members = fitted
    model, _ = sparse_twin(seen, (values - fit.centre) / fit.scale, members)
    fixed, step = 1 + len(SLOPES), 1e-3

    def gradient(effects: np.ndarray) -> np.ndarray:
        whole = np.concatenate([effects[:fixed], np.log(fit.deviations), effects[fixed:]])
        found: np.ndarray = model.logposterior_grad(whole)
        return np.delete(found, [fixed, fixed + 1])

    shifts = step * np.eye(len(fit.effects))
    curvature = np.stack([(gradient(fit.effects + one) - gradient(fit.effects - one)) / (2 * step) for one in shifts])
    np.testing.assert_allclose(np.linalg.inv(-curvature), fit.covariance, rtol=2e-3, atol=1e-5)


def sparse_twin(seen: np.ndarray, standardised: np.ndarray, members: Members) -> tuple[Any, Any]:
    """Return the model as statsmodels keeps it, groups sparse, and its fit from a start that is drawn."""
    from statsmodels.genmod.bayes_mixed_glm import BinomialBayesMixedGLM

    rows = np.concatenate([np.ones((len(seen), 1)), standardised], 1)
    model = BinomialBayesMixedGLM(seen.astype(float), rows, members.of, members.kinds)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        number = rows.shape[1] + 2 + members.of.shape[1]
        start = np.random.default_rng(0).normal(size=number) / 10
        return model, model.fit_vb(start, np.full(number, 0.7), minim_opts={"gtol": 1e-6})


def test_statsmodels_from_another_start_and_with_sparse_groups_ends_there_too() -> None:
    seen, values, members = planted(200, seed=2)
    fit = fit_mixed(seen, values, members)
    _, twin = sparse_twin(seen, (values - values.mean(0)) / values.std(0), members)
    np.testing.assert_allclose(fit.effects, np.concatenate([twin.fe_mean, twin.vc_mean]), atol=2e-5)
    np.testing.assert_allclose(fit.deviations, np.exp(twin.vcp_mean), atol=2e-5)


def test_without_groups_that_matter_it_is_the_plain_model() -> None:
    from sklearn.linear_model import LogisticRegression

    seen, values, members = planted(2_000, seed=3, deviations=(0.0, 0.0))
    fit = fit_mixed(seen, values, members)
    plain = LogisticRegression(C=4.0).fit(values, seen)  # the same prior
    np.testing.assert_allclose(fit.effects[1 : 1 + len(SLOPES)], plain.coef_[0], atol=0.05)
    assert (fit.deviations < 0.35).all()


def test_a_group_that_was_not_seen_may_have_any_effect_of_its_kind() -> None:
    seen, values, members = planted(300, seed=4)
    out = members.of[:, -1] == 1  # the last task
    fit = fit_mixed(seen[~out], values[~out], Members(members.of[~out], members.kinds))
    assert fit.effects[-1] == 0
    np.testing.assert_allclose(fit.covariance[-1, -1], fit.deviations[1] ** 2)
    chances = fit.probabilities(values[out], Members(members.of[out], members.kinds))
    rows = np.concatenate([np.ones((out.sum(), 1)), (values[out] - fit.centre) / fit.scale, members.of[out]], 1)
    draws = np.random.default_rng(0).multivariate_normal(fit.effects, fit.covariance, 40_000)
    np.testing.assert_allclose(chances, (1 / (1 + np.exp(-rows @ draws.T))).mean(1), atol=0.015)


def test_what_a_network_has_not_counts_as_the_mean() -> None:
    seen, values, members = planted(200, seed=5)
    missing = values.copy()
    missing[::3, 1] = np.nan
    fit = fit_mixed(seen, missing, members)
    filled = np.where(np.isnan(missing), fit.centre, missing)
    np.testing.assert_allclose(fit.centre, np.nanmean(missing, 0))
    np.testing.assert_allclose(fit.probabilities(missing, members), fit.probabilities(filled, members))
    nothing = fit_mixed(seen, np.full((200, 1), np.nan), members)  # a predictor that no network has
    assert nothing.settled
    assert nothing.effects[1] == pytest.approx(0, abs=1e-6)
