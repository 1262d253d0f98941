"""Hold the columns that the config names of local tables to the headers of their files, before a run's first job.

python workflow_scripts/maintenance/check_tables.py --params '{"tables": {"customers": {"path": "customers.csv",
    "delimiter": null, "encoding": null, "task": "classification", "target": "churn", "group": null, "drop": [],
    "types": {}}}}'
"""

from pathlib import Path

from memaudit.common.errors import AuditError
from memaudit.data.column_schema import Roles, check_roles
from memaudit.data.table_headers import column_names
from memaudit.workflow.job import run

ROLES = ("task", "target", "group", "drop", "types")


def main(job):
    faults = []
    for name, entry in job.params.tables.items():
        try:
            known = column_names(entry, Path(entry["path"]).expanduser())
            check_roles(known, Roles(**{key: entry[key] for key in ROLES}))
        except AuditError as error:
            faults.append(f"data set {name} (file {entry['path']}): {error}")
    if faults:
        raise AuditError("; ".join(faults))


if __name__ == "__main__":
    run(main, globals())
