"""A small random TabICL."""

import torch
from tabicl._model.tabicl import TabICL

from memaudit.models.tabicl import TabICLBranch


def tabicl(kind):
    """A small random TabICL whose answers vary: no layer starts at zero."""
    sizes = {"embed_dim": 8, "col_num_blocks": 1, "col_nhead": 2, "col_num_inds": 4, "row_num_blocks": 1}
    sizes |= {"row_nhead": 2, "row_num_cls": 2, "icl_num_blocks": 2, "icl_nhead": 2, "zero_init": False}
    head = {"max_classes": 3} if kind == "classification" else {"max_classes": 0, "num_quantiles": 9}
    with torch.random.fork_rng():
        torch.manual_seed(0)
        module = TabICL(**sizes, **head)
        with torch.no_grad():
            for weight in module.parameters():
                weight.add_(torch.randn_like(weight), alpha=0.1)
    return TabICLBranch(module, "cpu", clip=6.0)
