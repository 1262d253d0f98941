"""The choice of k: keys as they are show members, groups of 16 hide them and accuracy stays, a threshold shows some."""

import runpy

import pytest
from conftest import PROJECT

pytestmark = pytest.mark.usefixtures("one_thread")


def test_leakage_falls_with_k_and_accuracy_stays(monkeypatch, capsys):
    folder = PROJECT / "workflow_scripts/maintenance"
    script = runpy.run_path(str(folder / "choose_key_groups.py"))
    monkeypatch.setitem(script["main"].__globals__, "SETTINGS", [(1, 0.0), (16, 0.0), (16, 1.0)])
    usual, every, few = script["main"](["wine"], 8)
    assert usual[3] > 0.85
    assert every[3] < few[3] - 0.05 < usual[3]
    assert every[4] < usual[4]
    assert every[5] > usual[5] - 0.02
    assert capsys.readouterr().out.count("wine") == 3
