"""The page is written from tables, figures and the sidecars on disk, if they agree; names may look like numbers."""

from types import SimpleNamespace

import pytest
import yaml
from conftest import load_script
from report_examples import CLAIM, JUDGED, SVG, headline, record, results

from memaudit.claims.headlines import state
from memaudit.common import tidy
from memaudit.common.checksums import sha256
from memaudit.common.errors import AuditError
from memaudit.common.io import write_json
from memaudit.workflow.job import Paths

VIEWS = [
    *(f"results/r/tables/demo_{name}.csv" for name in ("auc", "claims", "headlines")),
    "results/r/figures/demo_roc.svg",
]


@pytest.fixture
def job(tmp_path, monkeypatch):
    """Tables and a figure of one study, with the sidecars of the jobs that have made them."""
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / "results/r"
    for name in ("tables", "figures", "provenance", "report"):
        (folder / name).mkdir(parents=True)
    (folder / "figures/demo_roc.svg").write_text(SVG)
    (folder / "figures/demo_roc.png").write_bytes(b"")
    (folder / "scores").write_text("scores")
    named = results().assign(setting=[f"dataset=2024, models={m}" for m in range(4)])
    tidy.expand(named).to_csv(folder / "tables/demo_auc.csv", index=False)
    JUDGED.to_csv(folder / "tables/demo_claims.csv", index=False)
    state("demo", [headline()], results()).to_csv(folder / "tables/demo_headlines.csv", index=False)
    (tmp_path / "claims.yaml").write_text(
        yaml.safe_dump([CLAIM.model_dump(exclude_unset=True) | {"id": name} for name in ("one", "two")])
    )
    made = {"demo_judge": ([], ["results/r/scores"]), "views_draw_figures": (["results/r/scores"], VIEWS)}
    for rule, paths in made.items():
        hashed = [{path: sha256(path) for path in side} for side in paths]
        write_json(
            record(rule, [], []) | dict(zip(("inputs", "outputs"), hashed, strict=True)),
            folder / f"provenance/{rule}.json",
        )
    entry = {"title": "Title", "caption": "Caption.", "layout": None}
    study = {"name": "demo", "title": "Demo", "question": "?", "paper": None, "thresholds": []}
    params = {"command": "snakemake", "studies": [study], "figures": [entry | {"name": "demo_roc"}]}
    params |= {"tables": [entry | {"name": name} for name in ("demo_auc", "demo_claims", "demo_headlines")]}
    return SimpleNamespace(
        input=Paths(["claims=claims.yaml", *VIEWS]),
        output=Paths(["results/r/report/index.html"]),
        params=SimpleNamespace(**params),
        folder=folder,
    )


def test_a_page_has_the_tables_and_figures_of_its_inputs(job, capsys):
    load_script("report_write_page").main(job)
    page = (job.folder / "report/index.html").read_text(encoding="utf-8")
    assert '<th scope="row">2024</th>' in page
    assert 'id="table-demo_auc"' in page
    assert '<figure id="demo_roc">' in page
    assert "before this page was written: 5 files" in page
    assert "2 jobs behind 4 tables and figures" in capsys.readouterr().out


@pytest.mark.parametrize("name", ["tables/demo_headlines.csv", "scores"])
def test_no_page_is_written_of_a_tampered_table_or_of_one_that_rests_on_tampered_results(job, name):
    path = job.folder / name
    path.write_text(path.read_text() + "\n")
    with pytest.raises(AuditError, match=rf"^results/r/{name}: changed since it was made"):
        load_script("report_write_page").main(job)
    assert not (job.folder / "report/index.html").exists()
