"""The whole mechanism: what it spends, what one record can change, and what it is worth where nothing is hidden."""

from dataclasses import replace

import numpy as np
import pytest
from private_records import KEY, Recorder, silent

from memaudit.common.errors import AuditError
from memaudit.privacy import tabpate_release
from memaudit.privacy.accounting import Budget, delta_of, gaussian_rho, rho_within
from memaudit.privacy.discrete_noise import discrete_gaussian
from memaudit.privacy.noisy_moments import Moments, moments_sensitivity
from memaudit.privacy.public_facts import Column, Public
from memaudit.privacy.tabpate_release import Settings, TabPATE, narrowed, planned
from memaudit.privacy.teacher_shards import Private
from memaudit.privacy.unit_lattice import STEPS

PLANE = (Column("a", (0.0, 10.0)), Column("b", (-1.0, 1.0)))
PUBLIC = Public("toy", "made up", 300, "classification", PLANE, Column("target", ("no", "yes")))
NUMBER = replace(PUBLIC, task="regression", target=Column("target", (0.0, 100.0)))
BUDGET = Budget(1.0, 1e-5)
GROUPS = Settings(queries=200, prior="moments", alpha=1.0, by_class=True, narrowed=True, labels="group")
VOTES = Settings(queries=30, teachers=5)
MIXED = Settings(queries=30, teachers=5, prior="moments", alpha=0.5, by_class=True, narrowed=True)


def records(count=300, seed=0):
    """Two classes, apart in both columns."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, count)
    x = np.column_stack([rng.normal(3 + 4 * y, 1), rng.normal(0.5 * (2 * y - 1), 0.2)])
    return x.astype(np.float32), y, [str(number) for number in range(count)]


def nearest_mean(contexts, queries):
    """A model: logits by the distance to each class's mean, in scaled columns."""
    scale = np.array([10.0, 2.0])
    logits = np.full((len(contexts), len(queries), 2), -np.inf, dtype=np.float32)
    for place, (x, y) in enumerate(contexts):
        for label in np.unique(y):
            logits[place, :, label] = -(((queries - x[y == label].mean(0)) / scale) ** 2).sum(1)
    return logits


def released(settings, data=None, public=PUBLIC, budget=BUDGET, predict=nearest_mean, noise=silent, given=None):
    x, y, units = data or records()
    private = Private(x, y, units, KEY, public, given)
    return TabPATE(private, predict, np.random.default_rng(1), noise).release(settings, budget)


@pytest.mark.parametrize("settings", [GROUPS, VOTES, MIXED], ids=["groups", "votes", "mixed"])
@pytest.mark.parametrize("budget", [Budget(0.5, 1e-6), BUDGET, Budget(10.0, 1e-5)])
@pytest.mark.parametrize("public", [PUBLIC, NUMBER], ids=["classes", "number"])
def test_all_noise_together_keeps_to_the_budget_and_nearly_fills_it(settings, budget, public):
    plan = planned(settings, budget, public)
    sensitivity = moments_sensitivity(public.with_target() if public is NUMBER else public)
    spent = [(1, sensitivity * STEPS, sigma * STEPS) for sigma in plan.moments]
    if plan.votes and public is PUBLIC:
        spent.append((2 * settings.queries, 1, plan.votes.sigma2))
    if plan.votes and public is NUMBER:
        spent.append((settings.queries, 2**16, plan.votes.sigma2 * 2**16))
    assert 0.7 * budget.delta < delta_of(budget.epsilon, spent) <= budget.delta


def test_the_published_accounting_halves_delta_and_splits_epsilon():
    settings = replace(MIXED, accounting="as_published", narrowed=False, sigma2=4.0)
    plan = planned(settings, BUDGET, PUBLIC)
    half = Budget(0.5, BUDGET.delta / 2)
    assert plan.rho == pytest.approx(rho_within(half))
    [sigma] = plan.moments
    assert delta_of(0.5, [(1, moments_sensitivity(PUBLIC) * STEPS, sigma * STEPS)]) == pytest.approx(5e-6, rel=0.05)
    without = planned(replace(VOTES, accounting="as_published", sigma2=4.0), BUDGET, PUBLIC)
    assert without.rho == pytest.approx(rho_within(Budget(1.0, BUDGET.delta / 2)))


def test_narrowing_is_paid_for():
    whole, twice = (planned(replace(GROUPS, narrowed=on), BUDGET, PUBLIC).moments for on in (False, True))
    assert len(twice) == 2
    assert sum(gaussian_rho(sigma) for sigma in twice) == pytest.approx(gaussian_rho(*whole), rel=1e-3)


@pytest.mark.parametrize("settings", [VOTES, MIXED], ids=["votes", "mixed"])
def test_labels_stop_where_the_budget_ends(settings):
    few = planned(settings, BUDGET, PUBLIC)
    assert few.rho == pytest.approx(settings.queries * gaussian_rho(few.votes.sigma2, 2))
    confident = replace(VOTES, threshold=0.0, sigma1=6.0, sigma2=6.0, queries=500, accounting="as_published")
    found = released(confident)
    cost = gaussian_rho(6.0) + gaussian_rho(6.0, 2)
    assert found.queried == found.answered == int(rho_within(Budget(1.0, BUDGET.delta / 2)) / cost)


