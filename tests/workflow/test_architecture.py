"""What keeps five studies one: scores are calibrated in one place, judged in one place, and nothing imports upward."""

import ast
import re

import pytest
from conftest import PROJECT

LIBRARY = PROJECT / "workflow_scripts" / "memaudit"
# What a package may import beside itself and the modules that stand at the library's top.
LAYERS = {
    "config": set(),
    "data": set(),
    "models": set(),
    "attacks": {"models"},
    "calibration": set(),
    "privacy": {"config", "data", "models"},
    "evaluation": {"calibration", "privacy"},
    "plotting": set(),
    "report": {"evaluation"},
    "auditing": {"config", "data", "privacy", "report"},
}
STATISTICS = re.compile(
    r"\b(np\.(nan)?(quantile|percentile)|norm\.(ppf|cdf|sf|isf|pdf|logpdf)|roc_curve|roc_auc_score)\b"
)


def imported(path):
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom):
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)


@pytest.mark.parametrize("package", LAYERS)
def test_nothing_imports_upward(package):
    assert list((LIBRARY / package).glob("*.py"))
    for path in (LIBRARY / package).glob("*.py"):
        used = {name.split(".")[1] for name in imported(path) if name.startswith("memaudit.")}
        assert not (used & LAYERS.keys()) - LAYERS[package] - {package}, path


def test_every_package_has_its_place():
    assert {path.parent.name for path in LIBRARY.glob("*/__init__.py")} == LAYERS.keys()


def test_the_library_does_not_know_snakemake():
    for path in LIBRARY.rglob("*.py"):
        assert not any(name.split(".")[0] == "snakemake" for name in imported(path)), path


def test_quantiles_and_rocs_are_taken_in_calibration_and_evaluation_alone():
    for path in (PROJECT / "workflow_scripts").rglob("*.py"):
        if path.parent.name not in {"calibration", "evaluation"}:
            assert not STATISTICS.search(path.read_text(encoding="utf-8")), path


def test_a_script_never_imports_a_script_and_is_called_like_no_package():
    scripts = {path.stem for path in (PROJECT / "workflow_scripts").glob("*.py")}
    for path in (PROJECT / "workflow_scripts").glob("*.py"):
        assert not {name.split(".")[0] for name in imported(path)} & scripts, path


def test_packages_are_empty_at_the_door():
    """Every digest and every script pays for an `__init__`: what stands there reruns all."""
    for path in LIBRARY.glob("*/__init__.py"):
        assert not path.read_text(encoding="utf-8").strip(), path
