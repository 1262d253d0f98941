"""Low-rank adapters (LoRA, Hu et al. 2021) in a module of any package, through peft.

Plain `nn.Linear` layers and the packed query-key-value weights of `nn.MultiheadAttention` are adapted. Subclasses of
`nn.Linear` are not, since peft would bypass what they do to their input (TabICL's encoders of labels and of cells), nor
is the output projection of `nn.MultiheadAttention`, whose forward pass is never called. In TabPFN every projection is a
plain layer; v3.5 reads only the weight of `metadata_linear`, so its adapter stays at zero, like those of the other
task's head.
"""

import re
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from memaudit.common.errors import AuditError


@dataclass(frozen=True)
class Adapter:
    """W becomes W + alpha / rank * B A, with A (rank, in) and B (out, rank), for every W wider than the rank."""

    rank: int = 8
    alpha: float = 16.0


def targets(module: nn.Module, rank: int) -> tuple[list[str], list[str]]:
    """Return the names of the layers and of the packed attention weights that take an adapter of that rank."""
    linear = [
        name for name, layer in module.named_modules() if type(layer) is nn.Linear and min(layer.weight.shape) > rank
    ]
    packed = [
        f"{name}.in_proj_weight"
        for name, layer in module.named_modules()
        if isinstance(layer, nn.MultiheadAttention) and layer.in_proj_weight is not None and layer.embed_dim > rank
    ]
    return linear, packed


def adapt(module: nn.Module, adapter: Adapter, seed: int) -> None:
    """Add adapters to the module, in place; its own weights no longer train. Initially they add nothing: B = 0.

    Raises AuditError if no weight is wider than the rank.
    """
    import peft  # takes seconds to import, and full fine-tuning does not need it

    linear, packed = targets(module, adapter.rank)
    if not linear and not packed:
        raise AuditError(f"fine-tuning: no layer of the model is wider than LoRA's rank {adapter.rank}; lower the rank")
    config = peft.LoraConfig(
        r=adapter.rank,
        lora_alpha=adapter.alpha,
        lora_dropout=0.0,
        target_modules="|".join(map(re.escape, linear)),  # a list would also match the ends of other names
        target_parameters=packed or None,
    )
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        peft.inject_adapter_in_model(config, module)


def adapter_of(module: nn.Module) -> dict[str, Tensor]:
    """Return the adapters' tensors A and B, by name."""
    return {name: weight.detach() for name, weight in module.named_parameters() if weight.requires_grad}


def merge(module: nn.Module) -> None:
    """Add the adapters into the weights, in place: the layers are the package's own again."""
    from peft.tuners.tuners_utils import BaseTunerLayer

    # Deepest first: an adapted attention holds adapted layers.
    for name, layer in reversed(list(module.named_modules())):
        if isinstance(layer, BaseTunerLayer):
            layer.merge()
            module.set_submodule(name, layer.get_base_layer())
    del module.peft_config
