"""TabICL (Qu et al. 2025): column embedding, row interaction, in-context learning. One raw view, fp32."""

from pathlib import Path

import torch
from tabicl._model.tabicl import TabICL
from torch import Tensor

from memaudit.errors import AuditError
from memaudit.models.preprocess import standardize


class TabICLBranch:
    """`raw` mode: the module itself, one view, no shuffles, no ensemble. Queries do not see each other."""

    mode = "raw"

    def __init__(self, module: TabICL, device: str):
        # In train() the package's module is a plain differentiable forward pass in the dtype of its weights; in eval()
        # a manager batches, offloads and casts to bf16. The two agree as long as there is no dropout.
        self.module = module.to(device).train()
        self.device = device
        self.max_classes: int = module.max_classes

    @classmethod
    def load(cls, checkpoint: str | Path, device: str) -> "TabICLBranch":
        """Read a checkpoint in the package's format: `config` and `state_dict`, tensors only.

        Raises AuditError if the file is no TabICL classifier.
        """
        try:
            content = torch.load(checkpoint, map_location="cpu", weights_only=True)
            module = TabICL(**{**content["config"], "dropout": 0.0})
            module.load_state_dict(content["state_dict"])
        except (
            OSError,
            RuntimeError,
            KeyError,
            ValueError,
            TypeError,
            EOFError,
            torch.serialization.pickle.UnpicklingError,
        ) as error:
            reason = str(error).splitlines()[0] if str(error) else type(error).__name__
            raise AuditError(
                f"{checkpoint}: no TabICL checkpoint ({reason}); give a file of the tabicl package"
            ) from error
        if module.max_classes == 0:
            raise AuditError(f"{checkpoint}: a TabICL regressor; a classifier is needed here")
        return cls(module.float(), device)

    def logits(self, context_x: Tensor, context_y: Tensor, query_x: Tensor) -> Tensor:
        """See TabularModel. Columns are scaled by their context's mean and deviation.

        The module knows classes 0 .. K-1 that all stand in the context: others are numbered so, and a class that the
        context lacks has the logit -inf.
        """
        context_x, query_x = standardize(context_x.to(self.device), query_x.to(self.device))
        present = [torch.unique(labels) for labels in context_y]
        codes = torch.stack(
            [torch.searchsorted(known, labels) for known, labels in zip(present, context_y, strict=True)]
        )
        answers = self.module(torch.cat([context_x, query_x], 1).float(), codes.to(self.device).float())
        logits = torch.full_like(answers, -torch.inf)
        for row, known in enumerate(present):
            logits[row, :, known] = answers[row, :, : len(known)]
        return logits
