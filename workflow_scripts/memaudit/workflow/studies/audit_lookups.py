"""Look-ups of rules/audit.smk: what the section `audit` requests of a user's table."""

from collections.abc import Callable

from memaudit.common.command_name import program
from memaudit.common.errors import AuditError
from memaudit.workflow.study import Study

MAIN = "main"


class Audit(Study):
    """The audit of one table; most configs have none (`config` is None), and then no rule of it can run."""

    name = "audit"

    @property
    def dataset(self) -> str:
        """The audited table; without an audit a name that no table has."""
        return self.config["dataset"] if self.config else "-"

    @property
    def other_models(self) -> list[str]:
        """Arms whose models are compared with the audited one."""
        return [arm for arm in self.config["models"] if arm != MAIN] if self.config else []

    def complete(self, files: Callable, threat: str | None = None) -> Callable:
        """An input function: these files in the second stage, if the threat is requested; [] in the first stage."""
        return lambda wildcards: (
            files(wildcards) if self.config["complete"] and threat in (None, *self.config["threats"]) else []
        )

    def facts(self, wildcards) -> str:
        """The file with the true names of columns and the counts of rows."""
        return self.config["facts"]

    def group_scores(self, wildcards) -> str:
        """Differences between groups of records."""
        return f"<results>/scores/audit/{wildcards.dataset}/groups.parquet"

    def group_names(self, wildcards) -> str:
        """Names of these groups."""
        return f"<results>/data/{wildcards.dataset}/groups.json"

    def mitigations(self, wildcards) -> str:
        """Leakage and accuracy under each mitigation."""
        return f"<results>/scores/audit/{wildcards.dataset}/mitigations.parquet"

    def private(self, wildcards) -> list[str]:
        """Accuracy and leakage of private contexts, if epsilons are requested."""
        folder = f"<results>/scores/tabpate/{wildcards.dataset}"
        return [f"{folder}/utility.parquet", f"{folder}/attack.parquet"] if self.config["epsilons"] else []

    def public(self, wildcards) -> str | list[str]:
        """The public facts that private contexts may use."""
        return self.run.config["datasets"][wildcards.dataset]["public"] if self.config["epsilons"] else []

    def tuned(self, wildcards) -> list[str]:
        """Results of the probes of fine-tuned models, if they are requested."""
        found = [f"<results>/scores/iclmem/{wildcards.dataset}/results.parquet"]
        return [*found, "<results>/scores/iclmem/outcomes.parquet"] if self.config["finetune"] else []

    def inference(self, wildcards) -> list[str]:
        """Attribute inference and linking, if a column is named or linkability is requested."""
        wanted = self.config["infer"] or "linkability" in self.config["threats"]
        return [f"<results>/scores/audit/{wildcards.dataset}/inference.parquet"] if wanted else []

    def target(self, wildcards) -> str:
        """The page that `snakemake audit` makes."""
        if self.config is None:
            raise AuditError(f"audit: this config has no section `audit`; `{program()} audit TABLE` writes one")
        return f"<results>/audit/{self.config['dataset']}/index.html"
