"""Small random checkpoints of the classes of packages that are used as deployed, and what runs them here."""

import importlib.util
import json
import subprocess
from contextlib import contextmanager
from unittest.mock import patch

import pytest
import torch

from memaudit.common.deployed_packages import PACKAGES
from memaudit.models.package_sessions import interpreter

DEPLOYED = interpreter(PACKAGES["tabdpt"])
TABDPT_SIZES = {
    "enc_cell_dim": 8,
    "max_num_classes": 4,
    "regression_bin_count": 20,
    "regression_bin_min": -5.0,
    "regression_bin_max": 5.0,
    "nhead": 2,
    "ff_dim": 16,
    "emsize": 8,
    "nlayers": 2,
    "max_num_features": 6,
    "min_eval_context": 128,
    "max_eval_context": 1024,
    "y_encoder_dim": 8,
    "num_col_attn_layers": 1,
    "n_thinking_rows": 2,
}
# Of the class with its own sizes; every weight is drawn, since the package starts some at 0.
TABDPT = """
import json, sys, torch
from omegaconf import OmegaConf
from safetensors.torch import save_file
from tabdpt.model import TabDPTModel
path, sizes = sys.argv[1], json.loads(sys.argv[2])
config = {"model": sizes, "training": {"dropout": 0.0}, "env": {"device": "cpu"}}
torch.manual_seed(0)
given = {"dropout": 0.0, "n_out": "max_num_classes", "nhid": "ff_dim", "ninp": "emsize", "num_features":
    "max_num_features", "base_len": "min_eval_context", "max_len": "max_eval_context"}
names = ("enc_cell_dim", "regression_bin_count", "regression_bin_min", "regression_bin_max", "nhead", "nlayers",
    "y_encoder_dim", "n_thinking_rows")
arguments = {name: sizes.get(key, key) for name, key in given.items()} | {name: sizes[name] for name in names}
model = TabDPTModel(**arguments)
for parameter in model.parameters():
    torch.nn.init.normal_(parameter, std=0.5)
save_file(model.state_dict(), path, metadata={"cfg": json.dumps(config)})
"""
MITRA = """
import sys, torch
from autogluon.tabular.models.mitra._internal.models.tab2d import Tab2D
torch.manual_seed(0)
model = Tab2D(dim=8, dim_output=10, n_layers=1, n_heads=2, task="CLASSIFICATION", use_pretrained_weights=False,
    path_to_weights="", device="cpu")
for parameter in model.parameters():
    torch.nn.init.normal_(parameter, std=0.5)
model.save_pretrained(sys.argv[1])
"""


def needs(family):
    """Skip a test where the package of a family is not installed, naming what installs it."""
    package = PACKAGES[family]
    if package.environment is None:
        missing = importlib.util.find_spec(family) is None
    else:
        missing = not interpreter(package).exists()
    environment = package.environment or ".venv"
    return pytest.mark.skipif(missing, reason=f"no {package.distribution}: `make {environment}` installs it")


def write(family, folder, task="classification"):
    """Write small random weights of a family into a folder, as published ones lie there; returns the folder."""
    folder.mkdir(parents=True, exist_ok=True)
    {"tabdpt": _tabdpt, "mitra": _mitra, "sdm": _kumo, "tabfm": _tabfm}[family](folder, task)
    return folder


def _tabdpt(folder, task):
    _there(TABDPT, folder / "tabdpt.safetensors", json.dumps(TABDPT_SIZES))


def _mitra(folder, task):
    _there(MITRA, folder)


def _kumo(folder, task):
    from sdm.models import KumoTabular

    torch.manual_seed(0)
    with small_kumo():
        model = KumoTabular(task=task, size="small", pretrained=False, device="cpu").models[task]
    _drawn(model)
    torch.save(model.state_dict(), folder / "weights.pt")


def _tabfm(folder, task):
    from tabfm import tabfm_v1_0_0_pytorch

    torch.manual_seed(0)
    model = tabfm_v1_0_0_pytorch.TabFM_HF(max_classes=10, is_classifier=True)
    _drawn(model)
    for frequencies in (model.cell_embedder.fourier_frequencies, model.cell_embedder.fourier_frequencies_cat):
        torch.nn.init.normal_(frequencies)
    model.save_pretrained(folder)


def _drawn(model):
    for parameter in model.parameters():
        torch.nn.init.normal_(parameter, std=0.3)


def _there(code, *arguments):
    """Run code in the environment of packages that clash with this one."""
    subprocess.run([DEPLOYED, "-W", "ignore", "-c", code, *map(str, arguments)], check=True, capture_output=True)


@contextmanager
def small_kumo():
    """Within it the package builds `kumo-small` much smaller, in this process."""
    from sdm.models.kumo.tabular.model import MODEL_KWARGS

    sizes = {"cell_channels": 8, "num_embedding_layers": 1, "num_embedding_heads": 2, "num_inducing_points": 4}
    sizes |= {"num_readout_tokens": 2, "icl_channels": 16, "num_icl_layers": 2, "num_icl_heads": 2}
    with patch.dict(MODEL_KWARGS, small=MODEL_KWARGS["small"] | sizes):
        yield
