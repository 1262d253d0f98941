"""Stated rates that are true hold, also for one target; shifted ones do not."""

import numpy as np
import pytest
from learned_settings import setting

from memaudit.attacks.learned_memorization import ALL, Combination
from memaudit.common.errors import AuditError
from memaudit.studies.predict.stated_rates import RATES, measured_rates, of_targets


def stated(name, threshold, tpr, fpr, **facts):
    rates = {key: {"estimate": at, "low": at - 0.1, "high": at + 0.1} for key, at in (("tpr", tpr), ("fpr", fpr))}
    return {"predictor": name, "threshold": threshold} | rates | facts


def test_rates_are_those_of_flagged_records_among_memorized_and_others():
    one = setting(1, {"psmi": 2.0}, targets=20, records=400)
    values, truth = one.psmi[one.judged.target, one.judged.record] >= 1.0, one.judged.memorized
    found = measured_rates(one, stated("psmi", 1.0, values[truth].mean() + 0.05, values[~truth].mean() - 0.05))
    for rate, chosen in (("tpr", truth), ("fpr", ~truth)):
        assert found[rate]["measured"]["estimate"] == pytest.approx(values[chosen].mean())
        assert found[rate]["measured"]["low"] < values[chosen].mean() < found[rate]["measured"]["high"]
        assert found[rate]["targets"] == 20
    assert [found[rate]["holds"] for rate in RATES] == [True, True]
    assert found["fpr"]["targets_inside"] == 20
    assert found["tpr"]["targets_inside"] < 20, "thirty memorized records each"


def test_wrong_rates_do_not_hold():
    one = setting(1, {"psmi": 2.0}, targets=20, records=400)
    found = measured_rates(one, stated("psmi", 1.0, 0.3, 0.5))
    assert [found[rate]["holds"] for rate in RATES] == [False, False]
    assert found["fpr"]["targets_inside"] == 0


def test_a_learned_predictor_is_scored_by_its_stated_weights():
    one = setting(1, {"loss": 2.0})
    facts = Combination(ALL, np.array([float(name == "loss") for name in ALL])).facts()
    found = measured_rates(one, stated("learned", 0.5, 0.8, 0.3, **facts))
    flagged = one.values("loss") >= 0.5
    assert found["tpr"]["measured"]["estimate"] == pytest.approx(flagged[one.judged.memorized].mean())
    with pytest.raises(AuditError, match="holds no features"):
        measured_rates(one, stated("learned", 0.5, 0.8, 0.3))


def test_targets_without_such_records_are_left_out():
    one = setting(1, {}, targets=3)
    chosen = one.judged.memorized & (one.judged.target != 1)
    assert len(of_targets(one.psmi >= 0, one.judged, chosen)) == 2
