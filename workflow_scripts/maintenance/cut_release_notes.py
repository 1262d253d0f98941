"""Print the notes of a release, cut from CHANGELOG.md, where the tag is the version of the project.

python workflow_scripts/maintenance/cut_release_notes.py v0.1.0 > notes.md

Standard library alone: the release is made without the environment.
"""

import re
import sys
import tomllib
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[2]


def release_notes(tag: str, project: Path = PROJECT) -> str:
    """Return the section of CHANGELOG.md on the version of a tag v<version>, without its heading.

    Raises ValueError where the tag is not the project's version, or the section is missing, undated or empty.
    """
    version = tomllib.loads((project / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"]
    cited = re.findall(r"^version: (.+)$", (project / "CITATION.cff").read_text(encoding="utf-8"), re.MULTILINE)
    if tag != f"v{version}":
        raise ValueError(f"tag {tag}: pyproject.toml has version {version}; tag v{version}, or change the version")
    if cited != [version]:
        raise ValueError(f"CITATION.cff: its version is {', '.join(cited) or 'missing'}, pyproject.toml has {version}")
    changelog = (project / "CHANGELOG.md").read_text(encoding="utf-8")
    heading, _, notes = _section(changelog, version).partition("\n")
    if not re.fullmatch(r"\d{4}-\d\d-\d\d", heading):
        raise ValueError(f"CHANGELOG.md: {version} is ({heading}); write the date of the release, YYYY-MM-DD")
    if not notes.strip():
        raise ValueError(f"CHANGELOG.md: the section on {version} is empty; say what users notice")
    return f"{notes.strip()}\n"


def _section(changelog: str, version: str) -> str:
    """What stands in brackets in the heading of a version, and the text below it."""
    found = re.search(rf"^## {re.escape(version)} \(([^)]*)\)$(.*?)(?=^## |\Z)", changelog, re.MULTILINE | re.DOTALL)
    if not found:
        raise ValueError(
            f"CHANGELOG.md: has no heading `## {version} (YYYY-MM-DD)`; give the section of the release one"
        )
    return f"{found[1]}{found[2]}"


def main(arguments: list[str]) -> None:
    """Print the notes, or end with one line that says what the release lacks."""
    if len(arguments) != 1:
        sys.exit("usage: python workflow_scripts/maintenance/cut_release_notes.py v<version>")
    try:
        sys.stdout.write(release_notes(arguments[0]))
    except ValueError as error:
        sys.exit(f"memaudit: {error}")


if __name__ == "__main__":
    main(sys.argv[1:])
