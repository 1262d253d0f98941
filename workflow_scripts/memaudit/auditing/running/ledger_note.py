"""The line in the ledger's folder about an audit that measures private contexts: a later release must state it."""

import tempfile
from pathlib import Path

from memaudit.auditing.reading import source_file
from memaudit.auditing.reading.request import Request
from memaudit.common.project_paths import PROJECT


def note_audit(request: Request, folder: Path) -> None:
    """Write down in the user's ledger that private contexts of the table are measured; nothing is charged.

    folder: of the audit, private to its owner. The file is read as a release reads it: the copy of the audit has other
    names and types. Raises AuditError for a ledger that cannot be used.
    """
    # SciPy, which accounts for noise, is slow to import: `--help` need not wait for it.
    from memaudit.privacy.ledger import Ledger, default_folder
    from memaudit.privacy.ledger_lines import PrivateTable
    from memaudit.privacy.private_table_reader import row_texts

    with tempfile.TemporaryDirectory(dir=folder / "table") as private:
        raw = source_file.fetched(request.table, Path(private), request.encoding, request.delimiter).raw
        table = PrivateTable(Path(request.table).name, row_texts(raw))
        Ledger(default_folder(PROJECT)).note(table, "an audit with private contexts (memaudit audit --epsilon)")
