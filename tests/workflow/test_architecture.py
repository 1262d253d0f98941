"""The rules of the house as tests: layers, one place for a method, names, sizes, and a test file for every module."""

import ast
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from conftest import PROJECT

SCRIPTS = PROJECT / "workflow_scripts"
LIBRARY = SCRIPTS / "memaudit"
MODULES = {path: ".".join(path.relative_to(SCRIPTS).with_suffix("").parts) for path in sorted(LIBRARY.rglob("*.py"))}
# What a package may import beside itself, the modules at the library's root and the plumbing of `workflow/`.
LAYERS = {
    "workflow": {"config", "data", "models", "privacy"},
    "config": set(),
    "data": set(),
    "models": set(),
    "attacks": {"models"},
    "privacy": {"config", "data", "models"},
    "statistics": {"attacks", "data", "privacy"},
    "studies": {"attacks", "data", "models", "privacy", "statistics"},
    "gpu_measurements": {"attacks", "models", "statistics"},
    "plotting": {"attacks"},
    "report": {"plotting", "statistics"},
    "auditing": {"config", "data", "privacy", "report"},
}
# What the plumbing offers to everybody; the rest of `workflow/` is for scripts and rules.
PLUMBING = {"progress_bar", "project_paths", "bench_card", "job"}
STUDIES = ("lira", "attacks", "tabpate", "iclmem", "ltmia", "predict")
STATISTICS = re.compile(
    r"\b(np\.(nan)?(quantile|percentile)|norm\.(ppf|cdf|sf|isf|pdf|logpdf)|roc_curve|roc_auc_score|mannwhitneyu"
    r"|rankdata|ks_2samp|wilcoxon|ttest_\w+|false_discovery_control)\b"
)
# Modules whose only test is that of another module, each with the reason.
TESTED_ELSEWHERE = {
    "arrays": "type aliases alone",
    "errors": "one class without a line of code",
}
# Basenames that stand twice because they are the same thing in two studies or layers.
SAME_THING: set[str] = set()
# Words that readers from the field do not know, or that mean something else to them (docs/glossary.md).
UNCLEAR = re.compile(
    r"\b(foretell\w*|foretold|spoilt|twins|nobody's|as much fewer|thrown again|what is what|accusation is worth)\b",
    re.I,
)


def package_of(path: Path) -> str:
    parts = path.relative_to(LIBRARY).parts
    return parts[0] if len(parts) > 1 else ""


def imported(path: Path) -> Iterator[str]:
    """Names of modules, and of what they hold, that a file imports when it runs or for its types."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)


def library_modules(path: Path) -> set[str]:
    """Modules of the library that a file imports, by dotted name."""
    names = set(MODULES.values())
    return {name for name in imported(path) if name in names}


@pytest.mark.parametrize("package", LAYERS)
def test_nothing_imports_upward(package):
    for path in (path for path in MODULES if package_of(path) == package):
        used = {name.split(".")[1] for name in library_modules(path) if name.count(".") > 1}
        assert not used - LAYERS[package] - {package, "workflow"}, path


def test_the_library_uses_of_the_plumbing_what_is_offered():
    for path in (path for path in MODULES if package_of(path) not in {"workflow", "auditing", "report"}):
        used = {name.split(".")[2] for name in library_modules(path) if name.startswith("memaudit.workflow.")}
        assert used <= PLUMBING, path


def test_a_study_never_imports_another():
    for study in STUDIES:
        for path in (LIBRARY / "studies" / study).glob("*.py"):
            used = {name.split(".")[2] for name in library_modules(path) if name.startswith("memaudit.studies.")}
            assert used <= {study}, path


def test_every_package_has_its_place():
    assert {package_of(path) for path in MODULES if path.name == "__init__.py"} - {""} == LAYERS.keys()


def test_at_most_eight_modules_stand_at_the_librarys_root():
    assert len(list(LIBRARY.glob("*.py"))) <= 8


def test_the_library_does_not_know_snakemake():
    for path in MODULES:
        assert not any(name.split(".")[0] == "snakemake" for name in imported(path)), path


def test_statistics_are_made_in_statistics_and_attacks_alone():
    for path in SCRIPTS.rglob("*.py"):
        if not path.is_relative_to(LIBRARY) or package_of(path) not in {"statistics", "attacks"}:
            assert not STATISTICS.search(path.read_text(encoding="utf-8")), path


def test_a_script_never_imports_a_script():
    folders = {path.name for path in SCRIPTS.iterdir() if path.is_dir()} - {"memaudit"}
    for path in SCRIPTS.glob("*/*.py"):
        if not path.is_relative_to(LIBRARY):
            own = {script.stem for script in path.parent.glob("*.py")}
            assert not {name.split(".")[0] for name in imported(path)} & (folders | own), path


def test_packages_are_empty_at_the_door():
    """Every digest and every script pays for an `__init__`: what stands there reruns all."""
    for path in MODULES:
        if path.name == "__init__.py" and path.parent != LIBRARY:
            assert not path.read_text(encoding="utf-8").strip(), path


def test_every_module_has_a_test_file_of_its_name():
    lacking = set()
    for path, name in MODULES.items():
        test = PROJECT / "tests" / path.relative_to(SCRIPTS).with_name(f"test_{path.stem}.py")
        if path.stem not in {"__init__", "__main__"} and not test.exists():
            lacking.add(name.removeprefix("memaudit."))
    assert lacking == TESTED_ELSEWHERE.keys()


def test_every_test_of_the_library_stands_where_its_module_does():
    for test in (PROJECT / "tests" / "memaudit").rglob("test_*.py"):
        folder = SCRIPTS / test.parent.relative_to(PROJECT / "tests")
        assert (folder / f"{test.stem.removeprefix('test_')}.py").exists(), test


def test_a_basename_stands_once():
    names = Counter(path.stem for path in MODULES if path.stem != "__init__")
    assert {name for name, count in names.items() if count > 1} == SAME_THING


def test_at_most_a_tenth_of_the_lines_of_rules_stands_in_files_without_a_rule():
    lines = {path: len(path.read_text(encoding="utf-8").splitlines()) for path in (PROJECT / "rules").rglob("*.smk")}
    without = [path for path in lines if not re.search(r"^ *(rule|use rule)\b", path.read_text(encoding="utf-8"), re.M)]
    assert sum(lines[path] for path in without) <= 0.1 * sum(lines.values()), without
    assert len((PROJECT / "Snakefile").read_text(encoding="utf-8").splitlines()) < 60


def test_no_text_speaks_the_private_dialect():
    texts = [*SCRIPTS.rglob("*.py"), *(PROJECT / "rules").rglob("*.smk"), *(PROJECT / "config").rglob("*.yaml")]
    for path in [*texts, *(PROJECT / "docs").glob("*.md"), PROJECT / "README.md"]:
        # The glossary explains them, and results.md quotes sentences of published runs.
        quotes = path.name in {"glossary.md", "results.md"}
        found = None if quotes else UNCLEAR.search(path.read_text(encoding="utf-8"))
        assert not found, (path, found)


def test_nobody_needs_a_pythonpath():
    """`make .venv` installs the library: `import memaudit` works in any folder and in a notebook."""
    for path in [PROJECT / "README.md", *(PROJECT / "docs").glob("*.md")]:
        assert "PYTHONPATH=" not in path.read_text(encoding="utf-8"), path
