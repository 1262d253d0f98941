"""The choice of block and statistic is that of the script's table."""

import runpy

import pytest
from conftest import PROJECT

from memaudit.attacks.attention_signals import BLOCK

pytestmark = pytest.mark.usefixtures("one_thread")


def test_the_chosen_block_and_statistics_are_the_best_of_a_public_table(capsys):
    script = runpy.run_path(str(PROJECT / "workflow_scripts/maintenance/choose_attention_signal.py"))
    rows = script["main"](["breast_cancer"], 16)
    assert len(capsys.readouterr().out.splitlines()) == len(rows)
    areas = {(block, name): (raw, calibrated) for _, block, name, raw, calibrated in rows}
    assert max(areas, key=lambda key: areas[key][1]) == (BLOCK, "geometric largest")
    assert max(areas, key=lambda key: areas[key][0]) == (BLOCK, "geometric gap")
