"""PSMI against recorded values of the package and a plain loop, and a test for each fault of the package."""

import json
import subprocess
import sys
import tracemalloc

import numpy as np
import pytest
from scipy.stats import norm

from memaudit.attacks import hidden_states, psmi
from memaudit.common.errors import AuditError


def planted(records=60, features=5, classes=3, seed=0, separation=1.5):
    """Hidden states whose classes lie apart along their own axes."""
    rng = np.random.default_rng(seed)
    labels = np.arange(records) % classes
    states = rng.normal(size=(records, features))
    states[np.arange(records), labels] += separation
    return states, labels, psmi.draw(rng, 40, features).astype(np.float64)


def plain(states, labels, theta):
    """Pointwise mutual information (record,) on one direction, by the definition."""
    projected = states @ theta
    shares = {label: np.mean(labels == label) for label in np.unique(labels)}
    densities = {
        label: norm(projected[labels == label].mean(), projected[labels == label].std()).pdf(projected)
        for label in shares
    }
    total = sum(shares[label] * densities[label] for label in shares)
    return np.log([densities[label][record] / total[record] for record, label in enumerate(labels)])


@pytest.fixture(scope="module")
def recorded(project):
    vector = json.loads((project / "tests/vectors/psmi_small.json").read_text())
    return {name: np.array(vector[name]) for name in ("X", "y", "thetas", "psmi_mean", "psmi_std")}


def test_values_are_those_of_the_package_on_its_directions(recorded):
    observed = psmi.fit(recorded["X"], recorded["y"], recorded["thetas"]).transform(recorded["X"], recorded["y"])
    np.testing.assert_allclose(observed.psmi, recorded["psmi_mean"], atol=1e-9, rtol=0)
    deviation = np.sqrt(observed.squares / observed.directions)
    np.testing.assert_allclose(deviation, recorded["psmi_std"], atol=1e-9, rtol=0)


def test_values_are_those_of_a_loop_over_directions():
    states, labels, thetas = planted()
    observed = psmi.fit(states, labels, thetas).transform(states, labels)
    values = np.array([plain(states, labels, theta) for theta in thetas])
    np.testing.assert_allclose(observed.psmi, values.mean(0), atol=1e-12)
    np.testing.assert_allclose(observed.error, values.std(0, ddof=1) / np.sqrt(len(thetas)), rtol=1e-9)


def test_estimate_draws_its_directions_and_fits_on_all_records():
    states, labels, _ = planted()
    thetas = psmi.draw(np.random.default_rng(7), 30, 5).astype(np.float64)
    expected = psmi.fit(states, labels, thetas).transform(states, labels)
    observed = psmi.estimate(states, labels, np.random.default_rng(7), directions=30)
    np.testing.assert_allclose(observed.psmi, expected.psmi, atol=1e-6)


def test_directions_are_uniform_on_the_sphere():
    thetas = psmi.draw(np.random.default_rng(0), 4000, 3)
    np.testing.assert_allclose(np.linalg.norm(thetas, axis=1), 1, rtol=1e-6)
    np.testing.assert_allclose(thetas.T @ thetas / 4000, np.eye(3) / 3, atol=0.02)
    # In three dimensions each coordinate is uniform on [-1, 1] (Archimedes).
    assert np.mean(np.abs(thetas[:, 0]) < 0.5) == pytest.approx(0.5, abs=0.03)


def test_two_separated_classes_explain_their_labels_and_not_those_of_mislabelled_records():
    rng = np.random.default_rng(0)
    states, labels = rng.normal(size=(200, 1)), np.arange(200) % 2
    states[:, 0] += 30 * labels
    observed = psmi.fit(states, labels, np.ones((1, 1)))
    np.testing.assert_allclose(observed.transform(states, labels).psmi, np.log(2), atol=1e-9)
    assert (observed.transform(states, 1 - labels).psmi < -100).all()


def test_no_value_exceeds_minus_the_log_of_the_classs_share():
    states, labels, thetas = planted(separation=8)
    labels = np.where(labels == 2, 1, labels)
    observed = psmi.fit(states, labels, thetas).transform(states, labels).psmi
    assert (observed <= np.log([3, 1.5])[labels] + 1e-12).all()


def test_the_standard_error_is_the_deviation_over_draws_of_directions():
    states, labels, _ = planted(20)
    rng = np.random.default_rng(3)
    draws = [psmi.estimate(states, labels, rng, directions=50) for _ in range(300)]
    deviation = np.std([draw.psmi for draw in draws], axis=0, ddof=1)
    error = np.sqrt(np.mean([draw.error**2 for draw in draws], axis=0))
    np.testing.assert_allclose(error, deviation, rtol=0.2)
    assert np.mean(error / deviation) == pytest.approx(1, abs=0.03)


