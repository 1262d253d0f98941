"""The verdict of each claim over all published runs."""

from memaudit.report.claims_over_runs import table, verdicts


def run(cpu_seconds, **studies):
    """A published run; studies: verdict by claim, with its reason and its place in the paper."""
    return {
        "made": {"cpu_seconds": cpu_seconds},
        "studies": {
            study: {"claims": {"rows": [line(claim, *said) for claim, said in found.items()]}}
            for study, found in studies.items()
        },
    }


def line(claim, verdict, reason="", place="Table 1"):
    return {"id": claim, "verdict": verdict, "reason": reason, "place": place}


OPEN = "not testable at this scale"
NONE = (OPEN, "no results of lira to compare in metric auc")
WIDE = (OPEN, "holds in 0 of 1 comparisons, 1 cannot tell (intervals too wide)")
OWN = ("reproduced", "", "not in the paper")
DEFAULT = run(9e9, lira={"a": ["reproduced"], "b": NONE, "c": ["reproduced"], "e": OWN}, predict={"d": NONE})
LARGE = run(200.0, lira={"a": ["not reproduced"], "b": NONE, "c": NONE})
SMALL = run(100.0, lira={"a": ["direction only"], "b": ["identity"], "c": NONE})


def test_the_first_run_that_has_results_to_compare_is_taken():
    assert verdicts([LARGE, SMALL, DEFAULT])["lira"] == {"a": "not reproduced", "b": "identity", "c": "reproduced"}
    assert verdicts([DEFAULT])["predict"] == {"d": OPEN}


def test_a_smaller_run_does_not_overrule_one_whose_intervals_are_too_wide():
    assert verdicts([run(300.0, lira={"a": WIDE}), SMALL, DEFAULT])["lira"]["a"] == OPEN


def test_a_run_that_was_sized_for_a_claim_comes_first_for_it_alone():
    sized = run(100.0, lira={"a": WIDE, "b": ["identity"]}) | {"sized_for": ["a"]}
    large = run(300.0, lira={"a": ["reproduced"], "b": WIDE})
    assert verdicts([large, sized])["lira"] == {"a": OPEN, "b": OPEN}
    without = run(100.0, lira={"a": NONE}) | {"sized_for": ["a"]}
    assert verdicts([large, without])["lira"]["a"] == "reproduced"


def test_statements_that_no_paper_makes_are_counted_apart():
    assert verdicts([LARGE, DEFAULT], own=True) == {"lira": {"e": "reproduced"}}


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
