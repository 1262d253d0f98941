"""Look-ups of rules/release.smk: the release of a private context of a user's own table."""

import os
from typing import Any

from memaudit.common.errors import AuditError
from memaudit.workflow.run_config import RunConfig
from memaudit.workflow.study import Study


class Release(Study):
    """One release; most configs have none (`config` is None), and then no rule of it can run."""

    name = "release"

    def __init__(self, run: RunConfig):
        super().__init__(run)
        if self.config:
            self._check_facts()

    @property
    def dataset(self) -> str:
        """The released table; without a release a name that no table has."""
        return self.config["dataset"] if self.config else "-"

    def public(self, wildcards) -> str:
        """The file of the table's public facts."""
        return self.run.named(self.config["public"])

    def model(self, wildcards) -> str:
        """The card of the model that the released context is for."""
        return f"<results>/models/{self.config['model']}/model.json"

    def weights(self, wildcards) -> str:
        """Its weights."""
        return f"<results>/models/{self.config['model']}/weights"

    def settings(self, wildcards) -> dict[str, Any]:
        """What decides about a release, and what the statement says of it."""
        left_out = ("dataset", "public", "ledger", "bounds")
        return {key: value for key, value in self.config.items() if key not in left_out}

    def with_bounds(self, wildcards) -> dict[str, Any]:
        """The same, with the budget and the columns of the bounds that are paid for."""
        return self.settings(wildcards) | {"bounds": self.config["bounds"]}

    def ledger(self, wildcards) -> str | None:
        """The folder of the ledger; None: that of the user, which the job looks up."""
        return self.config["ledger"] and os.path.expanduser(self.config["ledger"])

    def table(self, wildcards) -> str:
        """The table as it was fetched."""
        self._require_section()
        return f"<results>/data/{self.dataset}/raw.parquet"

    def facts(self, wildcards) -> str:
        """Facts of the fetched table."""
        self._require_section()
        return f"<results>/data/{self.dataset}/raw.json"

    def gains(self, wildcards) -> str:
        """What private contexts of public tables have kept, for the plan."""
        return self.run.in_project("results/bench/private_gain.json")

    def entry(self, wildcards) -> dict[str, Any]:
        """How the table is read, by its entry in the catalogue."""
        entry = self.run.config["datasets"][self.dataset]
        # A key that is not given must not change the params of a release that stands: that would ask for another one.
        declared = {key: entry[key] for key in ("decimal",) if entry[key] is not None}
        return {key: entry[key] for key in ("target", "group", "drop", "missing")} | declared

    def target(self, wildcards) -> list[str]:
        """The files that `snakemake release` makes."""
        self._require_section()
        files = ("context.parquet", "statement.md", "statement.json")
        return [f"<results>/release/{self.config['dataset']}/{file}" for file in files]

    def bounds_target(self, wildcards) -> list[str]:
        """The files that `snakemake release_bounds` makes."""
        self._require_section()
        if self.config["bounds"] is None:
            raise AuditError("release/bounds: is missing: name the columns and their budget, see docs/release.md")
        return [f"<results>/release_bounds/{self.dataset}/{file}" for file in ("bounds.yaml", "statement.json")]

    def _require_section(self) -> None:
        if self.config is None:
            raise AuditError("release: this config has no section `release`; docs/release.md says how to write one")

    def _check_facts(self) -> None:
        """Read the public facts before any job: they are written by hand. Only with a release: pandas is slow."""
        from memaudit.privacy.public_facts import read_facts

        try:
            read_facts(self.public(None))
        except AuditError as error:
            raise AuditError(f"release/public: {error}") from None
