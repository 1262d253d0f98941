"""A figure is drawn in three formats by the function of its name, from the results that `where` leaves."""

from types import SimpleNamespace

import pytest
from conftest import load_script

from memaudit.common import tidy
from memaudit.common.errors import AuditError
from memaudit.common.io import write_table
from memaudit.workflow.job import Paths

FORMS = ("svg", "png", "pdf")


@pytest.fixture
def draw(tmp_path):
    keys = {"dataset": "wine", "strategy": "pp", "access": "efficient"}
    rows = [tidy.row("lira", keys | {"fpr": fpr}, "roc_tpr", fpr**0.5, low=fpr, high=1.0) for fpr in (0.01, 1.0)]
    write_table(tidy.frame(rows), tmp_path / "roc.parquet")

    def run(figure, where):
        files = [str(tmp_path / f"{figure}.{form}") for form in FORMS]
        params = SimpleNamespace(where={figure: where})
        inputs = Paths([f"{figure}={tmp_path}/roc.parquet"])
        load_script("views_draw_figures").main(
            SimpleNamespace(input=inputs, output=Paths([f"{figure}={file}" for file in files]), params=params)
        )
        return files

    return run


def test_a_figure_has_three_files(draw, tmp_path):
    draw("lira_roc", {"access": ["efficient"]})
    assert all((tmp_path / f"lira_roc.{form}").stat().st_size > 0 for form in FORMS)


def test_a_figure_without_results_is_an_error_that_names_it(draw):
    with pytest.raises(AuditError, match="figure iclmem_epochs"):
        draw("iclmem_epochs", {})
