"""Callers of `memaudit.audit` are told of its arguments, not of options of the command."""

import ast
import inspect
import re

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.pipeline import make_pipeline

import memaudit
from memaudit.auditing import api, argument_names, audit_options
from memaudit.auditing.argument_names import as_arguments
from memaudit.auditing.findings import (
    attack_inventory,
    audit_strength,
    inference_findings,
    protection,
    protection_criteria,
    recommendations,
    white_box_findings,
)
from memaudit.auditing.page import glossary, pdf_page
from memaudit.auditing.reading import (
    estimator_import,
    intake,
    model_choice,
    option_names,
    person_columns,
    row_nouns,
    source_file,
    table_columns,
    typed_slices,
)
from memaudit.auditing.running import optional_studies, setting_bounds, working_folder
from memaudit.common.errors import AuditError

# All that raises errors, or words lines of the screen, between the call of an audit and its first job.
INTAKE = (
    intake, source_file, table_columns, person_columns, typed_slices, option_names, working_folder, estimator_import,
    model_choice, optional_studies, pdf_page, protection, row_nouns, setting_bounds,
)  # fmt: skip
# All that words the page, of which Python's callers read a part in `report.summary`, too.
PAGE = (
    attack_inventory, audit_strength, glossary, inference_findings, protection_criteria, recommendations,
    white_box_findings,
)  # fmt: skip
OF_FILES = {"delimiter", "encoding"}  # a table in memory has none


def texts(module):
    """The string constants of a module, those of f-strings too."""
    tree = ast.parse(inspect.getsource(module))
    return [one.value for one in ast.walk(tree) if isinstance(one, ast.Constant) and isinstance(one.value, str)]


@pytest.mark.parametrize("module", INTAKE, ids=lambda module: module.__name__.rpartition(".")[2])
def test_every_option_of_a_message_is_an_argument_of_the_audit(module):
    left = {name for text in texts(module) for name in re.findall(r"--([a-z-]*[a-z])", as_arguments(text))}
    assert left <= OF_FILES


@pytest.mark.parametrize("module", PAGE, ids=lambda module: module.__name__.rpartition(".")[2])
def test_the_page_names_settings_as_neither_options_nor_arguments(module):
    assert not [text for text in texts(module) if re.search(r"--[a-z]", text)]


@pytest.mark.parametrize("option", argument_names.ARGUMENTS)
def test_every_argument_that_is_named_can_be_given(option):
    name = argument_names.ARGUMENTS[option]
    taken = {*inspect.signature(api.audit).parameters, *argument_names.OF_TABLES, *argument_names.OF_SETTINGS}
    assert name in taken


def test_every_option_of_the_command_is_an_argument_or_has_a_remedy():
    parser = audit_options.parser()
    options = parser.parse_args(["audit", "t.csv", "--target", "y"])
    known = {*argument_names.ARGUMENTS, *argument_names.INSTEAD, "table", "command"}
    assert set(vars(options)) <= known
    assert "profile" in argument_names.INSTEAD  # which the command takes out of its arguments before


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("minuts", "minuts: is no argument of memaudit.audit; did you mean `minutes`?"),
        ("epsilons", "epsilons: is no argument of memaudit.audit; did you mean `epsilon`?"),
        ("group", "group: is no argument of memaudit.audit; did you mean `groups`?"),
        ("models", "models: is no argument of memaudit.audit; did you mean `model`?"),
        ("zzz", "zzz: is no argument of memaudit.audit; known: base_rates, by"),
        ("delimiter", "delimiter: is no argument of memaudit.audit; a table in memory is read already; leave it out"),
        ("predictions", "by the command: `memaudit audit --predictions`"),
        ("profile", "give snakemake=['--profile', NAME]"),
        ("fail_above", "such as report.summary.headline.auc.low > 0.6"),
    ],
)
def test_what_is_no_argument_is_refused_with_what_was_meant(name, message):
    with pytest.raises(AuditError, match=re.escape(message)):
        memaudit.audit(pd.DataFrame({"a": [1, 2]}), [0, 1], **{name: 1.0})


