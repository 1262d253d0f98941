"""The page that follows one record names files, rules and functions as they are, and few enough to be read."""

import ast
import re

from conftest import PROJECT

PAGE = (PROJECT / "docs/one-record.md").read_text(encoding="utf-8")
LIBRARY = PROJECT / "workflow_scripts/memaudit"
ROWS = [[cell.strip() for cell in line.split("|")[1:-1]] for line in PAGE.splitlines() if line.startswith("| ")][1:]
FUNCTION = re.compile(r"`([\w/]+\.py)` `(\w+)`")


def test_every_step_is_a_rule_that_runs_the_script_of_its_name():
    assert len(ROWS) == 8
    for _, rule, script, _ in ROWS:
        name, file = re.findall(r"`([^`]+)`", rule)
        path = script.strip("`")
        assert (PROJECT / path).exists()
        folder, stem = path.removesuffix(".py").split("/")[-2:]
        assert name.startswith(f"{folder}_{stem}")
        assert f"../{path}" in (PROJECT / file).read_text(encoding="utf-8")


def test_every_function_stands_where_the_page_says():
    found = FUNCTION.findall(PAGE)
    assert len(found) > 20
    for path, name in found:
        tree = ast.parse((LIBRARY / path).read_text(encoding="utf-8"))
        assert name in {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}, (path, name)


def test_a_reader_opens_at_most_forty_files():
    files = set(re.findall(r"`([\w/-]+\.(?:py|smk|yaml))`", PAGE.split("## An audit")[0]))
    assert 30 < len(files | {"README.md", "docs/one-record.md"}) <= 40
