"""Small TabPFN of every version, with random weights, in files of the official format."""

from dataclasses import asdict
from pathlib import Path
from typing import Any, Literal

import torch
from tabpfn.architectures import ARCHITECTURES
from tabpfn.architectures.shared.bar_distribution import FullSupportBarDistribution
from tabpfn.checkpoint import save_as_safetensors
from tabpfn.constants import ModelVersion
from tabpfn.inference_config import InferenceConfig
from torch import Tensor

Task = Literal["classification", "regression"]

CLASSES, BARS = 10, 40
TOKENS = {"emsize": 24, "nlayers": 2, "nhead": 2}
ROWS = {"embed_dim": 16, "dist_embed_num_blocks": 1, "dist_embed_num_heads": 2, "dist_embed_num_inducing_points": 4}
ROWS |= {"feat_agg_num_blocks": 1, "feat_agg_num_heads": 2, "feat_agg_num_cls_tokens": 2, "nlayers": 2}
ROWS |= {"icl_num_heads": 4, "decoder_head_dim": 8, "decoder_num_heads": 2}
ROWS |= {"softmax_scaling_mlp_hidden_dim": 8}
SMALL: dict[str, dict[str, Any]] = {
    "v2": TOKENS | {"features_per_group": 2},
    "v2.5": TOKENS | {"features_per_group": 3, "num_thinking_rows": 3},
    "v2.6": TOKENS | {"features_per_group": 3, "num_thinking_rows": 3},
    "v3": ROWS,
    "v3.5": ROWS | {"fourier_encoding_num_frequencies": 4},
}
VERSIONS = tuple(SMALL)


def write(folder: Path, version: str, task: Task, suffix: str = ".ckpt", seed: int = 0) -> Path:
    """Write a small checkpoint under an official name into a folder, made if need be; returns the file.

    v2 and v2.5 have the keys of the first releases, which the package translates; v3.5 serves both tasks.
    """
    content = checkpoint(version, task, seed)
    both = version == "v3.5"
    kind = "" if both else {"classification": "-classifier", "regression": "-regressor"}[task]
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / f"tabpfn-{version}{kind}-small{suffix}"
    if suffix == ".safetensors":
        save_as_safetensors(content, file)
    else:
        torch.save(content, file)
    return file


def checkpoint(version: str, task: Task, seed: int = 0) -> dict[str, Any]:
    """The content of a file: what the official ones of this version and task hold."""
    name = f"tabpfn_{version.replace('.', '_')}"
    config = SMALL[version] | {"max_num_classes": CLASSES, "num_buckets": BARS}
    if version != "v3.5":
        config |= {"max_num_classes": 0} if task == "regression" else {}
    parsed, _ = ARCHITECTURES[name].parse_config(config)
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        module = ARCHITECTURES[name].get_architecture(parsed)
        _draw(module)
    state = module.state_dict()
    if version in ("v2", "v2.5"):
        state = _first_names(state, task, TOKENS["nhead"])
    if task == "regression" and not version.startswith("v3"):
        bars = FullSupportBarDistribution(_borders()).state_dict()
        state |= {f"criterion.{key}": value for key, value in bars.items()}
    content = {"state_dict": state, "config": asdict(parsed)}
    if version == "v2":
        return content
    if version == "v2.5":
        return content | {"architecture_name": "base"}
    return content | {"architecture_name": name, "inference_config": _inference_config(version, task)}


def _draw(module: torch.nn.Module) -> None:
    """Weights that make answers vary: the modules' own start ends every block with zeros."""
    with torch.no_grad():
        for name, weight in module.named_parameters():
            if weight.ndim > 1 and "y_encoder.multiclass" not in name:
                size = 2.6 if "many_class_decoder" in name else 1.3  # its logits are the logarithms of class shares
                weight.normal_(0, size / weight.shape[-1] ** 0.5)


def _borders() -> Tensor:
    """Borders of bars with equal mass under a normal distribution, between -4 and 4 deviations."""
    levels = torch.arange(1, BARS) / BARS
    return torch.cat([torch.tensor([-4.0]), torch.special.ndtri(levels), torch.tensor([4.0])])


def _inference_config(version: str, task: Task) -> dict[str, Any]:
    """As files state it since v2.6; the row fingerprint stops with v3."""
    kind = "multiclass" if task == "classification" else "regression"
    default = asdict(InferenceConfig.get_default(kind, ModelVersion.V2_5))
    return default | {"FINGERPRINT_FEATURE": version == "v2.6", "MAX_NUMBER_OF_CLASSES": CLASSES}


def _first_names(state: dict[str, Tensor], task: Task, heads: int) -> dict[str, Tensor]:
    """A state under the keys of the first releases: q, k and v in one tensor, heads on an axis of their own."""
    labels = f"y_encoder.{1 if task == 'regression' else 2}.layer"
    names = {"feature_group_embedder": "encoder.5.layer", "target_embedder": labels}
    names |= {"output_projection": "decoder_dict.standard", "add_thinking_rows": "add_thinking_tokens"}
    names |= {"row_token_values_TE": "row_token_values"}
    parts = {"per_sample_attention_between_features": "self_attn_between_features"}
    parts |= {"per_column_attention_between_cells": "self_attn_between_items", "mlp.0": "mlp.linear1"}
    parts |= {"mlp.2": "mlp.linear2", "blocks": "transformer_encoder.layers"} | names
    renamed = {}
    for key, value in state.items():
        new = key
        for part, first in parts.items():
            new = new.replace(part, first)
        if new.endswith("q_projection.weight"):
            three = [state[key.replace("q_projection", f"{letter}_projection")] for letter in "qkv"]
            renamed[new.replace("q_projection.weight", "_w_qkv")] = torch.stack(three).unflatten(1, (heads, -1))
        elif new.endswith("out_projection.weight"):
            renamed[new.replace("out_projection.weight", "_w_out")] = value.T.unflatten(0, (heads, -1)).contiguous()
        elif not new.endswith(("k_projection.weight", "v_projection.weight")):
            renamed[new] = value
    return renamed