CHECKED = replace(VOTES, queries=500, threshold=3.0, sigma1=6.0, sigma2=6.0)
UNCHECKED = replace(VOTES, queries=500, sigma2=6.0, accounting="as_published")


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 8.0])
@pytest.mark.parametrize(
    ("settings", "public"),
    [(CHECKED, PUBLIC), (UNCHECKED, PUBLIC), (replace(CHECKED, sigma1=2.0), NUMBER), (MIXED, PUBLIC)],
    ids=["checked", "unchecked", "number", "with moments"],
)
def test_teachers_are_asked_about_no_more_queries_than_the_budget_pays_for(settings, public, epsilon, monkeypatch):
    """Labels, queries and draws of noise are those of teachers that are asked about all."""
    asked, budget = [], Budget(epsilon, 1e-5)

    def watching(contexts, queries):
        asked.append(len(queries))
        logits = nearest_mean(contexts, queries)
        return logits if public is PUBLIC else logits.argmax(2).astype(np.float32)

    def seeded():
        rng = np.random.default_rng(7)
        return lambda centers, sigma: centers + np.rint(rng.normal(0, sigma, np.shape(centers))).astype(np.int64)

    found = released(settings, public=public, budget=budget, predict=watching, noise=seeded())
    plan = planned(settings, budget, public)
    one = gaussian_rho(settings.sigma1) if settings.threshold is not None else gaussian_rho(plan.votes.sigma2, 2)
    one = gaussian_rho(settings.sigma2) if public is NUMBER else one
    assert asked == [min(settings.queries, int(plan.rho / one) + 1)]
    monkeypatch.setattr(tabpate_release.Plan, "most_queries", lambda *_: np.inf)
    whole = released(settings, public=public, budget=budget, predict=watching, noise=seeded())
    assert asked[1] == settings.queries
    assert (found.queried, found.answered, found.statement) == (whole.queried, whole.answered, whole.statement)
    assert np.array_equal(found.x, whole.x)
    assert np.array_equal(found.y, whole.y)


def test_more_labels_than_the_budget_pays_for_are_refused():
    with pytest.raises(AuditError, match="use fewer queries"):
        planned(replace(VOTES, sigma2=3.0), BUDGET, PUBLIC)


@pytest.mark.parametrize("budget", [Budget(0.0, 1e-5), Budget(-1.0, 1e-5), Budget(1.0, 0.0), Budget(1.0, 0.01)])
def test_a_budget_without_a_guarantee_is_refused_before_a_record_is_used(budget):
    def never(contexts, queries):
        raise AssertionError("a teacher was queried")

    with pytest.raises(AuditError, match="budget"):
        released(VOTES, budget=budget, predict=never)


@pytest.mark.parametrize("left_out", [0, 17, 150])
def test_without_one_record_one_teacher_changes_and_no_count_by_more_than_one(left_out):
    x, y, units = records()
    contexts_of_calls = []

    def watching(contexts, queries):
        contexts_of_calls.append({place: (len(labels), labels.sum()) for place, (_, labels) in enumerate(contexts)})
        return nearest_mean(contexts, queries)

    noise = Recorder()
    keep = np.arange(len(x)) != left_out
    released(VOTES, (x, y, units), predict=watching, noise=noise)
    released(
        VOTES,
        (x[keep], y[keep], [unit for unit, stays in zip(units, keep, strict=True) if stays]),
        predict=watching,
        noise=noise,
    )
    assert sum(contexts_of_calls[0][place] != contexts_of_calls[1][place] for place in contexts_of_calls[0]) == 1
    moved = np.abs(noise.centers[0] - noise.centers[1])
    assert moved.max() <= 1
    assert moved.sum(1).max() <= 2


def test_records_of_one_unit_share_a_teacher_and_the_weight_of_one_record():
    x, y, units = records()
    same = ["a person"] * 40 + units[40:]
    noise = Recorder()
    whole, without = (x, y, same), (x[40:], y[40:], same[40:])
    for data in (whole, without):
        released(replace(GROUPS, narrowed=False), data, noise=noise)
    moved = np.subtract(*noise.centers).ravel() / STEPS
    assert np.sqrt((moved**2).sum()) <= moments_sensitivity(PUBLIC)


RARE = Settings(queries=400, prior="moments", alpha=0.6, by_class=True, narrowed=True, labels="learned")


