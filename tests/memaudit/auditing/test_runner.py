"""The audit's sizes, models, rules, page and command line: what is chosen, what is said, and that names stay names."""

import json
import re
import sys

import numpy as np
import pandas as pd
import pytest
import yaml
from audit_examples import FACTS, HOSTILE, a_summary, annex, value
from conftest import PROJECT, load
from sklearn.ensemble import RandomForestClassifier
from sklearn.pipeline import make_pipeline
from snakemake.utils import update_config

import memaudit
from memaudit.auditing import (
    api,
    audit_page,
    command_line,
    model_choice,
    recommendations,
    runner,
    source_file,
    stages,
    summary,
)
from memaudit.auditing.intake import Request
from memaudit.config.check_config import checked
from memaudit.errors import AuditError


def rules(**how):
    return {advice.rule for advice in a_summary(**how).advice}


def test_each_rule_speaks_when_its_condition_holds():
    assert rules() == {
        "some adversary is detected",
        "leak, and a mitigation lowers it at little cost",
        "leak, and the list of exposed records is stable",
        "a group leaks more than the others",
    }
    assert "leak, and the list of exposed records is not stable" in rules(stable=0.2)
    assert "leak, and no mitigation lowers it at little cost" in rules(helps=False)
    assert "a group leaks more than the others" not in rules(excess=0.02)
    assert rules(leak=False, excess=0.0) == {"no adversary is detected"}
    assert "a private context costs little" in rules(cost=-0.01)
    assert "private contexts were tried, and cost more" in rules(cost=-0.3)
    (told,) = (one.text for one in a_summary(cost=-0.01).advice if "private context" in one.rule)
    assert "(TabPATE, moments of each class; epsilon 1)" in told
    unattacked = a_summary(cost=-0.01).private[0].model_copy(update={"auc": None})
    assert not recommendations.cheap_privacy(a_summary().model_copy(update={"private": [unattacked]}))
    assert "the fine-tuned model remembers" in rules(memory=(0.7, 0.6, 0.8))
    assert "fine-tuned, and no memory found" in rules(memory=(0.55, 0.45, 0.65))
    assert rules(placebo=True, excess=0.0) == {"the placebo is detected"}


def test_a_column_whose_name_a_terminal_would_obey_is_spelt_out():
    found = a_summary()
    evil = found.groups[0].model_copy(update={"column": "a\x1b[2Jb"})
    texts = [one.text for one in recommendations.advise(found.model_copy(update={"groups": [evil]}))]
    assert any(r"column 'a\x1b[2Jb' (--show-values" in text for text in texts)
    assert all(text.isprintable() for text in texts)


def test_a_label_only_defence_is_judged_by_the_attack_that_it_lowers_least():
    found = a_summary()
    lower, same = found.mitigations[0], found.mitigations[0].model_copy(update={"auc_difference": value(0, -0.1, 0.1)})
    assert recommendations.helps(found.model_copy(update={"mitigations": [lower]}))
    assert not recommendations.helps(found.model_copy(update={"mitigations": [lower, same]}))


def test_a_list_is_acted_upon_only_where_halves_name_the_same_top():
    stability = {"spearman": value(0.8, 0.7, 0.9, 0.0), "overlap_5%": value(0.17, 0.09, 0.26, 0.15)}
    assert not recommendations._stable(a_summary().model_copy(update={"stability": stability}))
    stability["overlap_5%"] = value(0.5, 0.3, 0.7, 0.05)
    assert recommendations._stable(a_summary().model_copy(update={"stability": stability}))


def test_fine_tuning_that_finds_its_placebo_claims_no_memory():
    found = a_summary(memory=(0.7, 0.6, 0.8))
    assert recommendations.remembered(found)
    placebo = found.tuned[0].model_copy(update={"placebo": True})
    assert not recommendations.remembered(found.model_copy(update={"tuned": [*found.tuned, placebo]}))


def test_names_are_escaped_and_nothing_is_loaded_from_elsewhere():
    html = audit_page.render(a_summary(cost=-0.1, memory=(0.7, 0.6, 0.8)), FACTS, annex(), HOSTILE)
    assert "<script" not in html
    assert "&lt;script&gt;" in html
    assert "{{ 7*7 }}" in html
    assert not re.findall(r'(?:src|href)="(?!#|data:,)[^"]*"|url\(|@import', html)
    assert "default-src 'none'" in html


def test_every_table_has_headers_and_every_part_a_name():
    html = audit_page.render(a_summary(cost=-0.1, memory=(0.7, 0.6, 0.8)), FACTS, annex(), HOSTILE)
    tables = re.findall(r"<table>.*?</table>", html, re.DOTALL)
    assert len(tables) >= 8
    for table in tables:
        assert 'scope="col"' in table
        assert 'scope="row"' in table
    for part, title in re.findall(r'<section id="(\w+)" aria-labelledby="([\w-]+)"', html):
        assert f'id="{title}"' in html
        assert f'href="#{part}"' in html
    assert html.count("<h1") == 1


