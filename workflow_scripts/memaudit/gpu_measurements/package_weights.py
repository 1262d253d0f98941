"""Random weights of the packages of `deployed_packages`, in files as the packages publish them, large or small.

python -m memaudit.gpu_measurements.package_weights FAMILY FOLDER TASK VERSION small|published

`write` runs this module where the package is: it needs torch and the standard library alone. Shapes are the published
ones, from the sources named below, or small ones for tests. The packages start the end of every block at zero, so that
no answer depends on its context; `_draw` draws all matrices such that answers vary with it.
"""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any
from unittest.mock import patch

import torch
from torch import nn

from memaudit.common.deployed_packages import PACKAGES
from memaudit.common.project_paths import SCRIPTS
from memaudit.models.package_sessions import VERSION, interpreter

# Standard deviation of the weights of a layer, in units of 1 / sqrt(inputs).
SCALE = 1.5
# Section `model` of the config in the metadata of Layer6/TabDPT, tabdpt1_2.safetensors, as public ports of it print it
# (tabdpt 1.3.1 states none, and calls 1.3 similar to 1.2 but for small changes).
TABDPT = {"enc_cell_dim": -1, "max_num_classes": 16, "nhead": 8, "ff_dim": 512, "emsize": 512, "nlayers": 32}
TABDPT |= {"regression_bin_count": 2048, "regression_bin_min": -10.0, "regression_bin_max": 10.0, "y_encoder_dim": 128}
TABDPT |= {"max_num_features": 128, "min_eval_context": 64, "max_eval_context": 2**20, "num_col_attn_layers": 2}
TABDPT |= {"n_thinking_rows": 64}
SMALL_TABDPT = {"enc_cell_dim": 8, "max_num_classes": 4, "nhead": 2, "ff_dim": 16, "emsize": 8, "nlayers": 2}
SMALL_TABDPT |= {"regression_bin_count": 20, "regression_bin_min": -5.0, "regression_bin_max": 5.0, "y_encoder_dim": 8}
SMALL_TABDPT |= {"max_num_features": 6, "min_eval_context": 128, "max_eval_context": 1024, "num_col_attn_layers": 1}
SMALL_TABDPT |= {"n_thinking_rows": 2}
SMALL_MITRA = {"dim": 8, "n_layers": 1, "n_heads": 2}
# V1_0_0_CONFIG of tabfm 1.0.1, src/hugging_face/convert_and_upload.py, which imports packages of JAX.
TABFM = {"embed_dim": 256, "col_num_blocks": 3, "col_nhead": 4, "col_num_inds": 256, "row_num_blocks": 3}
TABFM |= {"row_nhead": 8, "row_num_cls": 8, "icl_num_blocks": 24, "icl_nhead": 8, "ff_factor": 4}
SMALL_KUMO = {"cell_channels": 8, "num_embedding_layers": 1, "num_embedding_heads": 2, "num_inducing_points": 4}
SMALL_KUMO |= {"num_readout_tokens": 2, "icl_channels": 16, "num_icl_layers": 2, "num_icl_heads": 2}


def write(
    family: str, folder: Path, task: str = "classification", network: str | None = "kumo-small", small: bool = False
) -> Path:
    """Write random weights of a family into a folder, as published ones lie there; returns the folder.

    network: of those of `sdm`, which are published one by one; small: of `kumo-small` alone. Raises RuntimeError with
    what the package has raised in its own environment.
    """
    folder.mkdir(parents=True, exist_ok=True)
    package = PACKAGES[family]
    if package.environment is None:
        with torch.random.fork_rng():
            _write(family, folder, task, network or "", small)
        return folder
    given = [family, str(folder), task, network or "", "small" if small else "published"]
    # The library is installed in .venv alone.
    env = os.environ | {"PYTHONPATH": str(SCRIPTS), "PYTHONWARNINGS": "ignore"}
    command = [interpreter(package), "-m", __name__, *given]
    done = subprocess.run(command, env=env, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"{package.distribution}: {done.stderr.strip().rpartition(chr(10))[2]}")
    return folder


@cache
def installed_version(family: str) -> str | None:
    """Version of a family's package where it is looked for; None if it, or its environment, is not installed."""
    package = PACKAGES[family]
    if package.environment is None:
        try:
            return version(package.distribution)
        except PackageNotFoundError:
            return None
    python = interpreter(package)
    if not python.exists():
        return None
    asked = subprocess.run([python, "-c", VERSION, package.distribution], capture_output=True, text=True, check=False)
    return asked.stdout.strip() or None


def missing(family: str) -> str | None:
    """What is not installed of a family's package, and what installs it; None if all is."""
    package, environment = PACKAGES[family], PACKAGES[family].environment or ".venv"
    if installed_version(family) == package.version:
        return None
    return f"{package.distribution} {package.version} is not in {environment}: `make {environment}` installs it"


@contextmanager
def shape(family: str, small: bool) -> Iterator[None]:
    """Within it this process builds `kumo-small` as small as `write` does; else the package has one shape of it."""
    if family != "sdm" or not small:
        yield
        return
    from sdm.models.kumo.tabular.model import MODEL_KWARGS

    with patch.dict(MODEL_KWARGS, small=MODEL_KWARGS["small"] | SMALL_KUMO):
        yield


