"""Weights of packages: a function of the seed, of published sizes; what is not installed, or raises, is named."""

import sys

import pytest
import small_packages
import torch

from memaudit.gpu_measurements import package_weights


@small_packages.needs("sdm")
def test_weights_are_those_of_one_seed_and_the_callers_stream_is_left_alone(tmp_path):
    torch.manual_seed(3)
    expected = torch.rand(1)
    torch.manual_seed(3)
    states = []
    for name in ("first", "second"):
        folder = package_weights.write("sdm", tmp_path / name, "regression", small=True)
        states.append(torch.load(folder / "weights.pt"))
    assert torch.equal(torch.rand(1), expected)
    assert all(torch.equal(states[0][name], states[1][name]) for name in states[0])
    assert package_weights.number_of_weights(folder) == sum(part.numel() for part in states[0].values())


@small_packages.needs("sdm")
@pytest.mark.parametrize("network", ["kumo-small", "tabicl-v2"])
def test_published_shapes_have_the_published_sizes(tmp_path, network):
    millions = {"kumo-small": 27.5, "tabicl-v2": 27.6}
    folder = package_weights.write("sdm", tmp_path, network=network)
    assert package_weights.number_of_weights(folder) / 1e6 == pytest.approx(millions[network], abs=0.05)


@small_packages.needs("tabfm")
def test_a_folder_of_safetensors_is_counted(tmp_path):
    from tabfm import tabfm_v1_0_0_pytorch

    folder = package_weights.write("tabfm", tmp_path, small=True)
    model = tabfm_v1_0_0_pytorch.TabFM_HF.from_pretrained(str(folder))
    assert package_weights.number_of_weights(folder) == sum(part.numel() for part in model.state_dict().values())


def test_a_head_of_quantiles_gives_them_in_order_and_by_its_inputs():
    torch.manual_seed(0)
    head = torch.nn.Linear(64, 99)
    package_weights._spread(head)
    quantiles = head(torch.randn(5, 64))
    assert (quantiles.diff(dim=-1) > 1e-3).all()
    assert quantiles.std(0).min() > 0.1


def test_what_is_not_installed_is_named_with_what_installs_it(monkeypatch):
    monkeypatch.setattr(package_weights, "installed_version", lambda family: None)
    line = "tabdpt 1.3.1 is not in .venv-deployed: `make .venv-deployed` installs it"
    assert package_weights.missing("tabdpt") == line
    assert package_weights.missing("tabfm") == "tabfm 1.0.1 is not in .venv: `make .venv` installs it"


def test_what_a_package_raises_in_its_environment_is_named(monkeypatch, tmp_path):
    monkeypatch.setattr(package_weights, "interpreter", lambda package: sys.executable)  # which has no tabdpt
    with pytest.raises(RuntimeError, match="tabdpt: ModuleNotFoundError"):
        package_weights.write("tabdpt", tmp_path, small=True)
