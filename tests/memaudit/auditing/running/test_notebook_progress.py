"""In a notebook one output shows the progress of an audit, and nothing is left of it."""

import sys
from types import SimpleNamespace

import pytest

from memaudit.auditing.running.notebook_progress import NotebookBar, notebook_display
from memaudit.auditing.running.terminal_progress import Display


class Output:
    """What a kernel keeps of one output."""

    def __init__(self):
        self.shown = []

    def display(self, content, raw, display_id):
        assert (raw, display_id) == (True, True)
        return self.update(content, raw)

    def update(self, content, raw):
        self.shown.append(content)
        return self


@pytest.fixture
def output(monkeypatch):
    """The output of a cell, in a program that looks like a kernel."""
    kept = Output()
    display = SimpleNamespace(display=kept.display)
    shell = SimpleNamespace(kernel=object())
    monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=lambda: shell, display=display))
    return kept


def test_progress_is_one_output_and_no_lines(output, capsys):
    with Display({"quick": 40, "full": 160}, 20.0) as bar:
        assert not bar.line("memaudit: 3 of 11 jobs done, a minute left; attacks_query_contexts table main 0 starts")
        bar.line("memaudit: audit_rate_records has failed; see a.log")
    assert capsys.readouterr().out == "memaudit: audit_rate_records has failed; see a.log\n"
    texts = [one["text/plain"] for one in output.shown]
    assert texts == ["0 % starting", "0 % first numbers: querying the model (2 to 7 min left)", ""]
    assert output.shown[1]["text/html"].startswith('<progress max="1" value="0.00"></progress> first numbers')
    assert output.shown[-1] == {"text/plain": "", "text/html": ""}


def test_it_is_removed_when_the_audit_fails(output):
    with pytest.raises(ValueError, match="failed"), Display({"quick": 40}):
        raise ValueError("failed")
    assert output.shown[-1]["text/html"] == ""


def test_the_bar_escapes_its_text_and_has_a_share(output):
    bar = NotebookBar(output.display)
    bar.at(0.25, "<b>")
    assert output.shown[-1] == {
        "text/plain": "25 % <b>",
        "text/html": '<progress max="1" value="0.25"></progress> &lt;b&gt;',
    }


def test_other_programs_are_no_notebook(monkeypatch):
    monkeypatch.delitem(sys.modules, "IPython", raising=False)
    assert notebook_display() is None
    for shell in (None, SimpleNamespace()):  # IPython imported by a program, and on a terminal
        monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=lambda shell=shell: shell))
        assert notebook_display() is None
