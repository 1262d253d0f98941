"""No option of `./memaudit audit` lets a value of the table out of its copies, except --show-values.

Every option of the parser belongs to an audit below: a new option without one fails.
"""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import yaml

from memaudit.auditing import audit_options
from workflow.conftest import Checkout

pytestmark = [pytest.mark.xdist_group("audit"), pytest.mark.usefixtures("warm_jobs"), pytest.mark.long]

ROWS, WORD = 150, "Zqx-unknown"
SECRETS = [
    "Zqx-north",
    "Zqx-süd",
    "Zqx-yes",
    "Zqx-no",
    "Zqx-house",
    "Zqx-note",
    "Zqx-left",
    WORD,
    "7310511",
    "73105.125",
]
# Folders of an audit that may hold values; the last one has the targets of the fine-tuning, shuffled and not.
OWN_COPIES = ("table", "results/quick/data", "results/full/data", "results/full/signals/iclmem")
FOREST = "sklearn.ensemble.RandomForestClassifier"

# The arguments of each audit; {public} is a file of published bounds, {into} a folder.
AUDITS = {
    "reading": [
        *("--quick", "--group", "household", "--by", "region", "code", "--drop", "left", "--categorical", "code"),
        *("--missing", WORD, "--delimiter", ";", "--encoding", "latin-1", "--rows", "140", "--shown", "7"),
        *("--decimal", ",", "--dates", "dmy", "--lone-rows", "--merge-rare"),
        *("--base-rates", "0.2", "--seed", "3", "--cores", "2", "--into", "{into}"),
        *("--fail-above", "auc=1"),
        *("--owner", "A. Reviewer", "--review-by", "2999-12-31", "--pdf"),
    ],
    "attacking": [
        *("--threats", "labels", "probabilities", "poison", "white-box", "linkability", "--infer", "region"),
        *("--model", "tabicl-small", FOREST, "--minutes", "0.1", "--whole"),
        *("--missing", WORD, "--delimiter", ";", "--encoding", "latin-1", "--drop", "left", "household", "note"),
        *("--epsilon", "1", "--public", "{public}", "--finetune", "--cores", "2", "--into", "{into}"),
        *("--task", "classification", "--context-rows", "120", "--records", "households"),
    ],
}
SHOWING = {"--show-values"}  # values are on the page: tests/workflow/test_audit.py
PREDICTIONS = {"--predictions", "--reference", "--id"}  # tests/workflow/test_audit_predictions.py
COMMAND = {"--target", "--help"}


def table():
    rng = np.random.default_rng(0)
    household = rng.permutation(ROWS) // 2
    facts = {
        "region": rng.choice(["Zqx-north", "Zqx-süd", WORD], ROWS),
        "income": np.where(rng.random(ROWS) < 0.1, 73105.125, rng.normal(3e4, 1e4, ROWS).round(2)),
        "age": rng.integers(18, 90, ROWS),
        "code": rng.choice([7310511, 7310512, 7310513], ROWS),
        "left": rng.choice(["Zqx-left", "b"], ROWS),
        "note": [f"Zqx-note {i}" for i in range(ROWS)],
        "household": [f"Zqx-house {i}" for i in household],
    }
    return pd.DataFrame(facts | {"churn": np.where(household % 3 == 0, "Zqx-yes", "Zqx-no")})


def published(path):
    """A file of public facts: the bounds and categories of the columns that the audit `attacking` keeps."""
    columns = {"region": ["Zqx-north", "Zqx-süd"], "income": [0, 80000], "age": [18, 90], "code": [7310510, 7310514]}
    facts = {"source": "a census", "records": ROWS, "task": "classification", "target": ["Zqx-no", "Zqx-yes"]}
    path.write_text(yaml.safe_dump(facts | {"columns": columns}), encoding="utf-8")


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    """A project of its own, and an owner's folder beside it."""
    checkout = Checkout(tmp_path_factory.mktemp("secrets") / "memaudit")
    desk = checkout.folder.parent / "desk"
    desk.mkdir()
    table().to_csv(desk / "table.csv", index=False, sep=";", encoding="latin-1")
    published(desk / "public.yaml")
    return checkout


def values_in(folders):
    """Files that hold a secret, outside the folders for the copies of the table; and the number of those searched."""
    found, searched = [], 0
    for folder in folders:
        copies = [folder / name for name in OWN_COPIES]
        for path in folder.rglob("*"):
            if not path.is_file() or path.is_symlink() or path.suffix == ".py":
                continue
            if any(copy in path.parents for copy in copies):
                continue
            searched += 1
            content = path.read_bytes()
            if path.suffix == ".parquet":
                content += pd.read_parquet(path).to_csv().encode()
            found += [(str(path), word) for word in SECRETS if any(form in content for form in forms(word))]
    return found, searched


def forms(word):
    """The bytes of a value in the encodings, and escapes, that a file may have."""
    return {word.encode(), word.encode("latin-1"), ascii(word)[1:-1].encode()}


def options():
    """Every option of the command, by its long name."""
    audit = audit_options.parser()._subparsers._group_actions[0].choices["audit"]
    return {action.option_strings[-1] for action in audit._actions if action.option_strings}


def test_every_option_belongs_to_an_audit():
    given = {argument for arguments in AUDITS.values() for argument in arguments if argument.startswith("--")}
    assert options() == given | SHOWING | PREDICTIONS | COMMAND


@pytest.mark.parametrize("name", AUDITS)
def test_no_value_is_outside_the_copies_of_the_table(project, name):
    desk = project.folder.parent / "desk"
    into = desk / name
    arguments = [one.format(public="public.yaml", into=into) for one in AUDITS[name]]
    command = [sys.executable, "-m", "memaudit", "audit", "table.csv", "--target", "churn", *arguments]
    done = subprocess.run(
        command, cwd=desk, env=project.environment | {"OMP_NUM_THREADS": "1"}, capture_output=True, check=False
    )
    printed = done.stdout + done.stderr
    assert done.returncode == 0, printed.decode()
    assert not [word for word in SECRETS if any(form in printed for form in forms(word))]
    found, searched = values_in([into, project.folder / ".snakemake"])
    assert found == []
    assert searched > 30
    assert sorted(path.name for path in desk.iterdir() if path.name not in AUDITS) == ["public.yaml", "table.csv"]
    assert not [path for path in Path(into).rglob("*") if not path.is_symlink() and os.stat(path).st_mode & 0o077]
