"""ConTextTab (Spinaci et al. 2025), SAP's `sap-rpt-1-oss`: column names and categories are embedded by their meaning.

The package `sap_rpt_oss` is optional and on no package index, and its weights are gated. This branch was tested only
against a stand-in of the package's interface: neither the interface nor the limit of 500 columns was checked on the
package.
"""

import os
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any
from unittest.mock import patch

import numpy as np
import pandas as pd
import torch
from torch import Tensor

from memaudit.common.arrays import Array32
from memaudit.common.errors import AuditError
from memaudit.models.model_files import UNREADABLE, reason
from memaudit.models.model_protocol import Limits
from memaudit.models.table_serialisation import dates, names, readable

SOURCE = "git+https://github.com/SAP-samples/sap-rpt-1-oss"
OPTIONS = ("queries", "bagging", "max_context_size")


class ConTextTabBranch:
    """`as_deployed` mode: the package's own classifier, fitted on each context as a data frame of names.

    Options: `bagging` and `max_context_size` go to the package, which has its own defaults and samples from larger
    contexts. `queries`: `alone`, a call each, because the package drops the columns that are constant in context
    and queries together; or `together`, where other queries can change an answer. The package chooses device and float
    format itself. No gradient.
    """

    task = "classification"
    mode = "as_deployed"
    reads_text = True
    limits = Limits(rows=None, features=500, classes=62)

    def __init__(self, estimator: Any, schema: Mapping[str, Any], together: bool = False):
        self._estimator = estimator
        self._columns, self._classes = schema["columns"], schema["target"]["categories"]
        self.alone = not together

    @classmethod
    def load(
        cls, weights: Path, card: Mapping[str, Any], device: str, schema: Mapping[str, Any] | None
    ) -> "ConTextTabBranch":
        """See TabularModel. `weights` holds one checkpoint *.pt.

        Raises AuditError also for a package that is not installed, and for regression: its head gives a point (L2).
        """
        package = _package()
        where = card["name"]
        if card["mode"] != "as_deployed":
            raise AuditError(f"{where}: ConTextTab runs only through its package; set `mode: as_deployed`")
        if card["task"] != "classification":
            raise AuditError(
                f"{where}: ConTextTab's regression head gives a point, not a distribution; choose tabicl or tabpfn"
            )
        if schema is None:
            raise AuditError(f"{where}: ConTextTab reads names and categories; give the table's schema")
        readable(schema)
        options = _options(card)
        together = options.pop("queries") == "together"
        return cls(_estimator(package, weights, options), schema, together)

    def logits(self, context_x: Tensor, context_y: Tensor, query_x: Tensor) -> Tensor:
        """See TabularModel. Logarithms of the package's probabilities, without a gradient."""
        return torch.stack([self._one(*table) for table in zip(context_x, context_y, query_x, strict=True)])

    def _one(self, x: Tensor, y: Tensor, queries: Tensor) -> Tensor:
        labels = [self._classes[code] for code in y.tolist()]
        estimator = self._estimator.fit(self._frame(x), pd.Series(labels, dtype=object, name="target"))
        frame = self._frame(queries)
        step = 1 if self.alone else len(frame)
        parts = [estimator.predict_proba(frame.iloc[i : i + step]) for i in range(0, len(frame), step)]
        logits = torch.full((len(frame), len(self._classes)), -torch.inf)
        known = [self._classes.index(name) for name in estimator.classes_]
        tiny = torch.finfo(torch.float32).tiny  # -inf is for classes that the context lacks
        logits[:, known] = torch.as_tensor(np.concatenate(parts), dtype=torch.float32).clamp(min=tiny).log()
        return logits

    def _frame(self, x: Tensor) -> pd.DataFrame:
        """Decode rows (n, d) to a data frame of names and numbers."""
        values = x.detach().cpu().numpy()
        return pd.DataFrame({column["name"]: _cells(column, values[:, i]) for i, column in enumerate(self._columns)})


def _cells(column: Mapping[str, Any], values: Array32) -> pd.Series:
    if column["type"] == "numeric":
        return pd.Series(values, dtype="float64")
    if column["type"] == "date":
        return pd.Series(dates(values))
    return pd.Series(names(column, values), dtype=object)


def _package() -> ModuleType:
    try:
        return import_module("sap_rpt_oss")
    except ImportError as error:
        raise AuditError(
            f"family contexttab: the package sap_rpt_oss cannot be imported ({error}); pip install {SOURCE}"
        ) from error


def _estimator(package: ModuleType, weights: Path, options: Mapping[str, Any]) -> Any:
    """The package's classifier with a local checkpoint."""
    files = sorted(weights.glob("*.pt"))
    if len(files) != 1:
        raise AuditError(f"{weights}: holds {len(files)} checkpoints *.pt; give the one file of sap-rpt-1-oss")
    # The package downloads a named file from the hub: here the hub's function returns the local file.
    local = patch.object(package, "hf_hub_download", lambda *_, **__: str(files[0]), create=True)
    tensors_only = patch.dict(os.environ, {"TORCH_FORCE_WEIGHTS_ONLY_LOAD": "1"})  # whatever the package requests
    try:
        with local, tensors_only:
            return package.SAP_RPT_OSS_Classifier(checkpoint=str(files[0]), **options)
    # Also a missing sentence model, and a package with another interface.
    except UNREADABLE as error:
        raise AuditError(
            f"{files[0]}: sap_rpt_oss cannot open it ({reason(error)}); it needs its own checkpoint, and "
            "all-MiniLM-L6-v2 in the hub's cache"
        ) from error


def _options(card: Mapping[str, Any]) -> dict[str, Any]:
    given = dict(card["options"])
    if unknown := sorted(given.keys() - set(OPTIONS)):
        raise AuditError(f"{card['name']}: unknown option {unknown[0]!r}; known: {', '.join(OPTIONS)}")
    options = {"queries": "alone"} | given
    if options["queries"] not in ("alone", "together"):
        raise AuditError(f"{card['name']}: option queries is {options['queries']!r}; set alone or together")
    return options
