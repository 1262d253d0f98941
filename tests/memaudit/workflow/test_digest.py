"""An edit reruns exactly what it can change: the digest follows content and imports, not paths, wording or mtimes."""

import pytest

from memaudit.common.project_paths import SCRIPTS
from memaudit.workflow import digest as module

FILES = {
    "study/fit.py": '''"""Fit.

python workflow_scripts/study/fit.py
"""
import numpy as np

from memaudit.attacks import lira
from memaudit.common.progress_bar import steps
from memaudit.models import deep
from memaudit.workflow.job import run


def main(job):
    for _ in steps(range(3)):
        lira.score(deep.fit())


run(main)
''',
    "study/plot.py": "from memaudit.plotting.style import save\n\n\ndef main(job):\n    save()\n",
    "memaudit/__init__.py": "",
    "memaudit/errors.py": "class AuditError(Exception):\n    pass\n",
    "memaudit/io.py": "import json\n\n\ndef write():\n    json.dumps(1)\n",
    "memaudit/attacks/__init__.py": "",
    "memaudit/attacks/lira.py": '''"""Scores."""
from memaudit.errors import AuditError


def score(x):
    """A score."""
    if x < 0:
        raise AuditError(f"{x} is negative; give another")
    return 2 * x  # why
''',
    "memaudit/models/__init__.py": "",
    "memaudit/models/deep.py": "from .layers import block\n\n\ndef fit():\n    return block()\n",
    "memaudit/models/layers.py": "def block():\n    return 1\n",
    "memaudit/plotting/templates/page.html": "<p>{{ number }}</p>",
    "memaudit/plotting/__init__.py": "",
    "memaudit/plotting/style.py": "def save():\n    from memaudit import io\n    return io\n",
    "memaudit/workflow/__init__.py": "",
    "memaudit/workflow/job.py": "def run(main):\n    main(1)\n",
    "memaudit/common/__init__.py": "",
    "memaudit/common/progress_bar.py": "def steps(rows):\n    return rows\n",
}
RULES = ["study_fit", "study_plot"]
FIGURES = ["lira", "attacks"]


@pytest.fixture
def tree(tmp_path, monkeypatch):
    for name, text in FILES.items():
        path = tmp_path / "scripts" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    (tmp_path / "envs").mkdir()
    (tmp_path / ".git").mkdir()
    (tmp_path / "envs" / "one.yaml").write_text("# made by hand\n- torch==2.13.0\n")
    monkeypatch.setattr(module, "SCRIPTS", tmp_path / "scripts")
    monkeypatch.setattr(module, "ENVS", tmp_path / "envs")
    clear()
    yield tmp_path
    clear()


def clear():
    for cached in vars(module).values():
        if hasattr(cached, "cache_clear"):
            cached.cache_clear()


def digests():
    clear()
    return {rule: module.digest(rule, "one") for rule in RULES}


def replaced(name, old, new):
    """An edit of one file of the tree."""

    def edit(tree):
        path = tree / "scripts" / name
        text = path.read_text()
        assert old in text
        path.write_text(text.replace(old, new))

    return edit


def moved(old, new, *importers):
    """A module under another name or in another package, its importers adapted."""

    def edit(tree):
        scripts = tree / "scripts"
        target = scripts / new
        target.parent.mkdir(exist_ok=True)
        (target.parent / "__init__.py").touch()
        (scripts / old).rename(target)
        for importer, before, after in importers:
            replaced(importer, before, after)(tree)

    return edit


def pinned(old, new):
    return lambda tree: (tree / "envs/one.yaml").write_text((tree / "envs/one.yaml").read_text().replace(old, new))


