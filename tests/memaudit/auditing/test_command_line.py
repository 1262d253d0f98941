"""Wrong commands end in one line, and names stay names."""

import json
import os
import re
import subprocess
import sys

import page_states
import pytest
from audit_examples import FACTS, a_summary, advised
from conftest import PROJECT

from memaudit.auditing import command_line
from memaudit.auditing.reading import source_file


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["audit"], "TABLE, --target"),
        (["audit", "t.csv", "--target", "y", "--threats", "mind"], "invalid choice: 'mind'"),
        (["audit", "t.csv", "--target", "y", "--minutes", "no"], "--minutes"),
        (["audit", "t.csv", "--target", "y", "--base-rates", "2"], "2 is not a share between 0 and 1"),
        (["adit"], "invalid choice"),
    ],
)
def test_a_wrong_command_is_one_line(capsys, arguments, message):
    with pytest.raises(SystemExit) as stop:
        command_line.main(arguments)
    assert stop.value.code == 2
    printed = capsys.readouterr().err
    assert message in printed
    assert printed.count("\n") == 1


def test_a_missing_table_is_one_line_and_makes_no_copy(tmp_path, capsys):
    assert (
        command_line.main(["audit", str(tmp_path / "no.csv"), "--target", "y", "--into", str(tmp_path / "into")]) == 1
    )
    printed = capsys.readouterr().err
    assert printed.startswith("memaudit: ")
    assert printed.count("\n") == 1
    assert not list(tmp_path.iterdir())


def test_a_folder_with_something_else_is_left_alone(tmp_path, capsys):
    (tmp_path / "mine.txt").write_text("mine")
    assert command_line.main(["audit", "no.csv", "--target", "y", "--into", str(tmp_path)]) == 1
    assert "holds something else" in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["mine.txt"]


def test_the_launcher_quotes_and_goes_through_no_shell(tmp_path):
    """A copy of the launcher beside a fake environment, which prints its arguments."""
    folder = tmp_path / "a b$(touch q)"
    (folder / ".venv/bin").mkdir(parents=True)
    (folder / "memaudit").write_bytes((PROJECT / "memaudit").read_bytes())
    (folder / "requirements.lock").touch()
    (folder / ".venv/complete").touch()
    python = folder / ".venv/bin/python"
    python.write_text(f"#!{sys.executable}\nimport json, sys\nprint(json.dumps(sys.argv[1:]))\n")
    python.chmod(0o700)
    given = ["audit", "a{b}<c>$(touch p).csv", "--target", 'it\'s; "x"\n*']
    done = subprocess.run(
        ["bash", folder / "memaudit", *given], capture_output=True, text=True, check=True, cwd=tmp_path
    )
    assert json.loads(done.stdout) == ["-m", "memaudit", *given]
    assert sorted(path.name for path in tmp_path.iterdir()) == [folder.name]
    assert source_file.stem(given[1]) == "a-b--c---touch-p"


def test_help_without_a_fit_python_says_which_one_is_needed(tmp_path):
    """A copy of the launcher beside the Makefile, which names what the machine lacks."""
    for name in ("memaudit", "Makefile"):
        (tmp_path / name).write_bytes((PROJECT / name).read_bytes())
    (tmp_path / "requirements.lock").touch()
    command = ["bash", tmp_path / "memaudit", "audit", "--help"]
    environment = os.environ | {"PYTHON": "false"}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode != 0
    assert "memaudit needs Python 3.11 or newer, and false is" in done.stderr
    assert sorted(path.name for path in tmp_path.iterdir()) == ["Makefile", "memaudit", "requirements.lock"]


def test_an_invalid_folder_name_is_one_line(tmp_path, capsys):
    (tmp_path / "t.csv").write_text("a,y\n1,2\n")
    assert (
        command_line.main(["audit", str(tmp_path / "t.csv"), "--target", "y", "--into", str(tmp_path / ("x" * 300))])
        == 1
    )
    assert "cannot be written" in capsys.readouterr().err


