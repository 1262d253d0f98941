"""The verdict of each claim over all published runs."""

from memaudit.report.claims_over_runs import table, verdicts


def run(cpu_seconds, **studies):
    """A published run; studies: verdict by claim."""
    return {
        "made": {"cpu_seconds": cpu_seconds},
        "studies": {
            study: {"claims": {"rows": [{"id": claim, "verdict": verdict} for claim, verdict in found.items()]}}
            for study, found in studies.items()
        },
    }


OPEN = "not testable at this scale"
DEFAULT = run(9e9, lira={"a": "reproduced", "b": OPEN, "c": "reproduced"}, predict={"d": OPEN})
LARGE = run(200.0, lira={"a": "not reproduced", "b": OPEN, "c": OPEN})
SMALL = run(100.0, lira={"a": "direction only", "b": "identity", "c": OPEN})


def test_the_first_run_that_can_test_a_claim_is_taken():
    assert verdicts([LARGE, SMALL, DEFAULT])["lira"] == {"a": "not reproduced", "b": "identity", "c": "reproduced"}
    assert verdicts([DEFAULT])["predict"] == {"d": OPEN}


def test_larger_runs_come_first_in_any_order_and_the_default_run_last():
    assert table(DEFAULT, [LARGE, SMALL]) == table(DEFAULT, [SMALL, LARGE])
    lines = table(DEFAULT, [SMALL, LARGE]).splitlines()
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[2:]]
    assert cells == [
        ["lira", "1", "0", "1", "1", "0", "0%"],
        ["predict", "0", "0", "0", "0", "1", "100%"],
        ["all", "1", "0", "1", "1", "1", "25%"],
    ]


def test_a_study_without_claims_is_left_out():
    data = {"made": {"cpu_seconds": 1.0}, "studies": {"data": {"headlines": {"rows": []}}}}
    assert "data" not in table(DEFAULT, [data])