def test_arguments_are_plain_values_and_single_ones_are_lists():
    arguments = {"rows": np.int64(70), "epsilon": 1.0, "by": "a", "base_rates": np.array([0.5]), "drop": ("b", "c")}
    plain = argument_names.given(arguments)
    assert plain == {"rows": 70, "epsilon": [1.0], "by": ["a"], "base_rates": [0.5], "drop": ["b", "c"]}
    assert [type(one) for one in (plain["rows"], plain["base_rates"][0])] == [int, float]
    assert argument_names.given({"by": 0, "infer": None, "drop": np.array("a"), "categorical": np.array([1])}) == {
        "by": ["0"], "infer": [], "drop": ["a"], "categorical": ["1"],
    }  # fmt: skip


@pytest.mark.parametrize(
    ("message", "told"),
    [
        ("50 rows are too few: give a larger --rows", "50 rows are too few: give a larger rows="),
        ("--group 'g': missing; give --lone-rows: a row", "groups: missing; give lone_rows=True: a row"),
        ("--infer 'it\\'s --by': is left out", "infer='it\\'s --by': is left out"),
        ("--base-rates: must be", "base_rates: must be"),
        ("--target 'c': has 1 values; name another", "target: has 1 values; name another"),
        ("which --task regression needs", "which task='regression' needs"),
        ("give another folder with --into", "give another folder with into="),
        ("--epsilon: needs --public FILE", "epsilon: needs public=FILE"),
        ("column '--rows' holds words", "column '--rows' holds words"),
        ("column 'of --rows', \"it's --by\": use --drop", "column 'of --rows', \"it's --by\": use drop="),
        ("column 'a --task regression' of the owner's --rows", "column 'a --task regression' of the owner's rows="),
        ("--infer \"it's --by\": is left out", "infer=\"it's --by\": is left out"),
        ("see snakemake --dry-run", "see snakemake --dry-run"),
    ],
)  # fmt: skip
def test_options_become_arguments(message, told):
    assert as_arguments(message) == told


def test_the_audit_takes_the_arguments_that_its_errors_name(tmp_path):
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"a": rng.normal(size=80), "b": rng.normal(size=80)})
    with pytest.raises(AuditError, match=r"^30 rows with a target .*: give a larger rows=$"):
        memaudit.audit(X, np.arange(80) % 2, rows=30)
    with pytest.raises(AuditError, match=r"^groups: missing in data row 3; .* give lone_rows=True"):
        memaudit.audit(X, np.arange(80) % 2, groups=[None if n == 2 else f"p{n // 2}" for n in range(80)])
    with pytest.raises(AuditError, match=r"^minutes: -1 is not a positive number$"):
        memaudit.audit(X, np.arange(80) % 2, minutes=-1)
    with pytest.raises(AuditError, match=r"^threats: 'poisn' is unknown; did you mean `poison`\?$"):
        memaudit.audit(X, np.arange(80) % 2, threats=["poisn"])
    with pytest.raises(AuditError, match=r"^threats='white-box': sklearn.*Forest\S+ is of the family estimator"):
        memaudit.audit(X, np.arange(80) % 2, model=RandomForestClassifier(), threats=["labels", "white-box"])
    with pytest.raises(AuditError, match=r"^finetune: Pipeline of Random\S+ is of the family"):
        memaudit.audit(X, np.arange(80) % 2, model=make_pipeline(RandomForestClassifier()), finetune=True)
    with pytest.raises(AuditError, match=r"^drop: the table has no column 'c'"):
        memaudit.audit(X, np.arange(80) % 2, drop=["c"])
    (tmp_path / "else").touch()
    with pytest.raises(AuditError, match=r"give another one with into=$"):
        memaudit.audit(X, np.arange(80) % 2, into=tmp_path)