def test_the_headline_says_no_leak_where_none_was_told_from_chance():
    assert "leaks who is in its context" in audit_page.render(a_summary(), FACTS, annex())
    quiet = audit_page.render(a_summary(leak=False), FACTS, annex())
    assert "No leak was detected" in quiet
    assert "leaks who is in its context" not in quiet
    assert "This audit is invalid" in audit_page.render(a_summary(placebo=True), FACTS, annex())


def test_the_json_schema_in_the_docs_is_the_models():
    text = (PROJECT / "docs/audit.schema.json").read_text(encoding="utf-8")
    assert text == summary.schema(), "run python -m memaudit.auditing.summary"
    assert json.loads(a_summary().model_dump_json())["advice"]


def sizes(left, seconds=0.1, records=5000, **how):
    return stages.full_sizes(records, 1000, seconds, left, **{"cores": 2, "models": 1, "poison": False} | how)


def test_sizes_follow_from_the_seconds_that_are_left():
    assert sizes(0.0)["sets"] == stages.FEWEST_SETS
    assert sizes(1e6) == sizes(1e6) | {"sets": stages.MOST_SETS, "records": 5000}
    assert sizes(100.0)["records"] == 1000
    assert sizes(100.0, seconds=0.2)["sets"] < sizes(100.0)["sets"]
    assert sizes(110.0, poison=True)["sets"] < sizes(110.0)["sets"]
    assert all(sizes(left)["sets"] % 16 == 0 for left in np.linspace(0, 500, 40))


ASKED = {
    "threats": ["labels", "probabilities"], "seed": 1, "base_rates": [0.1], "shown": 5, "show_values": False,
    "epsilons": [], "finetune": False,
    "model_labels": ["tabicl-small"],
}  # fmt: skip


def test_a_killed_audit_keeps_the_sizes_that_it_had(tmp_path):
    config = stages.overlay(
        "full", FACTS, {"minutes": 3, "sets": 48, "records": 500}, ASKED, model_choice.entries(["tabicl-small"])
    )
    (tmp_path / "full.yaml").write_text(yaml.safe_dump(config))
    again = stages.overlay("full", FACTS, {"sets": 32, "records": 500}, ASKED, model_choice.entries(["tabicl-small"]))
    assert runner._full_sizes(9.0, runner.Settings(tmp_path, minutes=3), again)["sets"] == 48


@pytest.mark.parametrize("stage", ["quick", "full"])
@pytest.mark.parametrize("more", [{}, {"epsilons": [1.0, 10.0], "finetune": True}], ids=["contexts", "everything"])
def test_the_config_of_a_stage_is_valid_and_names_no_column(stage, more):
    labels = ["tabicl-small", "sklearn.naive_bayes.GaussianNB"]
    asked, catalogue = ASKED | {"model_labels": labels} | more, model_choice.entries(labels)
    overlay = stages.overlay(stage, FACTS, {"sets": 48, "records": 500}, asked, catalogue)
    assert HOSTILE not in yaml.safe_dump(overlay)
    merged = load()
    update_config(merged, overlay)
    assert checked(merged)["audit"]["complete"] == (stage == "full")


def test_a_model_is_a_name_a_file_or_an_import_path(tmp_path):
    checkpoint = tmp_path / "tabpfn-v2-classifier.ckpt"
    checkpoint.touch()
    renamed = tmp_path / "weights;$(touch p).bin"
    renamed.touch()
    names = ["tabicl-small", str(checkpoint), f"tabicl:{renamed}", "sklearn.naive_bayes.GaussianNB"]
    added, called = model_choice.entries(names, {"var_smoothing": 1e-9})
    assert called == ["tabicl-small", "audited-2", "audited-3", "audited-4"]
    assert [added[name]["family"] for name in called[1:]] == ["tabpfn", "tabicl", "estimator"]
    assert added["audited-4"]["params"] == {"var_smoothing": 1e-9}


@pytest.mark.parametrize("name", ["tabicl-smal", "no/such.ckpt", "tabicl-small-regression", "a b", "$(touch p)"])
def test_what_is_no_model_is_said(name):
    with pytest.raises(AuditError, match=r"--model") as error:
        model_choice.entries([name])
    assert "\n" not in str(error.value)


def test_a_checkpoint_of_unknown_family_is_asked_about(tmp_path):
    path = tmp_path / "weights.ckpt"
    path.touch()
    with pytest.raises(AuditError, match="tabicl:PATH or tabpfn:PATH"):
        model_choice.entries([str(path)])


def test_the_audit_is_imported_when_it_is_asked_for():
    assert memaudit.audit is api.audit
    with pytest.raises(AttributeError, match="no attribute 'audti'"):
        memaudit.audti  # noqa: B018


def test_an_estimator_goes_by_its_class_and_parameters():
    name, params = api._named(RandomForestClassifier(n_estimators=7))
    assert name == "sklearn.ensemble._forest.RandomForestClassifier"
    assert params["n_estimators"] == 7