LIRA = "memaudit/attacks/lira.py"
# What an edit is, and the rules that it must rerun.
EDITS = {
    "a reworded error": (replaced(LIRA, "is negative; give another", "lies below 0: choose another"), set()),
    "another value in an error": (replaced(LIRA, 'f"{x} is', 'f"{abs(x)} is'), set()),
    "a comment": (replaced(LIRA, "# why", "# another reason"), set()),
    "a docstring": (replaced(LIRA, '"""A score."""', '"""Twice the value."""'), set()),
    "a script's docstring": (replaced("study/fit.py", "Fit.", "Fit it."), set()),
    "layout": (replaced(LIRA, "return 2 * x", "return (\n        2\n        * x\n    )"), set()),
    "the progress bar": (replaced("memaudit/common/progress_bar.py", "return rows", "return list(rows)"), set()),
    "the plumbing of jobs": (replaced("memaudit/workflow/job.py", "main(1)", "main(2)"), set()),
    "a module moved out of the plumbing's package": (
        moved(
            "memaudit/workflow/job.py",
            "memaudit/common/job_inputs.py",
            ("study/fit.py", "workflow.job import", "common.job_inputs import"),
        ),
        set(),
    ),
    "a module moved to another package": (
        moved(LIRA, "memaudit/calibration/lira.py", ("study/fit.py", "memaudit.attacks", "memaudit.calibration")),
        set(),
    ),
    "a module renamed": (
        moved(
            LIRA,
            "memaudit/attacks/likelihood_ratio.py",
            ("study/fit.py", "import lira", "import likelihood_ratio"),
            ("study/fit.py", "lira.score", "likelihood_ratio.score"),
        ),
        set(),
    ),
    "a module renamed that another module imports": (
        moved(
            "memaudit/models/layers.py",
            "memaudit/models/blocks.py",
            ("memaudit/models/deep.py", ".layers", "memaudit.models.blocks"),
        ),
        set(),
    ),
    "an import under another name": (
        lambda tree: (
            replaced("study/fit.py", "import lira", "import lira as ratio")(tree),
            replaced("study/fit.py", "lira.score", "ratio.score")(tree),
        ),
        set(),
    ),
    "a comment beside a pin": (pinned("2.13.0", "2.13.0  # why"), set()),
    "a formula": (replaced(LIRA, "2 * x", "3 * x"), {"study_fit"}),
    "another type of error": (replaced(LIRA, "raise AuditError", "raise ValueError"), {"study_fit"}),
    "the condition of an error": (replaced(LIRA, "x < 0", "x <= 0"), {"study_fit"}),
    "a module that is imported relatively": (replaced("memaudit/models/layers.py", "1", "2"), {"study_fit"}),
    "a string that is no docstring": (replaced("memaudit/models/layers.py", "return 1", "return '1'"), {"study_fit"}),
    "a module imported inside a function": (
        replaced("memaudit/io.py", "json.dumps(1)", "json.dumps(2)"),
        {"study_plot"},
    ),
    "another function of the same module": (replaced("memaudit/models/deep.py", "block", "other"), {"study_fit"}),
    "another library": (replaced("study/fit.py", "import numpy as np", "import scipy as np"), {"study_fit"}),
    "a package's own code": (
        lambda tree: (tree / "scripts/memaudit/plotting/__init__.py").write_text("DPI = 300\n"),
        {"study_plot"},
    ),
    "a template": (replaced("memaudit/plotting/templates/page.html", "<p>", "<h1>"), {"study_plot"}),
    "a pin": (pinned("2.13.0", "2.14.0"), {"study_fit", "study_plot"}),
}


@pytest.mark.parametrize("edit", EDITS)
def test_an_edit_reruns_what_it_can_change(tree, edit):
    change, rerun = EDITS[edit]
    before = digests()
    change(tree)
    after = digests()
    assert {rule for rule in RULES if before[rule] != after[rule]} == rerun


def test_a_function_of_another_module_by_the_same_name_counts(tree):
    """Both modules are reached before and after; what changes is which one the name stands for."""
    scripts = tree / "scripts"
    (scripts / "memaudit/attacks/rmia.py").write_text("def score(x):\n    return x\n")
    text = (
        FILES["study/fit.py"]
        .replace("import lira", "import lira, rmia")
        .replace("lira.score(", "lira.score(rmia.score(1) or ")
    )
    (scripts / "study/fit.py").write_text(text)
    before = digests()
    (scripts / "study/fit.py").write_text(text.replace("lira.score(rmia.score", "rmia.score(lira.score"))
    assert digests()["study_fit"] != before["study_fit"]


def test_a_module_that_a_script_loads_by_name_reruns_the_jobs_that_load_it(tree):
    """An edit of one study's figures redraws the figures of this study alone."""

    def of_figures():
        clear()
        return {study: module.digest("study_plot", "one", f"memaudit.plotting.{study}_figures") for study in FIGURES}

    plotting = tree / "scripts/memaudit/plotting"
    for study in FIGURES:
        (plotting / f"{study}_figures.py").write_text(f"from memaudit.io import write\n\nSTUDY = '{study}'\n")
    before = of_figures()
    (plotting / "lira_figures.py").write_text("from memaudit.io import write\n\nSTUDY = 'LiRA'\n")
    after = of_figures()
    assert {study for study in FIGURES if before[study] != after[study]} == {"lira"}
    replaced("memaudit/io.py", "json.dumps(1)", "json.dumps(2)")(tree)
    assert not after.items() & of_figures().items(), "what a loaded module imports counts, too"
    with pytest.raises(ModuleNotFoundError, match=r"no module is named memaudit\.plotting\.none"):
        module.digest("study_plot", "one", "memaudit.plotting.none")