def test_the_screen_shows_the_columns_and_the_main_results(capsys):
    command_line.report("schema", FACTS)
    command_line.report("full", a_summary().model_dump())
    printed = capsys.readouterr().out
    assert "500 rows, 500 with a target (2 classes)" in printed
    assert "left out: free text" in printed
    assert "result: AUC 0.70 [0.65, 0.75], chance 0.50: a leak is detected" in printed
    assert "of 100 records predicted as members, 60 [50, 70] are in the data, if 10 of 100 candidates are" in printed
    assert (
        "the one context that is deployed may differ: there 30 to 90 of 100 records predicted as members are in the "
        "data, if 10 of 100 candidates are, with probability 0.93"
    ) in printed
    command_line.report("full", a_summary().model_copy(update={"fitted": True}).model_dump())
    assert "the one model that is deployed may differ: there 30 to 90" in capsys.readouterr().out


def test_a_range_of_all_shares_is_said_to_tell_nothing():
    whole = {"one_context": {"low": 0.0, "high": 0.999}, "base_rate": 0.5, "level": 0.94}
    said = command_line._in_one_context(whole, "context", "persons")
    assert said == "the one context that is deployed may differ: too few persons are accused in each to say by how much"


def test_names_of_columns_stand_as_in_the_file_but_for_what_a_terminal_obeys(capsys):
    names = {"c0": "Größe (cm)", "c1": "Einkommen €", "c2": "a\x1b[31m\u202eb"}
    columns = {safe: {"name": name, "type": "numeric", "use": True} for safe, name in names.items()}
    facts = {
        "columns": columns,
        "left_out": {},
        "readings": {"Größe (cm)": "decimal comma"},
        "constant": ["Größe (cm)"],
    }
    command_line.report("schema", FACTS | facts | {"persons": {"Kunde_Nº": 200}})
    printed = capsys.readouterr().out.splitlines()
    assert "memaudit:   'Größe (cm)'        numeric (decimal comma; the same in all rows)" in printed
    assert "memaudit:   'Einkommen €'       numeric" in printed
    assert r"memaudit:   'a\x1b[31m\u202eb'  numeric" in printed
    assert any("'Kunde_Nº' looks like a person" in line for line in printed)


def test_one_file_of_predictions_is_told_what_two_files_are_wanted_for(capsys):
    with pytest.raises(SystemExit) as stop:
        command_line.main(["audit", "--predictions", "one.csv", "--target", "y"])
    assert stop.value.code == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("memaudit: argument --predictions: expected 2 arguments: the file of the members, on whose")
    assert line.endswith(
        "is parted as docs/audit.md shows (A model that cannot be refitted); see ./memaudit audit --help"
    )


def test_an_option_with_a_slip_names_the_right_one(capsys):
    with pytest.raises(SystemExit):
        command_line.main(["audit", "t.csv", "--target", "y", "--minuts", "2"])
    line = "memaudit: unrecognized arguments: --minuts 2; did you mean --minutes?; see ./memaudit audit --help\n"
    assert capsys.readouterr().err == line


def test_the_screen_names_columns_that_look_like_a_person_and_rows_that_are_persons_of_their_own(capsys):
    command_line.report("schema", FACTS | {"persons": {"owner": 200}})
    assert "'owner' looks like a person (200 values): if it is one, audit again with --group" in capsys.readouterr().out
    command_line.report("schema", FACTS | {"group": "owner", "lone": 3})
    assert "3 rows without 'owner' are persons of their own" in capsys.readouterr().out


def test_the_screen_says_why_rows_are_attacked_together(capsys):
    command_line.report("quick", page_states.of_rows_alike(a_summary()).model_dump())
    printed = capsys.readouterr().out
    assert "of 100 records predicted as members" in printed
    assert (
        "memaudit: 12 of the 500 different rows have the same features as another one and a different target: "
        in printed
    )
    assert "in an audit with a group such rows are left out" in printed
    command_line.report("quick", page_states.by_person(a_summary()).model_dump())
    assert "of 100 persons predicted as members" in (printed := capsys.readouterr().out)
    assert "the same features" not in printed


