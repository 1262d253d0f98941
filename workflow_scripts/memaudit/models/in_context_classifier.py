"""A tabular in-context model as a classifier of single records that can be fine-tuned (see `classifier_networks`)."""

from copy import deepcopy

from torch import Tensor, nn

from memaudit.common.errors import AuditError
from memaudit.models.classifier_networks import Outputs
from memaudit.models.model_protocol import Network
from memaudit.models.tabicl import TabICLBranch


class InContext(nn.Module):
    """A tabular in-context model with one fixed public context. Takes rows (B, column).

    context_x: (n, column); context_y: (n,) with every class. Hidden states are of the in-context blocks.
    """

    def __init__(self, model: Network, context_x: Tensor, context_y: Tensor):
        super().__init__()
        if not isinstance(model, TabICLBranch):
            raise AuditError(f"{type(model).__name__}: its layers are not known here; choose a TabICL in mode raw")
        self._model = [model]  # in a list: its module must be registered once
        self.module = model.module
        self.register_buffer("context_x", context_x[None], persistent=False)
        self.register_buffer("context_y", context_y[None], persistent=False)

    def __deepcopy__(self, memo: dict) -> "InContext":
        return InContext(deepcopy(self._model[0], memo), self.context_x[0], self.context_y[0])

    def forward(self, rows: Tensor) -> Outputs:
        hidden: list[Tensor] = []
        head = self.module.icl_predictor
        hooks = [
            block.register_forward_hook(lambda _, __, state: hidden.append(state[0, -len(rows) :]))
            for block in head.tf_icl.blocks[:-1]
        ]
        hooks.append(head.decoder.register_forward_pre_hook(lambda _, given: hidden.append(given[0][0, -len(rows) :])))
        try:
            logits = self._model[0].forward(self.context_x, self.context_y, rows[None])[0]
        finally:
            for hook in hooks:
                hook.remove()
        return logits, hidden
