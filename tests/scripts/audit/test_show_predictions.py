"""The page and the summary of an audit of predictions agree."""

import pandas as pd
from attack_grids import call
from prediction_examples import ACCUSED, FILES, control, scores

from memaudit.auditing.prediction_audit import SETTINGS
from memaudit.auditing.predictions.prediction_summary import UNCLEAR, PredictionSummary
from memaudit.common.io import read_json, write_json, write_table


def shown(tmp_path, project, **settings):
    """The summary and the page, of files about which nothing but a shift is known."""
    facts = {key: value for key, value in FILES.items() if key != "features"}
    facts |= {"names": ["m.csv", "n.csv"], "types": {"age": "numeric", "town": "categorical"}, "left_out": {}}
    write_json(facts, tmp_path / "facts.json")
    write_json(scores(controls=[control("blind", 0.0)], accusations=ACCUSED), tmp_path / "scores.json")
    write_table(pd.DataFrame({"row": [1]}), tmp_path / "risk.parquet")
    inputs = [f"{name}={tmp_path / file}" for name, file in
              {"scores": "scores.json", "risk": "risk.parquet", "facts": "facts.json"}.items()]  # fmt: skip
    outputs = [f"page={tmp_path / 'index.html'}", f"summary={tmp_path / 'summary.json'}"]
    section = SETTINGS | {"base_rates": [0.1], "table": "t", "facts": "f", "owner": "", "review_by": "", "records": ""}
    call(project, "audit_show_predictions", inputs, outputs, seed=7, predictions=section | settings)
    summary = PredictionSummary.model_validate(read_json(tmp_path / "summary.json"))
    return summary, (tmp_path / "index.html").read_text(encoding="utf-8")


def test_the_page_and_the_summary_agree(tmp_path, project):
    summary, html = shown(tmp_path, project, owner="A. Reviewer")
    assert (summary.verdict, summary.files.features) == (UNCLEAR, 2)
    assert summary.protection.reviewer == "A. Reviewer"
    assert "cannot tell memory from shift" in html
    assert "<td>numeric</td>" in html
    assert "1" * 64 in html


def test_rows_that_are_no_people_have_their_noun_and_no_data_protection(tmp_path, project):
    summary, html = shown(tmp_path, project, records="modules")
    assert (summary.rows_are, summary.protection) == ("modules", None)
    assert "predictions tell which modules are in its data?" in html
    assert 'id="protection"' not in html
