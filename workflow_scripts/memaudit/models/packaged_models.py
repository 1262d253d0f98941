"""`as_deployed` mode of the packages of `deployed_packages`: one class for all, by the package's row."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from memaudit.common.deployed_packages import PACKAGES, Package, faults
from memaudit.common.errors import AuditError
from memaudit.models.context_scaling import target_scale
from memaudit.models.model_files import reason, the_file
from memaudit.models.model_protocol import Limits, Mode
from memaudit.models.package_adapters import Answer, Opening
from memaudit.models.package_sessions import Session, session
from memaudit.models.predictive_distributions import Binned

LIMITS = Limits(rows=None, features=None, classes=None)


class PackagedModel:
    """A model of another package, with the package's own preparation of mixed tables. A `TabularModel`.

    Weights are opened once; each context is given to the package by its own call (`package_adapters`), with one seed,
    so that a question has one answer. Answers have no gradient.
    """

    mode: Mode = "as_deployed"
    reads_text = False
    module = None  # its size is not known: see batched_queries.table_bytes

    def __init__(self, opened: Session, package: Package, card: Mapping[str, Any], schema: Mapping[str, Any]):
        self.task, self.limits = card["task"], replace(LIMITS, **package.limits)
        self.alone = package.alone or card["options"].get("queries") == "alone"
        self._session, self._package = opened, package
        self._classes = len(schema["target"].get("categories") or [])

    @classmethod
    def load(
        cls, weights: Path, card: Mapping[str, Any], device: str, schema: Mapping[str, Any] | None
    ) -> "PackagedModel":
        """See TabularModel. Raises AuditError also where the package's environment is missing."""
        package, where = PACKAGES[card["family"]], card["name"]
        for fault in faults(card["family"], card["task"], card["version"], card["options"]):
            raise AuditError(f"{where}: {fault}")
        if schema is None:
            raise AuditError(f"{where}: {package.distribution} reads names and categories; give the table's schema")
        given = Opening(
            weights=str(Path(weights).resolve() if package.folder else the_file(weights).resolve()),
            task=card["task"],
            version=card["version"],
            options=package.options | card["options"],
            columns=schema["columns"],
            device=device,
            threads=torch.get_num_threads(),
        )
        try:
            return cls(session(package, given), package, card, schema)
        except AuditError as error:
            raise AuditError(f"{where}: {error}") from error
        except Exception as error:  # whatever a package raises for a file that it cannot read
            called = " ".join(filter(None, (package.distribution, card["version"])))
            raise AuditError(
                f"{where}: {called} cannot open {given.weights} for {card['task']} ({reason(error)}); give weights "
                f"that {called} has published, {'the folder of config.json' if package.folder else 'one file'}"
            ) from error

    def logits(self, context_x: Tensor, context_y: Tensor, query_x: Tensor) -> Tensor:
        """See TabularModel. A class of the context has at least float32's smallest number for a probability."""
        logits = torch.full((*query_x.shape[:2], max(self._classes, int(context_y.max()) + 1)), -torch.inf)
        tiny = torch.finfo(torch.float32).tiny
        for table, (x, y, query) in enumerate(zip(context_x, context_y, query_x, strict=True)):
            answers = self._answers(x, y.cpu().numpy(), query)
            probabilities = torch.from_numpy(np.concatenate([one["probabilities"] for one in answers]))
            classes = torch.from_numpy(answers[0]["classes"])
            logits[table][:, classes] = probabilities.double().clamp(min=tiny).log().float()
        return logits

    def distribution(self, context_x: Tensor, context_y: Tensor, query_x: Tensor) -> Binned:
        """See TabularModel. Beyond its outermost bars a package's density is 0: here they are tails, as TabPFN's."""
        tables = []
        for x, y, query in zip(context_x, context_y.cpu().double(), query_x, strict=True):
            if (y == y[0]).all():
                raise AuditError(
                    f"a context whose targets are all equal: {self._package.distribution} has no distribution for it; "
                    "take more rows"
                )
            parts = [_binned(one, y) for one in self._answers(x, y.numpy(), query)]
            tables.append(Binned.joined(torch.cat, parts))
        return Binned.joined(torch.stack, tables)

    def _answers(self, x: Tensor, y: Any, query: Tensor) -> list[Answer]:
        """Answers to the queries of a context, in one list or each in its own."""
        apart = self.alone and not self._package.alone
        parts = [part.detach().cpu().double().numpy() for part in (query.split(1) if apart else (query,))]
        try:
            return self._session.answers(x.detach().cpu().double().numpy(), y, parts)
        except torch.OutOfMemoryError:
            raise  # the caller takes fewer queries
        except Exception as error:  # whatever a package raises
            raise AuditError(
                f"{self._package.distribution} refuses a context of {len(x)} rows ({reason(error)}); take more rows, "
                "or another model"
            ) from error


def _binned(answer: Answer, y: Tensor) -> Binned:
    """The distributions of an answer; y: (n,), the context's targets."""
    numbers = {name: torch.from_numpy(part).double() for name, part in answer.items()}
    if "quantiles" not in numbers:
        return Binned.from_bars(numbers["logits"], numbers["borders"])
    mean, deviation = (part.double() for part in target_scale(y[None]))
    return Binned.from_quantiles((numbers["quantiles"] - mean) / deviation).scaled(deviation, mean)
