"""The rules of the house as tests: layers, one place for a method, names, sizes, and a test file for every module."""

import ast
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from conftest import PROJECT
from slurm.conftest import GPU_RULES

SCRIPTS = PROJECT / "workflow_scripts"
LIBRARY = SCRIPTS / "memaudit"
MODULES = {path: ".".join(path.relative_to(SCRIPTS).with_suffix("").parts) for path in sorted(LIBRARY.rglob("*.py"))}
# What a package may import beside itself and `common/`, lowest packages first.
LAYERS = {
    "common": set(),
    "claims": set(),
    "templating": set(),
    "config": set(),
    "data": set(),
    "models": set(),
    "attacks": {"models"},
    "privacy": {"config", "data", "models"},
    "statistics": {"attacks", "data", "privacy"},
    "studies": {"attacks", "data", "models", "privacy", "statistics"},
    "gpu_measurements": {"attacks", "data", "models", "statistics"},
    "plotting": {"attacks"},
    "workflow": {"config", "models", "privacy"},
    "rehearsal": {"data", "models", "workflow"},
    "report": {"claims", "plotting", "statistics", "templating"},
    "auditing": {"attacks", "config", "data", "models", "privacy", "templating"},
    "scanning": {"auditing", "data", "statistics"},
    "commands": {"auditing", "scanning", "statistics", "workflow"},
}
# Packages of auditing/: each imports those before it, and the modules beside them import all.
AUDITING = ("reading", "summaries", "running", "findings", "page", "predictions")
STUDIES = ("lira", "attacks", "audit", "tabpate", "iclmem", "ltmia", "predict")
STATISTICS = re.compile(
    r"\b(np\.(nan)?(quantile|percentile)|norm\.(ppf|cdf|sf|isf|pdf|logpdf)|roc_curve|roc_auc_score|mannwhitneyu"
    r"|rankdata|ks_2samp|wilcoxon|ttest_\w+|false_discovery_control)\b"
)
# Libraries of statistics, which are imported in `statistics/` and `attacks/` alone.
STATISTICS_LIBRARIES = ("scipy.stats", "sklearn.metrics", "statsmodels")
# Modules whose only test is that of another module, each with the reason.
TESTED_ELSEWHERE = {
    "attacks.attention_statistics": "names alone",
    "common.arrays": "type aliases alone",
    "common.cell_notations": "constants alone",
    "common.errors": "one class without a line of code",
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
    package = path.relative_to(SCRIPTS).parent.parts
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom):
            above = package[: len(package) - node.level + 1] if node.level else ()
            module = ".".join([*above, *([node.module] if node.module else [])])
            yield module
            yield from (f"{module}.{alias.name}" for alias in node.names)
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
        assert not used - LAYERS[package] - {package, "common"}, path


def test_a_study_never_imports_another():
    for study in STUDIES:
        for path in (LIBRARY / "studies" / study).glob("*.py"):
            used = {name.split(".")[2] for name in library_modules(path) if name.startswith("memaudit.studies.")}
            assert used <= {study}, path


def test_an_audits_packages_import_those_before_them():
    folder = LIBRARY / "auditing"
    assert {path.parent.name for path in folder.glob("*/__init__.py")} == set(AUDITING)
    for place, package in enumerate(AUDITING):
        for path in (folder / package).rglob("*.py"):
            used = {name.split(".")[2] for name in library_modules(path) if name.startswith("memaudit.auditing.")}
            assert used <= set(AUDITING[: place + 1]), path


def test_every_package_has_its_place():
    assert {package_of(path) for path in MODULES if path.name == "__init__.py"} - {""} == LAYERS.keys()


def test_the_map_of_the_library_has_every_package_below_what_it_imports():
    text = (PROJECT / "docs/how-it-is-built.md").read_text(encoding="utf-8")
    packages = re.findall(r"^\| `(\w+)/` \|", text.split("## The library")[1].split("## ")[0], re.MULTILINE)
    assert sorted(packages) == sorted(LAYERS)
    for place, package in enumerate(packages):
        assert LAYERS[package] <= set(packages[:place]), package


