"""What is published of a run, and of which one."""

import pytest
from conftest import PROJECT, load_script

from memaudit.common.errors import AuditError

SCRIPT = load_script("maintenance_publish_results")


def test_a_run_that_the_catalogue_lacks_is_refused_with_the_nearest_name():
    catalogue = str(PROJECT / "config/published_runs.yaml")
    assert SCRIPT._of_catalogue(catalogue, "demo") == {"command": "make demo", "tables": []}
    with pytest.raises(AuditError, match=r"published_runs\.yaml: no run 'lirra'; did you mean `lira`\?"):
        SCRIPT._of_catalogue(catalogue, "lirra")


def test_a_rule_of_several_views_is_published_with_the_code_of_each():
    records = [
        {"rule": "b", "code": "2"},
        {"rule": "b", "code": "1"},
        {"rule": "a", "code": "3"},
        {"rule": "b", "code": "2"},
    ]
    assert SCRIPT._code(records) == {"a": "3", "b": "1 2"}
