"""Look-ups of rules/models.smk: local checkpoints, and the settings of the shipped models' training."""

import os
from typing import Any

from memaudit.common.checksums import sha256
from memaudit.workflow.study import Study


class Models(Study):
    """Models of the catalogue."""

    name = "models"

    def checkpoint(self, wildcards) -> str | list[str]:
        """A local checkpoint. One that does not exist is no input: `check_models` names it before the first job."""
        path = self._local(wildcards.model)
        return path or []

    def checksum(self, wildcards) -> str | None:
        """Hash of a local checkpoint: a checkout gives every file a new mtime, so Snakemake ignores that."""
        path = self._local(wildcards.model)
        return sha256(path) if path else None

    def pretraining(self, wildcards) -> dict[str, Any]:
        """All settings of a shipped model's training."""
        own = self.run.config["pretrain"]["models"][wildcards.model]
        shared = self.run.config["pretrain"]["settings"]
        head = {key: own[key] for key in ("max_classes", "num_quantiles") if own[key] is not None}
        return shared | {
            "steps": own["steps"],
            "architecture": shared["architecture"] | head,
            "prior": shared["prior"] | {"max_classes": own["max_classes"]},
        }

    def _local(self, model: str) -> str | None:
        path = self.run.config["models"][model]["path"]
        path = path and self.run.named(path)
        return path if path and os.path.exists(path) else None
