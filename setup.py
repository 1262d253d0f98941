"""The wheel of memaudit: what runs of the workflow read, as it stands in a checkout, and a path file to its library.

`pip install --editable .` (`make .venv`) takes the library where it is instead, by pyproject.toml alone.
"""

import shutil
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py

FOLDER = "memaudit_workflow"
SHIPPED = (
    "Snakefile",
    "pyproject.toml",
    "requirements*.lock",
    "config/**/*",
    "docs/*.schema.json",
    "docs/captions/*",
    "envs/*",
    "profiles/**/*",
    "resources/**/*",
    "results/bench/private_gain.json",
    "results/bench/unit_costs.json",
    "rules/**/*",
    "workflow_scripts/**/*",
)
MADE = {"__pycache__", "memaudit.egg-info"}


def shipped() -> list[Path]:
    """Files of the wheel, relative to the project."""
    found = {path for pattern in SHIPPED for path in Path().glob(pattern) if path.is_file()}
    return sorted(path for path in found if not MADE & set(path.parts))


class BuildWorkflow(build_py):
    """Build the project's tree in place of the bare library, unless the installation is editable."""

    def run(self) -> None:
        """Copy the files and write the path file, into a folder that holds nothing of an earlier build."""
        if self.editable_mode:
            super().run()
            return
        shutil.rmtree(self.build_lib, ignore_errors=True)
        for path in shipped():
            target = Path(self.build_lib, FOLDER, path)
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(path, target)  # with its mode: a profile has a script
        # One library for scripts, rules and `import memaudit`: that beside the scripts, as in a checkout.
        Path(self.build_lib, "memaudit.pth").write_text(f"{FOLDER}/workflow_scripts\n", encoding="utf-8")

    def get_source_files(self) -> list[str]:
        """Files of the source distribution."""
        return [str(path) for path in shipped()]


setup(cmdclass={"build_py": BuildWorkflow})