def test_a_subset_has_the_values_that_it_has_among_all():
    """psmi 0.2.0: its denominator summed only the labels of the batch: 0.052 among all, 1.341 alone."""
    states, labels, thetas = planted()
    observed = psmi.fit(states, labels, thetas)
    whole = observed.transform(states, labels).psmi
    for subset in ([4], [0, 3, 6], [59, 1]):
        np.testing.assert_allclose(observed.transform(states[subset], labels[subset]).psmi, whole[subset], atol=1e-12)


@pytest.mark.parametrize("records", [4, 6, 19])
def test_few_records_reach_the_accuracy(records):
    """psmi 0.2.0: its automatic mode waits for the mean of the lowest 5 %, of fewer than 20 records none at all."""
    states, labels, _ = planted(records, classes=2)
    observed = psmi.estimate(states, labels, np.random.default_rng(0), directions=2000, accuracy=0.02)
    assert observed.accuracy <= 0.02
    assert observed.directions < 2000


def test_it_stops_as_soon_as_the_accuracy_is_reached(monkeypatch):
    states, labels, _ = planted()
    monkeypatch.setattr(psmi, "STEP", 50)
    observed = psmi.estimate(states, labels, np.random.default_rng(0), directions=5000, accuracy=0.01)
    before = psmi.estimate(states, labels, np.random.default_rng(0), directions=observed.directions - 50)
    assert observed.accuracy <= 0.01 < before.accuracy
    assert np.mean(observed.error <= observed.accuracy) >= 0.95 > np.mean(observed.error < observed.accuracy)


def test_it_ends_and_reports_the_accuracy_where_that_is_out_of_reach():
    states, labels, _ = planted()
    observed = psmi.estimate(states, labels, np.random.default_rng(0), directions=600, accuracy=1e-9)
    assert observed.directions == 600
    assert observed.accuracy == pytest.approx(np.sort(observed.error)[56])


def test_a_constant_feature_changes_nothing():
    """psmi 0.2.0: NaN."""
    states, labels, _ = planted()
    for constant in (0.0, 0.1, 1e6):
        wider = np.column_stack([states, np.full(len(states), constant)])
        thetas = psmi.draw(np.random.default_rng(1), 40, 6)
        observed = psmi.fit(wider, labels, thetas).transform(wider, labels).psmi
        expected = psmi.fit(states, labels, thetas[:, :5]).transform(states, labels).psmi
        np.testing.assert_allclose(observed, expected, atol=1e-6)


@pytest.mark.parametrize("constant", [0.0, 0.1, 1e6, 1e-20])
def test_states_that_are_all_one_point_are_uninformative(constant):
    """Their projections differ in the last digit: without a floor that is 6 nats here."""
    states, labels = np.full((61, 33), constant), np.arange(61) % 2
    observed = psmi.estimate(states, labels, np.random.default_rng(0), directions=20)
    np.testing.assert_allclose(observed.psmi, 0, atol=1e-4)


def test_a_class_that_is_one_point_is_finite():
    states, labels, thetas = planted()
    states[labels == 1] = 4.0
    observed = psmi.fit(states, labels, thetas).transform(states, labels).psmi
    assert np.isfinite(observed).all()
    np.testing.assert_allclose(observed[labels == 1], np.log(3), atol=1e-3)


@pytest.mark.parametrize("far", [1e3, 1e10, 1e14])
def test_a_far_point_is_finite(far):
    """psmi 0.2.0: densities of 0 over 0, NaN."""
    states, labels, thetas = planted()
    observed = psmi.fit(states, labels, thetas)
    points = np.full((3, 5), far)
    values = observed.transform(points, [0, 1, 2])
    assert np.isfinite(values.psmi).all()
    assert np.isfinite(values.error).all()
    among = np.vstack([states, points[:1]])
    assert np.isfinite(psmi.fit(among, [*labels, 0], thetas).transform(among, [*labels, 0]).psmi).all()


def test_a_far_point_has_the_value_of_the_closed_form():
    """Where a density in floating point would be 0, its logarithm is still right."""
    states = np.array([[-1.0], [1.0], [4.0], [6.0]])  # means 0 and 5, deviations 1
    observed = psmi.fit(states, [0, 0, 1, 1], np.ones((1, 1)))
    value = observed.transform(np.array([[100.0]]), [0]).psmi[0]
    assert value == pytest.approx(-(100**2) / 2 + 95**2 / 2 + np.log(2), rel=1e-12)


