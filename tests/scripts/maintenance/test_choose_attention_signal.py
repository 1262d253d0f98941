"""The choice of block and statistic is that of the script's table."""

import runpy

import pytest
import torch
from conftest import PROJECT

from memaudit.attacks.attention_signals import BLOCK

pytestmark = pytest.mark.usefixtures("one_thread")


@pytest.fixture(scope="module")
def script():
    return runpy.run_path(str(PROJECT / "workflow_scripts/maintenance/choose_attention_signal.py"))


def test_mass_is_that_of_the_rows_of_each_class(script):
    weights = torch.tensor([[[0.5, 0.3, 0.2]], [[0.1, 0.8, 0.1]]])[None]  # (table, head, query, row)
    mass = script["label_mass"](weights, torch.tensor([[2.0, 0.0, 2.0]]), 3)
    torch.testing.assert_close(mass, torch.tensor([[[0.55, 0.0, 0.45]]]))


def test_the_chosen_block_and_statistics_are_the_best_of_a_public_table(script, capsys):
    rows = script["main"](["breast_cancer"], 16)
    assert len(capsys.readouterr().out.splitlines()) == len(rows)
    areas = {(block, name): (raw, calibrated) for _, block, name, raw, calibrated in rows}
    assert max(areas, key=lambda key: areas[key][1]) == (BLOCK, "geometric largest")
    assert max(areas, key=lambda key: areas[key][0]) == (BLOCK, "geometric gap")
