"""`./memaudit provenance FOLDER`: check the files of a finished audit, back to the copy of the table, by hash."""

import contextlib
import sys
from pathlib import Path

from memaudit.auditing import prediction_audit
from memaudit.auditing.reading.source_file import expanded
from memaudit.auditing.runner import COPIED, PDF
from memaudit.auditing.running import stages
from memaudit.common.checksums import sha256
from memaudit.common.errors import AuditError, printable
from memaudit.common.io import read_json
from memaudit.common.screen_lines import show
from memaudit.workflow.provenance import check_unused, results_of, verify

SOUND, FAULT = 0, 1
ENDS = ("audit",)
# Folder of the results of each stage that a summary may be of.
MADE = {stage: f"results/{stage}/audit/{stages.NAME}" for stage in ("quick", "full")}
MADE |= {prediction_audit.STAGE: "results/predictions/audit/predictions"}
AGAIN = "give the audit's command again"


def main(folder: str) -> int:
    """Check an audit's folder and print what was found; returns the exit code."""
    path = expanded(folder)
    try:
        if not path.is_dir():
            raise AuditError("there is no such folder; give that of an audit, such as audit-customers")
        with contextlib.chdir(path):  # sidecars name files from there
            files = _verified()
    except AuditError as error:
        print(f"memaudit: {folder!r}: {printable(str(error))}", file=sys.stderr)
        return FAULT
    show([f"{folder!r}: {', '.join(COPIED.values())} and the {files} files behind them agree with the sidecars"])
    if (path / PDF).exists():
        show([f"{PDF} is not checked: it is printed from {COPIED['index.html']}"])
    return SOUND


def _verified() -> int:
    """Number of files behind the results of the audit in the current folder. Raises AuditError."""
    if missing := [copy for copy in COPIED.values() if not Path(copy).is_file()]:
        raise AuditError(f"{missing[0]}: is not there, so that this is no finished audit; {AGAIN}")
    made = _results()
    run = Path(*made.parts[:2])
    if not results_of(run, ENDS):
        raise AuditError(f"{made}: holds no results any more, as after a job that has failed; {AGAIN}")
    checked = verify(run, ENDS, remedy=lambda path: f"delete it, and {AGAIN}", unmade=AGAIN)
    check_unused(run, checked.hashes)
    for name, copy in COPIED.items():
        if sha256(copy) != checked.hashes.get(str(made / name)):
            raise AuditError(f"{copy}: was changed, it differs from {made / name}; {AGAIN}, which copies it")
    return len(checked.hashes)


def _results() -> Path:
    """Folder of the results that the files at the top are copies of. Raises AuditError where the summary names none."""
    try:
        summary = read_json(COPIED["summary.json"])
        stage = summary.get("stage", summary.get("kind"))
        return Path(MADE[stage])
    except (AuditError, AttributeError, KeyError, TypeError):
        raise AuditError(f"{COPIED['summary.json']}: was changed, it is no audit's summary; {AGAIN}") from None
