"""What is published names no file or folder of the machine that made it."""

import pytest
from conftest import PROJECT

from memaudit.common.errors import AuditError
from memaudit.common.io import read_json
from memaudit.report.local_paths import refuse_local_paths as refuse


@pytest.mark.parametrize(
    "path",
    [
        "/root/tables/customers.csv",
        "/home/me/x",
        "/Users/me/x.csv",
        "~/facts.yaml",
        "~me/facts.yaml",
        "file:///data/x",
        "C:\\Users\\me\\x.csv",
        "\\\\server\\share\\x",
        "snakemake --configfile /tmp/mine.yaml",
        "public=/srv/facts.yaml",
        "(/mnt/disk)",
    ],
)
def test_a_path_of_the_machine_is_refused_with_its_place(path):
    with pytest.raises(AuditError, match=r"publish: config/datasets/1: '.*' is a path of this machine.*relative"):
        refuse({"config": {"datasets": ["wine", path]}})


def test_a_path_as_a_key_is_refused():
    with pytest.raises(AuditError, match="publish: config: '/data/mine"):
        refuse({"config": {"/data/mine/x.csv": 1}})


@pytest.mark.parametrize(
    "text",
    [
        "results/demo/tables/lira_claims.csv",
        "https://archive.ics.uci.edu/static/public/186/wine+quality.zip#winequality-red.csv",
        "docs/results.md, 1/2 of n/a and/or km/h",
        "tpr@0.01 / fpr, 5 / 8",
        "make demo",
        "</b></td>",
        "[results](../results.md)",
        3,
        None,
    ],
)
def test_relative_paths_addresses_and_fractions_are_published(text):
    refuse({"config": [text]})


def test_what_is_published_already_has_no_path_of_a_machine():
    for path in sorted((PROJECT / "docs/results").glob("*.json")):
        refuse(read_json(path))