def test_the_screen_has_the_noun_of_rows_that_are_not_people(capsys):
    facts = FACTS | {"records": "modules"}
    command_line.report("schema", facts | {"persons": {"owner": 200}})
    printed = capsys.readouterr().out
    assert "'owner' looks like a group (200 values)" in printed
    assert "its rows are taken for different modules" in printed
    command_line.report("schema", facts | {"group": "owner", "lone": 3})
    assert "3 rows without 'owner' are groups of modules of their own" in capsys.readouterr().out
    command_line.report("full", advised(a_summary(), rows_are="modules").model_dump())
    printed = capsys.readouterr().out
    assert "of 100 modules predicted as members, 60 [50, 70] are in the data" in printed
    assert "leaks which modules are in its context" in printed


def test_a_noun_that_is_none_is_one_line(tmp_path, capsys):
    (tmp_path / "t.csv").write_text("a,y\n1,2\n")
    given = ["audit", str(tmp_path / "t.csv"), "--target", "y", "--into", str(tmp_path / "into"), "--records", "<b>"]
    assert command_line.main(given) == 1
    printed = capsys.readouterr().err
    assert printed.startswith("memaudit: --records '<b>': give a plural noun")
    assert printed.count("\n") == 1


def test_the_screen_warns_of_a_detected_negative_control(capsys):
    command_line.report("quick", a_summary(placebo=True).model_dump() | {"stage": "quick"})
    assert "first numbers: AUC 0.70 [0.65, 0.75], chance 0.50: invalid" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("show_values", "said"), [(True, "'gone' (3 rows)"), (False, "3 rows (the setting show-values")]
)
def test_rare_classes_are_named_on_request(capsys, show_values, said):
    command_line.report("schema", FACTS | {"rare": {"gone": 3}, "show_values": show_values})
    assert f"rare classes: {said}" in capsys.readouterr().out


def test_columns_left_out_are_shown_of_a_wide_table_too(capsys):
    columns = {f"c{i:02d}": {"name": f"x{i}", "type": "numeric", "use": True} for i in range(60)}
    columns["c60"] = {"name": "gone", "type": None, "use": False}
    command_line.report("schema", FACTS | {"columns": columns, "left_out": {"gone": "by your choice"}})
    printed = capsys.readouterr().out
    assert re.search(r"'gone' +-  left out: by your choice", printed)
    assert "... and 21 more" in printed


def test_numbers_without_an_interval_are_printed_without_one(capsys):
    """Fewer than 5 persons have no interval."""
    summary = a_summary().model_dump()
    for adversary in summary["adversaries"]:
        for one in (adversary["auc"], *adversary["precision"].values()):
            one["low"] = one["high"] = None
    command_line.report("full", summary)
    printed = capsys.readouterr().out
    assert "AUC 0.70, chance 0.50" in printed
    assert "None" not in printed


@pytest.mark.parametrize("given", [["--help"], ["run", "--help"], ["init", "-h"], ["diff", "--help"]])
def test_most_help_is_shown_without_building_the_environment(tmp_path, given):
    (tmp_path / "memaudit").write_bytes((PROJECT / "memaudit").read_bytes())
    (tmp_path / "workflow_scripts").symlink_to(PROJECT / "workflow_scripts")
    (tmp_path / "requirements.lock").touch()
    bare = tmp_path / "python"  # without any installed package
    bare.write_text(f'#!/bin/sh\nexec {sys.executable} -S "$@"\n')
    bare.chmod(0o755)
    command = ["bash", "./memaudit", *given]
    environment = os.environ | {"PYTHON": str(bare)}
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True, env=environment)
    assert done.stdout.startswith("usage: ./memaudit")
    assert not (tmp_path / ".venv").exists()
