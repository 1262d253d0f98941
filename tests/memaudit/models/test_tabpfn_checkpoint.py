"""Files of TabPFN are read without unpickling, and whatever is wrong with one is said in one line."""

import pickle

import pytest
import torch
from tabicl._model.tabicl import TabICL
from tabpfn import TabPFNRegressor
from tabpfn.checkpoint import save_as_safetensors
from tabpfn.model_loading import save_tabpfn_model

from memaudit.common.errors import AuditError
from memaudit.models.model_protocol import Limits
from memaudit.models.tabpfn import TabPFNBranch
from memaudit.rehearsal import small_tabpfn


def load(folder, task="classification", version=None, **options):
    return TabPFNBranch.load(folder, {"version": version, "task": task, "options": options}, "cpu", None)


def refused(folder, match, *arguments, **card):
    """The line that a user reads."""
    with pytest.raises(AuditError, match=match) as caught:
        load(folder, *arguments, **card)
    assert "\n" not in str(caught.value)


def test_no_file_and_two_files_are_refused(tmp_path):
    refused(tmp_path, "0 files, expected one checkpoint")
    small_tabpfn.write(tmp_path, "v2", "classification")
    small_tabpfn.write(tmp_path, "v3", "classification")
    refused(tmp_path, "2 files, expected one checkpoint")


def test_a_file_of_another_family_is_refused(tmp_path):
    small = {"max_classes": 4, "embed_dim": 8, "col_num_blocks": 1, "col_nhead": 2, "col_num_inds": 4}
    small |= {"row_num_blocks": 1, "row_nhead": 2, "row_num_cls": 2, "icl_num_blocks": 1, "icl_nhead": 2}
    torch.save({"config": small, "state_dict": TabICL(**small).state_dict()}, tmp_path / "tabicl-classifier.ckpt")
    refused(tmp_path, "not a TabPFN checkpoint .another family's file.; change the model's `family`")


@pytest.mark.parametrize("suffix", [".ckpt", ".safetensors"])
@pytest.mark.parametrize("share", [0.0, 0.5, 0.99])
def test_a_truncated_file_is_refused(tmp_path, suffix, share):
    file = small_tabpfn.write(tmp_path, "v3", "classification", suffix)
    content = file.read_bytes()
    file.write_bytes(content[: int(share * len(content))])
    refused(tmp_path, "not a TabPFN checkpoint")


@pytest.mark.parametrize("share", [0.001, 0.01, 0.5])
def test_a_truncated_file_of_torchs_old_format_is_refused(tmp_path, share):
    file = tmp_path / "tabpfn-v3-classifier.ckpt"
    torch.save(small_tabpfn.checkpoint("v3", "classification"), file, _use_new_zipfile_serialization=False)
    content = file.read_bytes()
    for size in range(int(share * len(content)), int(share * len(content)) + 20):
        file.write_bytes(content[:size])
        refused(tmp_path, "not a TabPFN checkpoint")


@pytest.mark.parametrize("change", [{"state_dict": None}, {"embed_dim": 7}, {"icl_num_heads": 0}])
def test_contents_without_sense_are_refused(tmp_path, change):
    content = small_tabpfn.checkpoint("v3", "classification")
    content["config"] |= {key: value for key, value in change.items() if key in content["config"]}
    content |= {key: value for key, value in change.items() if key in content}
    torch.save(content, tmp_path / "tabpfn-v3-classifier.ckpt")
    refused(tmp_path, "not a TabPFN checkpoint")


def test_a_file_of_another_kind_is_refused(tmp_path):
    (tmp_path / "tabpfn-v2-classifier.ckpt").write_text("<html>Not found</html>\n")
    refused(tmp_path, "not a TabPFN checkpoint")


class Trap:
    """Writes a file when it is unpickled."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return open, (str(self.path), "w")


def test_code_in_a_file_does_not_run(tmp_path):
    content = small_tabpfn.checkpoint("v2", "classification") | {"trap": Trap(tmp_path / "sprung")}
    (tmp_path / "weights").mkdir()
    torch.save(content, tmp_path / "weights/tabpfn-v2-classifier.ckpt")
    refused(tmp_path / "weights", "not a TabPFN checkpoint")
    assert not (tmp_path / "sprung").exists()
    pickle.loads(pickle.dumps(Trap(tmp_path / "sprung"))).close()
    assert (tmp_path / "sprung").exists(), "the trap itself does not work"


@pytest.mark.parametrize("version", ["v2", "v2.5", "v2.6", "v3"])
@pytest.mark.parametrize(("task", "other"), [("classification", "regression"), ("regression", "classification")])
def test_another_task_is_refused(tmp_path, version, task, other):
    small_tabpfn.write(tmp_path, version, task)
    refused(tmp_path, f"a TabPFN for {task}, not for {other}; change the model's `task`", other)


def test_one_file_of_v3_5_serves_both_tasks(tmp_path):
    small_tabpfn.write(tmp_path, "v3.5", "classification")
    assert load(tmp_path, "classification").task == "classification"
    assert load(tmp_path, "regression").bars.num_bars == small_tabpfn.BARS


@pytest.mark.parametrize("version", small_tabpfn.VERSIONS)
def test_another_version_is_refused(tmp_path, version):
    """The file's architecture decides, whatever its name or the card says."""
    file = small_tabpfn.write(tmp_path, version, "classification")
    assert load(tmp_path, version=version).version == version
    other = "v3" if version != "v3" else "v2"
    refused(tmp_path, f"a TabPFN {version}, but the card says {other}; change the model's `version`", version=other)
    file = file.rename(tmp_path / "mine.ckpt")
    assert load(tmp_path, version=version).version == version
    file.rename(tmp_path / f"tabpfn-{other}-classifier.ckpt")
    refused(tmp_path, f"named {other}, but it holds a TabPFN {version}; restore the file's name")


