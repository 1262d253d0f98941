"""Scores of records at the interruption."""

import numpy as np
import pytest
from conftest import load_script
from predict_pipeline import SCORING, TARGETS, job

from memaudit.common.errors import AuditError
from memaudit.common.io import read_grid
from memaudit.workflow.scratch import resumable

pytestmark = pytest.mark.usefixtures("one_thread")


def test_a_loss_that_never_falls_so_far_is_an_error(run, tmp_path):
    params = {"targets": TARGETS, "drop": 1 - 1e-9, "tolerance": 0.0, "interrupt": "first", "scoring": SCORING}
    given = {"records": run.ready["records"], "signals": run.folder / "0.nc", "states": run.folder / "0.states.nc"}
    main = resumable(load_script("predict_score_records").main)
    line = r"toy: the median training loss of a target falls by 9.* at most before the end, not by 100.000%"
    with pytest.raises(AuditError, match=line):
        main(job(given, {"scores": tmp_path / "s.nc"}, params, case="toy"))


def test_scores_are_those_of_members_and_psmi_explains_most_of_them(run):
    scores, records = read_grid(run.given["scores"]), read_grid(run.ready["records"])
    member = records.membership.values[:TARGETS].astype(bool)
    for name in ("psmi", "mahalanobis", "loss", "logit_gap"):
        assert (np.isnan(scores[name].values) == ~member[:, None]).all(), name
    assert scores.sizes["checkpoint"] == 20
    early = scores.psmi.values[:, 8]
    wrong = records.mislabelled.values.astype(bool)
    assert np.nanmedian(early[:, wrong]) > np.nanmedian(early[:, ~wrong])  # higher = more likely to be memorized
    assert (scores.seconds.values >= 0).all()
    assert scores.target.values.tolist() == list(range(TARGETS))
    assert (np.isnan(scores.psmi_inputs.values) == ~member).all()