def test_at_most_eight_modules_stand_at_the_librarys_root():
    assert len(list(LIBRARY.glob("*.py"))) <= 8


def test_the_library_does_not_know_snakemake():
    for path in MODULES:
        assert not any(name.split(".")[0] == "snakemake" for name in imported(path)), path


def test_statistics_are_made_in_statistics_attacks_and_claims_alone():
    for path in SCRIPTS.rglob("*.py"):
        if not path.is_relative_to(LIBRARY) or package_of(path) not in {"attacks", "claims", "statistics"}:
            assert not STATISTICS.search(path.read_text(encoding="utf-8")), path
            assert not [name for name in imported(path) if name.startswith(STATISTICS_LIBRARIES)], path


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


def test_rules_of_studies_that_request_a_gpu_are_those_that_slurm_tests_expect():
    blocks = [
        block for path in (PROJECT / "rules").rglob("*.smk") for block in re.split(r"(?m)^rule ", path.read_text())[1:]
    ]
    on_gpu = {block.partition(":")[0]: "gpu=1" in block for block in blocks}
    studies = {name: gpu for name, gpu in on_gpu.items() if name.split("_")[0] in {*STUDIES} - {"audit"}}
    assert len(studies) > 60
    assert {name for name, gpu in studies.items() if gpu} == {name for name in studies if re.match(GPU_RULES, name)}


def test_a_basename_stands_once():
    names = Counter(path.stem for path in MODULES if path.stem != "__init__")
    assert {name for name, count in names.items() if count > 1} == SAME_THING


def outside_rules(lines: list[str]) -> int:
    """Number of lines that belong to no rule: before the first one, or indented no deeper than its first line."""
    count, depth = 0, None
    for line in lines:
        indent = len(line) - len(line.lstrip())
        if depth is not None and indent <= depth:
            depth = None
        if re.match(r" *(use )?rule\b", line):
            depth = indent
        count += depth is None
    return count


def test_at_most_a_tenth_of_the_lines_of_rules_stands_outside_rules():
    files = [path.read_text(encoding="utf-8").splitlines() for path in (PROJECT / "rules").rglob("*.smk")]
    filled = [[line for line in lines if line.strip()] for lines in files]
    assert sum(map(outside_rules, filled)) <= 0.1 * sum(map(len, filled))
    assert outside_rules(["X = 1", "rule a:", "    input:", "for b in c:", "    rule:", "        output:"]) == 2
    assert len((PROJECT / "Snakefile").read_text(encoding="utf-8").splitlines()) < 60


def test_no_text_speaks_the_private_dialect():
    texts = [*SCRIPTS.rglob("*.py"), *(PROJECT / "rules").rglob("*.smk"), *(PROJECT / "config").rglob("*.yaml")]
    for path in [*texts, *(PROJECT / "docs").glob("*.md"), PROJECT / "README.md"]:
        # The glossary explains them, and results.md quotes sentences of published runs.
        quotes = path.name in {"glossary.md", "results.md"}
        found = None if quotes else UNCLEAR.search(path.read_text(encoding="utf-8"))
        assert not found, (path, found)


def test_no_docstring_begins_with_a_question():
    kinds = ast.Module | ast.ClassDef | ast.FunctionDef
    for path in SCRIPTS.rglob("*.py"):
        documented = [node for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))) if isinstance(node, kinds)]
        first = [re.split(r"(?<=[.?!])\s", ast.get_docstring(node) or "", maxsplit=1)[0] for node in documented]
        assert not [sentence for sentence in first if sentence.endswith("?")], path


def test_nobody_needs_a_pythonpath():
    """`make .venv` installs the library: `import memaudit` works in any folder and in a notebook."""
    for path in [PROJECT / "README.md", *(PROJECT / "docs").glob("*.md")]:
        assert "PYTHONPATH=" not in path.read_text(encoding="utf-8"), path