def test_the_plumbings_version_counts_everywhere(tree, monkeypatch):
    before = digests()
    # The number stands in a file: an edit of it is one of the files.
    monkeypatch.setattr(module, "KEPT", "other")
    monkeypatch.setattr(module, "WORKFLOW_VERSION", module.WORKFLOW_VERSION + 1)
    after = digests()
    assert all(before[rule] != after[rule] for rule in RULES)


def test_the_closure_holds_the_plumbing_too(tree):
    names = {path.relative_to(tree / "scripts").as_posix() for path in module.closure("study_fit")}
    assert "memaudit/common/progress_bar.py" in names
    assert "memaudit/models/layers.py" in names
    assert "memaudit/plotting/style.py" not in names


def test_an_unknown_script_or_environment_is_an_error(tree):
    with pytest.raises(FileNotFoundError):
        module.digest("no_such_script", "one")
    with pytest.raises(FileNotFoundError):
        module.digest("study_fit", "none")


def test_rules_and_scripts_go_by_one_another(tree):
    assert module.rule_of("workflow_scripts/lira/draw_designs.py") == "lira_draw_designs"
    assert module.script_of("lira_draw_designs") == tree / "scripts/lira/draw_designs.py"


@pytest.fixture(scope="module")
def after_a_new_attack():
    """Rules that a line in the registry of attacks runs again (docs/add-an-attack.md)."""
    registry = SCRIPTS / "memaudit/attacks/registry.py"
    rules = [module.rule_of(path) for path in SCRIPTS.glob("*/*.py") if path.parent.name != "memaudit"]
    return {rule for rule in rules if registry in module.closure(rule, plumbing=False)}


def test_a_new_attack_queries_no_model_again(after_a_new_attack):
    queries = {
        module.rule_of(path) for path in SCRIPTS.glob("*/*.py") if path.stem.startswith(("query_", "draw_", "probe_"))
    }
    assert len(queries) > 10
    assert not queries & after_a_new_attack


def test_a_new_attack_reruns_what_compares_the_registrys_attacks_alone(after_a_new_attack):
    """Who handles attacks that others choose imports `attack_entry`: these studies have attacks of their own."""
    compared = {"attacks_compare_attacks", "lira_compare_attacks", "audit_rate_records", "audit_write_page"}
    assert compared <= after_a_new_attack
    folders = {rule.partition("_")[0] for rule in after_a_new_attack}
    assert folders == {"attacks", "audit", "bench", "lira", "maintenance", "tabpate"}
    assert {rule for rule in after_a_new_attack if rule.startswith("tabpate")} == {"tabpate_attack_students"}
    assert "audit_judge_inference" not in after_a_new_attack


def test_the_hash_is_kept_until_any_file_is_edited(tree, monkeypatch):
    before = digests()
    with monkeypatch.context() as patched:
        patched.setattr(module, "_code", lambda *_: pytest.fail("parsed again"))
        assert digests() == before
    replaced("memaudit/attacks/lira.py", "2 * x", "3 * x")(tree)
    after = digests()
    assert after["study_fit"] != before["study_fit"]
    assert after["study_plot"] == before["study_plot"]


def test_a_file_that_is_edited_while_it_is_parsed_is_parsed_again_at_the_next_start(tree, monkeypatch):
    parsed = module._code

    def edited_meanwhile(*arguments):
        found = parsed(*arguments)
        replaced("memaudit/attacks/lira.py", "2 * x", "3 * x")(tree)
        return found

    with monkeypatch.context() as patched:
        patched.setattr(module, "_code", edited_meanwhile)
        clear()
        before = module.digest("study_fit", "one")
    after = digests()["study_fit"]
    assert after != before
    assert digests()["study_fit"] == after


def test_a_cache_that_cannot_be_read_or_written_costs_time_alone(tree, monkeypatch):
    before = digests()
    for path in (tree / module.KEPT).iterdir():
        path.write_bytes(b"\xff\xfe")
    assert digests() == before
    monkeypatch.setattr(module, "KEPT", "scripts/study/fit.py")
    assert digests() == before


def test_nothing_is_written_into_an_installation(tree):
    (tree / ".git").rmdir()
    assert len(set(digests().values())) == len(RULES)
    assert not (tree / module.KEPT).exists()
