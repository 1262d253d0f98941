"""What differs between two audits is named, and numbers that cannot be compared are not subtracted."""

from audit_examples import a_summary, mitigation, value
from audit_folders import finished

from memaudit.auditing.running import finished_audit
from memaudit.commands import audit_differences


def audits(tmp_path, summary=None, **second):
    first = finished_audit.read(finished(tmp_path / "a"))
    return first, finished_audit.read(finished(tmp_path / "b", summary=summary, **second))


def test_equal_audits_do_not_differ(tmp_path):
    text = "\n".join(audit_differences.lines(*audits(tmp_path)))
    assert audit_differences.SAME in text
    assert "settings: the same" in text
    assert "difference +0.000" in text
    assert "1 stay; entered: none; left: none" in text
    assert "+0.000 [" not in text


def test_other_seeds_give_an_interval_of_the_difference(tmp_path):
    summary = a_summary()
    summary.headline.auc = value(0.6, 0.57, 0.63)
    text = "\n".join(audit_differences.lines(*audits(tmp_path, summary, seed=2)))
    assert "seed: 1 -> 2" in text
    # Ends of 0.70 [0.65, 0.75] and 0.60 [0.57, 0.63], added in quadrature.
    assert "AUC: 0.700 [0.650, 0.750] -> 0.600 [0.570, 0.630]; difference -0.100 [-0.158, -0.042]" in text


def test_records_and_mitigations_that_changed_are_named(tmp_path):
    summary = a_summary()
    summary.exposed[0].row = 33
    summary.mitigations = [mitigation("layer dropped", reason="too few records")]
    text = "\n".join(audit_differences.lines(*audits(tmp_path, summary)))
    assert "0 stay; entered: row 33; left: row 17" in text
    assert "bags 4 (strongest): change of AUC -0.100 [-0.150, -0.050], advised -> not tested" in text
    assert "layer dropped (strongest): not tested -> not tested" in text


def test_audits_of_other_tables_models_or_adversaries_are_not_subtracted(tmp_path):
    summary = a_summary()
    summary.table.sha256, summary.models["main"] = "1" * 64, "other"
    pair = audits(tmp_path, summary, threats=["labels"])
    against = "\n".join(audit_differences.obstacles(*pair))
    assert all(one in against for one in ("the table", "the model", "what the adversaries can use"))
    text = "\n".join(audit_differences.lines(*pair))
    assert "difference" not in text
    assert "entered" not in text


def test_the_code_that_made_the_audits_is_compared_in_one_line(tmp_path):
    def line(name, **second):
        found = audit_differences.lines(*audits(tmp_path / name, **second))
        return next(one for one in found if one.startswith("code: "))

    assert line("same") == "code: the same in all 1 steps that both have; commit 11111111"
    assert line("reworded", commit="2" * 40).endswith("steps that both have; commit 11111111 -> 22222222")
    assert line("changed", code="0ther", commit="2" * 40) == (
        "code: differs in 1 of 1 steps (audit_rate_records); commit 11111111 -> 22222222"
    )
    first, second = audits(tmp_path / "gone")
    (tmp_path / "gone/b/results/full/provenance/audit_rate_records/table.json").unlink()
    assert audit_differences._code(first, finished_audit.read(second.folder)).startswith("code: not compared")


def test_without_settings_the_rest_is_compared(tmp_path):
    first, _ = audits(tmp_path)
    (tmp_path / "b/full.yaml").unlink()
    text = "\n".join(audit_differences.lines(first, finished_audit.read(tmp_path / "b")))
    assert "settings: not compared" in text
    assert "not independent" in text