def number_of_weights(folder: Path) -> int:
    """Number of values in the weights of a folder, the network's few constants included."""
    from safetensors import safe_open

    files = [path for path in folder.iterdir() if path.suffix == ".safetensors"]
    if not files:
        (path,) = folder.iterdir()
        state = torch.load(path, weights_only=True, mmap=True)
        return sum(part.numel() for part in state.get("state_dict", state).values())
    with safe_open(files[0], "pt") as opened:
        return sum(torch.Size(opened.get_slice(name).get_shape()).numel() for name in opened.keys())  # noqa: SIM118


@torch.no_grad()
def _write(family: str, folder: Path, task: str, network: str, small: bool) -> None:
    torch.manual_seed(0)
    WRITERS[family](folder, task, network, small)


def _tabdpt(folder: Path, task: str, network: str, small: bool) -> None:
    from omegaconf import OmegaConf
    from safetensors.torch import save_file
    from tabdpt.model import TabDPTModel

    config = {"model": SMALL_TABDPT if small else TABDPT, "training": {"dropout": 0.0}, "env": {"device": "cpu"}}
    with patch.object(TabDPTModel, "load_state_dict"):  # the package's own reading of a config, without weights
        model = TabDPTModel.load({}, OmegaConf.create(config), use_flash=False)
    # No norm stands before the head: the sum of 32 blocks would make every answer certain.
    _drawn(model).head[-1].weight.mul_(0.1)
    save_file(model.state_dict(), folder / "tabdpt.safetensors", metadata={"cfg": json.dumps(config)})


def _mitra(folder: Path, task: str, network: str, small: bool) -> None:
    from autogluon.tabular.models.mitra import sklearn_interface as defaults
    from autogluon.tabular.models.mitra._internal.models.tab2d import Tab2D

    published = {"dim": defaults.DEFAULT_DIM, "n_layers": defaults.DEFAULT_LAYERS, "n_heads": defaults.DEFAULT_HEADS}
    sizes = (SMALL_MITRA if small else published) | {"dim_output": defaults.DEFAULT_CLASSES}
    model = Tab2D(**sizes, task="CLASSIFICATION", use_pretrained_weights=False, path_to_weights="", device="cpu")
    _drawn(model).save_pretrained(folder)


def _sdm(folder: Path, task: str, network: str, small: bool) -> None:
    if network == "tabicl-v2":
        from tabicl._model.tabicl import TabICL

        from memaudit.gpu_measurements.published_networks import draw

        # The regressor's norms have no bias: sdm/models/tabiclv2/model.py.
        sizes = {"max_classes": 0, "bias_free_ln": True} if task == "regression" else {}
        model = TabICL(**sizes)
        draw(model)
        if task == "regression":
            _spread(model.icl_predictor.decoder[-1])
        torch.save({"config": {}, "state_dict": model.state_dict()}, folder / "weights.ckpt")
        return
    from sdm.models import KumoTabular

    with shape("sdm", small):
        opened = KumoTabular(task=task, size=network.removeprefix("kumo-"), pretrained=False, device="cpu")
    model = _drawn(opened.models[task])
    if task == "regression":
        _spread(model.icl_block.head[-1])
    torch.save(model.state_dict(), folder / "weights.pt")


def _tabfm(folder: Path, task: str, network: str, small: bool) -> None:
    from tabfm import tabfm_v1_0_0_pytorch

    sizes = {"max_classes": 10, "is_classifier": True} | ({} if small else TABFM)
    model = _drawn(tabfm_v1_0_0_pytorch.TabFM_HF(**sizes))
    for frequencies in (model.cell_embedder.fourier_frequencies, model.cell_embedder.fourier_frequencies_cat):
        frequencies.normal_()
    model.save_pretrained(folder)


WRITERS: dict[str, Any] = {"tabdpt": _tabdpt, "mitra": _mitra, "sdm": _sdm, "tabfm": _tabfm}


def _drawn(model: nn.Module) -> nn.Module:
    """Draw the matrices of a network anew: layers by their inputs, embeddings and tokens with deviation 1."""
    for part in model.modules():
        for name, weight in part.named_parameters(recurse=False):
            if weight.ndim > 1:
                of_layer = name.endswith("weight") and not isinstance(part, nn.Embedding)
                weight.normal_(0, SCALE * weight.shape[-1] ** -0.5 if of_layer else 1.0)
    return model


@torch.no_grad()
def _spread(head: nn.Linear) -> None:
    """Make a head of quantiles give those of a normal distribution, whose mean and deviation its inputs decide.

    Independent quantiles would lie in no order, some so close that a density between them is an error of rounding.
    """
    levels = (torch.arange(head.out_features) + 1) / (head.out_features + 1)
    normal = torch.special.ndtri(levels.double()).float()
    mean, deviation = torch.randn(2, head.in_features) * head.in_features**-0.5
    head.weight.copy_(mean + 0.2 * normal[:, None] * deviation)
    head.bias.copy_(normal)


def main(arguments: list[str]) -> None:
    """Write weights of a package in the environment that runs this."""
    family, folder, task, network, size = arguments
    _write(family, Path(folder), task, network, size == "small")


if __name__ == "__main__":
    main(sys.argv[1:])
