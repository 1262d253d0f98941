"""An edit reruns exactly what it can change: the digest follows imports, not mtimes."""

import shutil

import pytest

from memaudit.workflow import digest as module

FILES = {
    "job.py": "import pkg_marker\n",
    "study_fit.py": "from memaudit.models import deep\nfrom memaudit import io\n",
    "study_plot.py": "from memaudit.plotting.figure_style import save\n",
    "memaudit/__init__.py": "",
    "memaudit/io.py": "import json\n",
    "memaudit/models/__init__.py": "",
    "memaudit/models/deep.py": "from .layers import block\n\n\ndef fit():\n    return block\n",
    "memaudit/models/layers.py": "def block():\n    return 1\n",
    "memaudit/plotting/templates/page.html": "<p>{{ said }}</p>",
    "memaudit/plotting/__init__.py": "",
    "memaudit/plotting/figure_style.py": "def save():\n    from memaudit import io\n    return io\n",
}


@pytest.fixture
def tree(tmp_path, monkeypatch):
    for name, text in FILES.items():
        path = tmp_path / "scripts" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    (tmp_path / "envs").mkdir()
    (tmp_path / "envs" / "one.yaml").write_text("# made by hand\n- torch==2.13.0\n")
    monkeypatch.setattr(module, "SCRIPTS", tmp_path / "scripts")
    monkeypatch.setattr(module, "ENVS", tmp_path / "envs")
    clear()
    yield tmp_path
    clear()


def clear():
    for cached in (module.digest, module._module, module._reached, module._files, module._pins):
        cached.cache_clear()


def changed(tree, name, text):
    """Scripts whose digest changes when `name` holds `text` instead."""
    scripts = ["study_fit", "study_plot"]
    before = {script: module.digest(script, "one") for script in scripts}
    shutil.copy(tree / name, tree / "kept")
    (tree / name).write_text(text)
    clear()
    after = {script: module.digest(script, "one") for script in scripts}
    shutil.copy(tree / "kept", tree / name)
    clear()
    return {script for script in scripts if before[script] != after[script]}


def test_a_relative_import_counts(tree):
    assert changed(tree, "scripts/memaudit/models/layers.py", "def block():\n    return 2\n") == {"study_fit"}


def test_an_import_inside_a_function_counts(tree):
    assert changed(tree, "scripts/memaudit/io.py", "import csv\n") == {"study_fit", "study_plot"}


def test_a_parent_package_counts(tree):
    assert changed(tree, "scripts/memaudit/plotting/__init__.py", "DPI = 300\n") == {"study_plot"}
    assert changed(tree, "scripts/memaudit/__init__.py", "X = 1\n") == {"study_fit", "study_plot"}


def test_a_template_beside_a_module_counts_for_who_reaches_it(tree):
    assert changed(tree, "scripts/memaudit/plotting/templates/page.html", "<h1>{{ said }}</h1>") == {"study_plot"}


def test_a_comment_a_docstring_and_layout_do_not_count(tree):
    text = '"""Said."""\n\n\ndef block():\n    """Also said."""\n    # why\n    return (\n        1\n    )\n'
    assert changed(tree, "scripts/memaudit/models/layers.py", text) == set()


def test_a_string_that_is_no_docstring_counts(tree):
    assert changed(tree, "scripts/memaudit/models/layers.py", "def block():\n    return 'one'\n") == {"study_fit"}


def test_a_pin_counts_and_its_comment_does_not(tree):
    assert changed(tree, "envs/one.yaml", "- torch==2.14.0\n") == {"study_fit", "study_plot"}
    assert changed(tree, "envs/one.yaml", "# other words\n- torch==2.13.0  # why\n") == set()


def test_moving_code_between_modules_counts(tree):
    before = module.digest("study_fit", "one")
    (tree / "scripts/memaudit/models/layers.py").rename(tree / "scripts/memaudit/models/blocks.py")
    (tree / "scripts/memaudit/models/deep.py").write_text(FILES["memaudit/models/deep.py"].replace("layers", "blocks"))
    clear()
    assert module.digest("study_fit", "one") != before


def test_an_unknown_script_or_environment_is_an_error(tree):
    with pytest.raises(FileNotFoundError):
        module.digest("no_such_script", "one")
    with pytest.raises(FileNotFoundError):
        module.digest("study_fit", "none")