@pytest.mark.parametrize("settings", [GROUPS, RARE], ids=["groups", "learned"])
def test_equal_classes_cost_nothing_and_find_the_records_of_a_rare_class(settings):
    """Two classes that overlap, one of them a tenth of the records."""
    rng = np.random.default_rng(4)
    y = (rng.random(1500) < 0.1).astype(np.int64)
    x = np.column_stack([rng.normal(4 + 1.5 * y, 1), rng.normal(0, 0.2, 1500)]).astype(np.float32)
    data, equal = (x, y, [str(number) for number in range(1500)]), replace(settings, equal_classes=True)
    assert planned(equal, BUDGET, PUBLIC) == planned(settings, BUDGET, PUBLIC)
    noises = Recorder(), Recorder()
    plain, found = (released(one, data, noise=noise) for one, noise in zip((settings, equal), noises, strict=True))
    assert all((one == other).all() for one, other in zip(noises[0].centers[:2], noises[1].centers[:2], strict=True))
    assert (plain.y == 1).mean() < 0.2
    assert 0.35 < (found.y == 1).mean() < 0.65
    if settings is RARE:
        # Labels are those of equal classes: the middle between both means, not where the frequent one gets likelier.
        labelled = [one.y[(one.x[:, 0] > 5) & (one.x[:, 0] < 5.6)] for one in (plain, found)]
        assert labelled[0].mean() < 0.4
        assert labelled[1].mean() > 0.6


@pytest.mark.parametrize(
    ("settings", "public"), [(MIXED, PUBLIC), (replace(GROUPS, by_class=False), PUBLIC), (GROUPS, NUMBER)]
)
def test_equal_classes_need_classes_that_queries_are_drawn_by(settings, public):
    with pytest.raises(AuditError, match="equal_classes"):
        planned(replace(settings, equal_classes=True), BUDGET, public)


@pytest.mark.parametrize("settings", [GROUPS, VOTES, MIXED], ids=["groups", "votes", "mixed"])
def test_with_little_noise_a_context_teaches_the_task(settings):
    x, y, _ = records(seed=5)
    found = released(settings, budget=Budget(50.0, 1e-5), noise=silent)
    predicted = nearest_mean([(found.x, found.y)], x)[0].argmax(1)
    assert (predicted == y).mean() > 0.95
    assert ((found.x >= PUBLIC.bounds[0]) & (found.x <= PUBLIC.bounds[1])).all()


def test_each_release_has_noise_of_its_own():
    settings, budget = replace(VOTES, queries=200), Budget(0.01, 1e-6)
    first, second = (released(settings, budget=budget, noise=discrete_gaussian).y for _ in range(2))
    assert 0.3 < (first == second).mean() < 0.7, "coins, for at this epsilon nothing else is left"


def test_a_number_target_is_drawn_with_the_records():
    x, y, units = records()
    target = 50 + 30 * (2 * y - 1) + np.random.default_rng(2).normal(0, 3, len(y))
    found = released(replace(GROUPS, queries=400), (x, target, units), NUMBER)
    assert found.x.shape == (400, 2)
    low, high = found.x[:, 0] < 5, found.x[:, 0] > 5
    assert found.y[high].mean() - found.y[low].mean() > 40
    assert ((found.y >= 0) & (found.y <= 100)).all()


def test_means_of_teachers_label_a_number_target():
    x, y, units = records()
    target = 20.0 + 60 * y

    def means(contexts, queries):
        logits = nearest_mean([(part, (labels > 50).astype(int)) for part, labels in contexts], queries)
        return (20.0 + 60 * logits.argmax(2)).astype(np.float32)

    found = released(VOTES, (x, target, units), NUMBER, predict=means)
    assert len(found.y) == VOTES.queries
    expected = means([(x, target)], found.x)[0]
    assert np.abs(found.y - expected).mean() < 10


def test_public_records_are_labelled_unchanged():
    given = records(40, seed=9)[0]
    found = released(replace(VOTES, prior="given", queries=40), given=given)
    assert sorted(found.x.tolist()) == sorted(given.tolist())


def test_narrower_bounds_lie_around_the_noisy_mean_and_within_the_public_ones():
    moments = Moments(np.array([100.0]), np.array([[-40.0, 90.0]]), np.array([[17.0, 82.0]]), ())
    columns = narrowed(PUBLIC, moments).columns
    # Column a: mean -0.4 of [-1, 1] is 3, deviation 0.1 is 0.5; column b: mean 0.9, deviation 0.1, cut at the bound.
    assert columns[0].values == pytest.approx((1.75, 4.25))
    assert columns[1].values == pytest.approx((0.65, 1.0))


@pytest.mark.parametrize("public", [PUBLIC, NUMBER], ids=["classes", "number"])
def test_labels_with_tiny_noise_are_refused_by_their_rho_and_not_by_the_exact_account(public, monkeypatch):
    """The losses of noise of a tenth of a vote take the exact account minutes."""
    monkeypatch.setattr(tabpate_release, "delta_of", lambda *_: pytest.fail("the exact account was asked"))
    with pytest.raises(AuditError, match=r"30 labels with sigma2 0.1 exceed .* or more noise"):
        planned(replace(VOTES, sigma2=0.1), BUDGET, public)