def test_states_far_from_zero_keep_their_digits():
    states, labels, thetas = planted()
    near = psmi.fit(states, labels, thetas).transform(states, labels).psmi
    moved = 1e5 + states
    np.testing.assert_allclose(psmi.fit(moved, labels, thetas).transform(moved, labels).psmi, near, atol=1e-8)


@pytest.mark.parametrize(("fitted", "other"), [([0, 1], 7), ([0, 2], 1), (["b", "d"], "a"), (["b", "d"], "c")])
def test_a_label_that_was_not_fitted_is_named(fitted, other):
    """psmi 0.2.0: KeyError."""
    observed = psmi.fit(np.random.default_rng(0).normal(size=(6, 2)), fitted * 3, np.eye(2))
    with pytest.raises(AuditError, match="record 1 has a label that no fitted record has"):
        observed.transform(np.zeros((3, 2)), [fitted[0], other, fitted[1]])


def test_texts_are_labels_too():
    states, labels, thetas = planted()
    names = np.array(["no", "yes", "maybe"])[labels]
    values = [psmi.fit(states, of, thetas).transform(states, of).psmi for of in (labels, names)]
    np.testing.assert_allclose(*values, atol=1e-12)


@pytest.mark.parametrize("sizes", [{"PROJECTIONS": 200}, {"CHUNK": 12}, {"TILE": 1}, {"PROJECTIONS": 1, "CHUNK": 1}])
def test_blocks_do_not_change_the_values(monkeypatch, sizes):
    states, labels, thetas = planted()
    whole = psmi.fit(states, labels, thetas).transform(states, labels)
    drawn = psmi.estimate(states, labels, np.random.default_rng(5), directions=30)
    for name, size in sizes.items():
        monkeypatch.setattr(hidden_states if name == "CHUNK" else psmi, name, size)
    parts = psmi.fit(states, labels, thetas).transform(states, labels)
    again = psmi.estimate(states, labels, np.random.default_rng(5), directions=30)
    for one, other in ((whole, parts), (drawn, again)):
        np.testing.assert_allclose(other.psmi, one.psmi, atol=1e-12 if one is whole else 1e-6)
        np.testing.assert_allclose(other.error, one.error, rtol=1e-9 if one is whole else 1e-5)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_directions_of_float32_have_the_values_of_their_float64_ones_to_its_digits(dtype):
    """States as they are, far from zero as massive activations are, and with a record that is far from its class."""
    rng = np.random.default_rng(4)
    labels = np.arange(120) % 3
    states = rng.standard_normal((120, 16)) + labels[:, None] * 0.3
    offset, thetas = np.r_[300.0, np.zeros(15)], psmi.draw(rng, 500, 16)
    outlying = [np.r_[states[:-1], far * states[-1:]] for far in (40, 1000)]
    for given in (some.astype(dtype) for some in (states, states + offset, *outlying)):
        both = (psmi.fit(given, labels, of).transform(given, labels) for of in (thetas.astype(float), thetas))
        exact, observed = both
        np.testing.assert_allclose(observed.psmi, exact.psmi, atol=1e-3 * np.median(exact.error))
        np.testing.assert_allclose(observed.error, exact.error, rtol=1e-3)
        assert observed.psmi.dtype == np.float64


def outlying(kind):
    """Near classes with an outlier, whose size would cost the others' digits in float32."""
    rng = np.random.default_rng(3)
    labels = np.sort(np.arange(400) % 3)
    states = rng.standard_normal((400, 8)) + 0.4 * labels[:, None]
    if kind == "a class, first in its file":
        return [np.r_[states[labels == 2] + 1e6, states[labels < 2]]], np.sort(labels)[::-1] % 3
    if kind == "a record":
        states[7] *= 1e7
    if kind == "the first record, alone in its chunk":
        states[0] *= 1e7
        return [states[:1], states[1:]], labels
    return states * 1e-25 if kind == "nothing" else states, labels


@pytest.mark.parametrize("kind", ["a class, first in its file", "a record", "the first record, alone in its chunk"])
def test_outliers_do_not_change_the_precision_of_the_others(kind):
    states, labels = outlying(kind)
    observed = psmi.estimate(states, labels, np.random.default_rng(0), directions=200)
    thetas = psmi.draw(np.random.default_rng(0), 200, 8).astype(np.float64)
    exact = psmi.fit(states, labels, thetas).transform(states, labels)
    np.testing.assert_allclose(observed.psmi, exact.psmi, atol=1e-3 * np.median(exact.error), rtol=1e-6)