def test_v3_5_fast_is_identified_by_its_name(tmp_path):
    file = small_tabpfn.write(tmp_path, "v3.5", "classification")
    refused(tmp_path, "a TabPFN v3.5, but the card says v3.5-fast", version="v3.5-fast")
    file.rename(tmp_path / "tabpfn-v3.5-fast-20260909.ckpt")
    assert load(tmp_path, version="v3.5-fast").version == "v3.5"
    refused(tmp_path, "a TabPFN v3.5-fast, but the card says v3.5", version="v3.5")


def test_an_unknown_architecture_is_named(tmp_path):
    content = small_tabpfn.checkpoint("v3", "classification") | {"architecture_name": "tabpfn_v9"}
    save_as_safetensors(content, tmp_path / "tabpfn.safetensors")
    refused(tmp_path, "the architecture 'tabpfn_v9' is unknown; TabPFN has v2, v2.5, v2.6, v3, v3.5")


@pytest.mark.parametrize("version", small_tabpfn.VERSIONS)
def test_missing_and_unexpected_weights_are_named(tmp_path, version):
    content = small_tabpfn.checkpoint(version, "classification")
    first = next(iter(content["state_dict"]))
    lacking = {key: value for key, value in content["state_dict"].items() if key != first}
    file = tmp_path / f"tabpfn-{version}.ckpt"
    torch.save(content | {"state_dict": lacking}, file)
    refused(tmp_path, "Missing key")
    torch.save(content | {"state_dict": content["state_dict"] | {"surplus": torch.zeros(1)}}, file)
    refused(tmp_path, 'Unexpected key.*"surplus"')


def test_a_regressor_without_bars_is_refused(tmp_path):
    content = small_tabpfn.checkpoint("v2", "regression")
    bare = {key: value for key, value in content["state_dict"].items() if not key.startswith("criterion.")}
    torch.save(content | {"state_dict": bare}, tmp_path / "tabpfn-v2-regressor.ckpt")
    refused(tmp_path, "not a TabPFN checkpoint .a regressor without borders of bars", "regression")


def test_options_are_refused(tmp_path):
    small_tabpfn.write(tmp_path, "v2", "classification")
    refused(tmp_path, "options: TabPFN has none, so not clip; remove them", clip=6.0)


@pytest.mark.parametrize("version", small_tabpfn.VERSIONS)
@pytest.mark.parametrize("task", ["classification", "regression"])
def test_safetensors_hold_the_same_model(tmp_path, version, task):
    small_tabpfn.write(tmp_path / "torch", version, task)
    small_tabpfn.write(tmp_path / "safe", version, task, ".safetensors")
    one, other = (load(tmp_path / name, task, version) for name in ("torch", "safe"))
    x, y = torch.randn(1, 9, 3, generator=torch.Generator().manual_seed(0)), torch.arange(8)[None] % 3
    torch.testing.assert_close(one.forward(x[:, :8], y, x[:, 8:]), other.forward(x[:, :8], y, x[:, 8:]))


def test_what_the_package_saves_is_opened(tmp_path):
    """Such a file of v3 holds the bars twice: in the module and beside it."""
    file = small_tabpfn.write(tmp_path / "first", "v3", "regression")
    fitted = TabPFNRegressor(model_path=str(file), device="cpu").fit([[0.0], [1.0]], [0.0, 1.0])
    (tmp_path / "second").mkdir()
    save_tabpfn_model(fitted, tmp_path / "second/tabpfn-v3-regressor-saved.ckpt")
    first, second = (load(tmp_path / name, "regression", "v3") for name in ("first", "second"))
    torch.testing.assert_close(first.module.state_dict(), second.module.state_dict())
    torch.testing.assert_close(first.bars.borders, second.bars.borders)


@pytest.mark.parametrize(
    ("version", "task", "limits"),
    [
        ("v2", "classification", Limits(rows=10_000, features=500, classes=10)),
        ("v2.5", "regression", Limits(rows=50_000, features=2000, classes=0)),
        ("v3", "classification", Limits(rows=1234, features=2000, classes=7)),
    ],
)
def test_limits_are_the_checkpoints(tmp_path, version, task, limits):
    """Files since v2.6 state them; for older ones the package does."""
    content = small_tabpfn.checkpoint(version, task)
    if "inference_config" in content:
        content["inference_config"] |= {"MAX_NUMBER_OF_SAMPLES": 1234, "MAX_NUMBER_OF_CLASSES": 7}
    torch.save(content, tmp_path / f"tabpfn-{version}.ckpt")
    assert load(tmp_path, task).limits == limits
