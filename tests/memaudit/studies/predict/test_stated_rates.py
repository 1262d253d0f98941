"""Stated rates that are true hold, also for one target; shifted ones do not."""

import numpy as np
import pytest
from learned_settings import setting

from memaudit.attacks.learned_memorization import ALL, Combination
from memaudit.common.errors import AuditError
from memaudit.studies.predict.stated_rates import INSIDE, OUTSIDE, RATES, UNDECIDED, measured_rates, of_targets, place


def stated(name, threshold, tpr, fpr, **facts):
    rates = {key: {"estimate": at, "low": at - 0.1, "high": at + 0.1} for key, at in (("tpr", tpr), ("fpr", fpr))}
    return {"predictor": name, "threshold": threshold} | rates | facts


def test_rates_are_those_of_flagged_records_among_memorized_and_others():
    one = setting(1, {"psmi": 2.0}, targets=20, records=400)
    values, truth = one.psmi[one.judged.target, one.judged.record] >= 1.0, one.judged.memorized
    found = measured_rates(one, stated("psmi", 1.0, values[truth].mean(), values[~truth].mean()))
    for rate, chosen in (("tpr", truth), ("fpr", ~truth)):
        assert found[rate]["measured"]["estimate"] == pytest.approx(values[chosen].mean())
        assert found[rate]["measured"]["low"] < values[chosen].mean() < found[rate]["measured"]["high"]
        assert found[rate]["targets"] == 20
    assert [found[rate]["place"] for rate in RATES] == [INSIDE, INSIDE]
    assert found["fpr"]["targets_inside"] == 20
    assert found["tpr"]["targets_inside"] < 20, "thirty memorized records each"


def test_wrong_rates_do_not_hold():
    one = setting(1, {"psmi": 2.0}, targets=20, records=400)
    found = measured_rates(one, stated("psmi", 1.0, 0.3, 0.5))
    assert [found[rate]["place"] for rate in RATES] == [OUTSIDE, OUTSIDE]
    assert found["fpr"]["targets_inside"] == 0


def test_a_learned_predictor_is_scored_by_its_stated_weights():
    one = setting(1, {"loss": 2.0})
    facts = Combination(ALL, np.array([float(name == "loss") for name in ALL])).facts()
    found = measured_rates(one, stated("learned", 0.5, 0.8, 0.3, **facts))
    flagged = one.values("loss") >= 0.5
    assert found["tpr"]["measured"]["estimate"] == pytest.approx(flagged[one.judged.memorized].mean())
    with pytest.raises(AuditError, match="holds no features"):
        measured_rates(one, stated("learned", 0.5, 0.8, 0.3))


def test_an_interval_that_does_not_hold_the_true_rate_is_never_called_right():
    large = setting(999, {"psmi": 2.0}, targets=100, records=1000)
    truth = (large.psmi[large.judged.target, large.judged.record] >= 1.0)[large.judged.memorized].mean()
    places = {0.0: set(), 0.15: set()}
    for number in range(12):
        one = setting(number, {"psmi": 2.0}, targets=20, records=400)
        for shift, found in places.items():
            found.add(measured_rates(one, stated("psmi", 1.0, truth + shift, 0.5))["tpr"]["place"])
    assert OUTSIDE not in places[0.0]
    assert INSIDE not in places[0.15]


def test_an_interval_that_holds_an_end_of_the_stated_one_decides_nothing():
    found = [place((0.2, 0.4), measured) for measured in ((0.2, 0.3), (0.1, 0.3), (0.3, 0.5), (0.1, 0.5), (0.41, 0.5))]
    assert found == [INSIDE, UNDECIDED, UNDECIDED, UNDECIDED, OUTSIDE]


def test_targets_without_such_records_are_left_out():
    one = setting(1, {}, targets=3)
    chosen = one.judged.memorized & (one.judged.target != 1)
    assert len(of_targets(one.psmi >= 0, one.judged, chosen)) == 2
