"""Look-ups of rules/predictions.smk: what the section `predictions` requests of a user's files."""

from memaudit.common.command_name import program
from memaudit.common.errors import AuditError
from memaudit.workflow.study import Study


class Predictions(Study):
    """The audit of files of predictions; most configs have none (`config` is None), and then no rule of it can run."""

    name = "predictions"

    def table(self, wildcards) -> str:
        """The copy of the predictions."""
        return self._file("table")

    def facts(self, wildcards) -> str:
        """The file with the true names of columns and the counts of rows."""
        return self._file("facts")

    def _file(self, key: str) -> str:
        if self.config is None:
            raise AuditError(
                f"predictions: this config has no section `predictions`; `{program()} audit --predictions` writes one"
            )
        return self.config[key]
