"""The options of an audit are read before anything is imported that the standard library lacks."""

import pytest

from memaudit.auditing import audit_options
from memaudit.auditing.running import setting_bounds
from memaudit.data.table_readings import CLASSIFICATION, REGRESSION


def test_the_tasks_are_those_of_tables():
    """They stand twice, for `table_readings` needs an engine."""
    assert setting_bounds.TASKS == (CLASSIFICATION, REGRESSION)


def test_a_profile_goes_to_snakemake_at_any_place():
    own, rest = audit_options.parted(["audit", "t.csv", "--profile", "slurm", "--target", "y", "--", "--jobs", "3"])
    assert own == ["audit", "t.csv", "--target", "y"]
    assert rest == ["--profile", "slurm", "--jobs", "3"]


@pytest.mark.parametrize(
    ("arguments", "named"), [(["--predictions"], True), (["--pred"], True), (["--profile"], False)]
)
def test_the_option_may_be_shortened(arguments, named):
    assert audit_options.names_predictions(["audit", *arguments]) == named


@pytest.mark.parametrize(
    ("given", "named"),
    [
        (["--fail-above", "precision@.3=.5"], "see --base-rates"),
        (["--predictions", "one.csv"], "the file of the members"),
    ],
)
def test_wrong_options_end_in_one_line(capsys, given, named):
    with pytest.raises(SystemExit) as stop:
        audit_options.parse(["audit", "t.csv", "--target", "y", *given])
    assert stop.value.code == 2
    printed = capsys.readouterr().err
    assert named in printed
    assert printed.count("\n") == 1


def test_options_and_arguments_of_snakemake_are_parted():
    options, rest = audit_options.parse(["audit", "t.csv", "--target", "y", "--quick", "--", "--jobs", "3"])
    assert (options.table, options.target, options.quick, rest) == ("t.csv", "y", True, ["--jobs", "3"])