@pytest.mark.parametrize("model", [make_pipeline(RandomForestClassifier()), object()])
def test_an_estimator_that_cannot_be_named_is_said(model):
    with pytest.raises(AuditError, match="model "):
        api._named(model)


def test_targets_that_are_too_few_are_said():
    with pytest.raises(AuditError, match="X has 3 rows and y 2"):
        api.audit(pd.DataFrame({"a": [1, 2, 3]}), [0, 1])


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["audit"], "TABLE, --target"),
        (["audit", "t.csv", "--target", "y", "--threats", "mind"], "invalid choice: 'mind'"),
        (["audit", "t.csv", "--target", "y", "--minutes", "no"], "--minutes"),
        (["audit", "t.csv", "--target", "y", "--base-rates", "2"], "2 is no share between 0 and 1"),
        (["adit"], "invalid choice"),
    ],
)
def test_a_wrong_command_is_one_line(capsys, arguments, said):
    with pytest.raises(SystemExit) as stop:
        command_line.main(arguments)
    assert stop.value.code == 2
    told = capsys.readouterr().err
    assert said in told
    assert told.count("\n") == 1


def test_a_missing_table_is_one_line_and_makes_no_copy(tmp_path, capsys):
    assert (
        command_line.main(["audit", str(tmp_path / "no.csv"), "--target", "y", "--into", str(tmp_path / "into")]) == 1
    )
    told = capsys.readouterr().err
    assert told.startswith("memaudit: ")
    assert told.count("\n") == 1
    assert not list(tmp_path.iterdir())


def test_a_folder_with_something_else_is_left_alone(tmp_path, capsys):
    (tmp_path / "mine.txt").write_text("mine")
    assert command_line.main(["audit", "no.csv", "--target", "y", "--into", str(tmp_path)]) == 1
    assert "holds something else" in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["mine.txt"]


def test_two_audits_of_one_folder_do_not_meet(tmp_path):
    again = pytest.raises(AuditError, match="another audit goes on")
    with runner.private(tmp_path / "into"), again, runner.private(tmp_path / "into"):
        pass
    with runner.private(tmp_path / "into"):
        pass


def test_first_numbers_do_not_take_the_place_of_a_whole_page(tmp_path):
    (tmp_path / "summary.json").write_text('{"stage": "full"}')
    with pytest.raises(AuditError, match="--quick would take its place"):
        runner._keep_whole(runner.Settings(tmp_path, quick=True))
    runner._keep_whole(runner.Settings(tmp_path))


@pytest.mark.parametrize(
    ("request_", "settings", "said"),
    [
        ({"seed": -1}, {}, "--seed -1"),
        ({}, {"public": "f.yaml"}, "--public"),
        ({}, {"snakemake": ["-n"]}, "-n: "),
        ({}, {"snakemake": ["--until=x"]}, "--until"),
    ],
)
def test_what_would_come_to_nothing_is_refused_first(tmp_path, request_, settings, said):
    with pytest.raises(AuditError, match=re.escape(said)):
        runner.run(Request("t.csv", "y", **request_), runner.Settings(tmp_path / "into", **settings), print)
    assert not (tmp_path / "into").exists()


def test_the_working_folder_is_never_committed(tmp_path):
    with runner.private(tmp_path / "into"):
        assert (tmp_path / "into/.gitignore").read_text() == "*\n"


def test_an_estimator_keeps_what_it_was_given():
    _, params = api._named(RandomForestClassifier(max_features=None, n_estimators=np.int64(7).item()))
    assert (params["max_features"], params["n_estimators"]) == (None, 7)
    assert "max_depth" not in params


def test_python_leaves_no_copy_of_a_table_that_is_refused(tmp_path, monkeypatch):
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)
    with pytest.raises(AuditError, match="the same in all rows"):
        memaudit.audit(np.zeros((80, 2)) + np.arange(80)[:, None] % 7, np.zeros(80))
    assert not list(tmp_path.iterdir())


def test_a_profile_goes_to_snakemake_wherever_it_stands():
    own, rest = command_line._parted(["audit", "t.csv", "--profile", "slurm", "--target", "y", "--", "--jobs", "3"])
    assert own == ["audit", "t.csv", "--target", "y"]
    assert rest == ["--profile", "slurm", "--jobs", "3"]
    assert runner._profiles(rest)[1] == str(PROJECT / "slurm")


def test_the_launcher_quotes_and_goes_through_no_shell(tmp_path):
    """A copy of the launcher beside a pretended environment, which writes down what it was given."""
    import subprocess

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


def test_a_folder_that_cannot_be_called_so_is_one_line(tmp_path, capsys):
    (tmp_path / "t.csv").write_text("a,y\n1,2\n")
    assert (
        command_line.main(["audit", str(tmp_path / "t.csv"), "--target", "y", "--into", str(tmp_path / ("x" * 300))])
        == 1
    )
    assert "cannot be written" in capsys.readouterr().err
