"""The page of audited releases says what is refuted and what is not detected."""

from memaudit.common.io import read_json
from memaudit.common.project_paths import PROJECT
from memaudit.report import docs_pages, release_audit_tables


def row(broken="as released", bound=0.5, **changed):
    numbers = {f"{scale}_{kind}": 1.0 for scale in ("mu", "epsilon") for kind in ("promised", "possible")}
    numbers |= {"mu_bound": bound, "epsilon_bound": bound, "refuted": bound > 1, "n": 6000, "cpu_seconds": 60.0}
    return numbers | {"part": "votes", "canary": "a record", "broken": broken} | changed


def measured(*rows):
    return {"conditions": {str(place): one for place, one in enumerate(rows)}}


def test_a_kept_promise_and_a_detected_fault():
    shown = release_audit_tables.context(measured(row(), row("noise halved", 1.5)))
    assert (shown["refuted"], shown["missed"], shown["controls"], shown["minutes"]) == ([], [], 1, 2)
    assert "| votes | a record | 6,000 | 1.00 | 0.50 | 1.00 | 1.00 | 0.50 | 1.00 |" in shown["intact"]
    assert "| votes | noise halved | 6,000 | 1.00 | 1.50 | 1.00 | 1.00 | 1.50 | 1.00 | yes |" in shown["broken"]
    assert "No promise is refuted" in docs_pages.release_audit(measured(row(), row("noise halved", 1.5)))


def test_a_broken_promise_and_a_missed_fault_are_named():
    page = docs_pages.release_audit(measured(row(bound=1.1), row("noise halved", 0.9)))
    assert "**Refuted: votes (as released).**" in page
    assert "**Not detected: votes (noise halved).**" in page


def test_the_published_audit_refutes_nothing_and_detects_every_fault():
    shown = release_audit_tables.context(read_json(PROJECT / "results/bench/release_audit.json"))
    assert not shown["refuted"]
    assert not shown["missed"]
    assert shown["bounds"] == 12
    assert shown["controls"] == 15
