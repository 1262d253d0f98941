"""Write down in the ledger of a private table that this study measures private contexts on it; nothing is charged.

python workflow_scripts/tabpate/note_table.py --input raw.parquet --output noted.json \
    --wildcards '{"dataset": "customers"}' --params '{"run": "mine", "ledger": null}'

A later release of the table names the study in its statement: its settings may have been chosen by what is shown here.
"""

from memaudit.common.io import write_json
from memaudit.common.project_paths import PROJECT
from memaudit.privacy.ledger import Ledger, default_folder
from memaudit.privacy.ledger_lines import PrivateTable
from memaudit.privacy.private_table_reader import row_texts
from memaudit.workflow.job import run


def main(job):
    ledger = Ledger(job.params.ledger or default_folder(PROJECT))
    noted = f"a study of private contexts (tabpate, run {job.params.run})"
    ledger.note(PrivateTable(job.wildcards.dataset, row_texts(job.input[0], job.threads)), noted)
    write_json({"noted": noted, "ledger": str(ledger.path)}, job.output[0])


if __name__ == "__main__":
    run(main, globals())