def test_states_too_small_for_float32_are_uninformative_and_large_integers_keep_their_digits():
    states, labels = outlying("nothing")
    observed = psmi.estimate(states, labels, np.random.default_rng(0), directions=50)
    assert (np.abs(observed.psmi) < 1.5).all()
    states = 100_000_000 + np.round(1000 * outlying("")[0]).astype(np.int32)
    one, other = (
        psmi.estimate(of, labels, np.random.default_rng(0), directions=50) for of in (states, states.astype(np.int64))
    )
    np.testing.assert_array_equal(one.psmi, other.psmi)


def test_directions_of_another_width_get_one_clear_line():
    states, labels, thetas = planted()
    for wrong in (thetas[:, 1:], thetas[0], thetas[:0]):
        with pytest.raises(AuditError, match="5 features"):
            psmi.fit(states, labels, wrong)


def test_a_far_point_of_float32_is_finite_and_one_that_would_overflow_is_named():
    far = STATES.astype(np.float32)
    far[3] *= 1e12
    assert np.isfinite(psmi.estimate(far, LABELS, np.random.default_rng(0), directions=50).psmi).all()
    far[3] *= 1e12
    with pytest.raises(AuditError, match=r"record 3 holds .* beyond 1e\+15"):
        psmi.estimate(far, LABELS, np.random.default_rng(0), directions=50)


def test_a_memory_map_and_a_list_of_chunks_are_states_too(tmp_path):
    states, labels, thetas = planted()
    states = states.astype(np.float32)
    np.save(tmp_path / "states.npy", states)
    mapped = np.load(tmp_path / "states.npy", mmap_mode="r")
    expected = psmi.fit(states, labels, thetas).transform(states, labels).psmi
    for given in (mapped, [states[:7], states[7:7], states[7:50], states[50:]]):
        np.testing.assert_allclose(psmi.fit(given, labels, thetas).transform(given, labels).psmi, expected, atol=1e-12)
        assert psmi.estimate(given, labels, np.random.default_rng(0), directions=2).directions == 2


def test_memory_does_not_grow_with_the_directions(monkeypatch):
    monkeypatch.setattr(psmi, "PROJECTIONS", 2**14)
    states, labels, _ = planted(400, 20)
    peaks = []
    for directions in (400, 4000):
        tracemalloc.start()
        psmi.estimate(states, labels, np.random.default_rng(0), directions=directions)
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] < 1.05 * peaks[0]


def test_it_needs_numpy_and_nothing_else(project):
    code = (
        "import sys, memaudit.attacks.psmi; "
        "print({name.split('.')[0] for name in sys.modules} & "
        "{'torch', 'transformers', 'pandas', 'sklearn', 'xarray', 'pyarrow'})"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=project / "workflow_scripts", capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "set()"


STATES = np.arange(12.0).reshape(6, 2)
LABELS = [0, 1] * 3


@pytest.mark.parametrize(
    ("states", "labels", "line"),
    [
        (np.where(STATES == 7, np.nan, STATES), LABELS, "record 3 holds NaN"),
        (np.where(STATES == 10, np.inf, STATES), LABELS, "record 5 holds NaN, infinity"),
        (STATES * 1e300, LABELS, "record 0 holds .* beyond"),
        (STATES, [0, 0, 1, 1, 1, 2], "record 5 is the only one of its class"),
        (STATES, [3] * 6, "6 records of 1 class"),
        (STATES, [], "0 records of 0 class"),
        (STATES, ["a", "b", None, "a", "b", "a"], "record 2 has no label"),
        (STATES, [0, 1, 0, 1, np.nan, 1], "record 4 has no label"),
        (STATES, [0, 1] * 2, "6 records, but 4 labels"),
        (STATES, [0, 1] * 4, "6 records, but 8 labels"),
        ([STATES[:3], STATES[3:, :1]], LABELS, "1 features after 2"),
        ([], LABELS, "there are none"),
        ((part for part in [STATES]), LABELS, "only once"),
        (STATES[:, 0], LABELS, r"shape \(6,\)"),
        (np.array(1.0), LABELS, r"shape \(1,\)"),
        (STATES.astype(str), LABELS, "give numbers"),
    ],
)
def test_bad_input_gets_one_clear_line(states, labels, line):
    with pytest.raises(AuditError, match=line) as error:
        psmi.estimate(states, labels, np.random.default_rng(0), directions=4)
    assert "\n" not in str(error.value)
    assert ";" in str(error.value)


def test_one_direction_has_no_standard_error():
    states, labels, thetas = planted()
    assert np.isnan(psmi.fit(states, labels, thetas[:1]).transform(states, labels).error).all()
    with pytest.raises(AuditError, match="1 directions have no standard error"):
        psmi.estimate(states, labels, np.random.default_rng(0), directions=1)
