"""Part `packages`: answers of the models of other packages, as deployed, on the device against those on the CPU.

Weights are random (`package_weights`). A package in an environment of its own answers in a process of that environment,
whose memory on the device is not known here. Errors are differences of log probabilities of the classes in the context,
or of log densities of the queries' targets, in nats.
"""

import subprocess
import tempfile
import time
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

import torch
from torch import Tensor
from torch.overrides import TorchFunctionMode

from memaudit.common.deployed_packages import PACKAGES
from memaudit.common.errors import AuditError
from memaudit.gpu_measurements import package_weights
from memaudit.gpu_measurements.resumable_parts import Case, LeftOut, Part, Setup
from memaudit.gpu_measurements.timing import timed
from memaudit.models.batched_queries import Question, answer
from memaudit.models.package_sessions import interpreter
from memaudit.models.packaged_models import PackagedModel

# kumo-medium lies between the two others: its embedding is that of large, and it is as wide as small after it.
NETWORKS = {
    "tabdpt": ("tabdpt", None),
    "mitra": ("mitra", None),
    "sdm kumo-large": ("sdm", "kumo-large"),
    "sdm tabicl-v2": ("sdm", "tabicl-v2"),
    "sdm kumo-small": ("sdm", "kumo-small"),
    "tabfm": ("tabfm", None),  # 1.6 billion weights: the last that a part's time allows
}
# One of each package, and both tasks of the one that runs in this process.
SMALLEST_CASES = [("tabdpt", "regression"), ("mitra", "classification"), ("sdm kumo-small", "classification")]
SMALLEST_CASES += [("sdm kumo-small", "regression"), ("tabfm", "classification")]
PUBLISHED = {"context_rows": 1000, "query_rows": 250, "features": 14, "views": 2}
SMALLEST = {"context_rows": 30, "query_rows": 10, "features": 4, "views": 2}
# Its default is one view. It computes in bf16, in which a CPU without instructions for it takes minutes for more rows.
PUBLISHED_MITRA = {"context_rows": 200, "query_rows": 50, "features": 14, "views": 1}
CATEGORIES = ["a", "b", "c"]  # of every fourth feature
CLASSES = 2


def cases(smallest: bool) -> list[Case]:
    """Every network, for every task of its package."""
    published = [(network, task) for network, (family, _) in NETWORKS.items() for task in PACKAGES[family].tasks]
    found = []
    for network, task in SMALLEST_CASES if smallest else published:
        mitra = network == "mitra"
        sizes = SMALLEST if smallest else PUBLISHED_MITRA if mitra else PUBLISHED
        facts = {"network": network, "task": task, "dtype": "bf16" if mitra else "fp32", "sizes": sizes}
        found.append(Case(f"{network} {task}", facts, partial(compare, network, task, sizes)))
    return found


def compare(network: str, task: str, sizes: Mapping[str, int], setup: Setup) -> dict[str, Any]:
    """Seconds of one context's answers on the device and on the CPU, and their differences.

    Raises LeftOut where the package is not installed, AuditError where its environment has no GPU.
    """
    family, version = NETWORKS[network]
    if line := package_weights.missing(family):
        raise LeftOut(line)
    check_device(family, setup.device)
    question, targets = table(task, sizes)
    card = card_of(network, task, sizes)
    with tempfile.TemporaryDirectory() as folder:
        weights = package_weights.write(family, Path(folder), task, version, setup.smallest)
        model = opened(weights, card, "cpu", sizes, setup.smallest)
        began = time.perf_counter()
        expected = answers(model, question, targets)
        measured = {"cpu_seconds": time.perf_counter() - began, "weights": package_weights.number_of_weights(weights)}
        if setup.device != "cpu":
            del model  # before the other one is read
            model = opened(weights, card, setup.device, sizes, setup.smallest)
        found: list[Tensor] = []
        repetitions, seconds = (1, 0.0) if setup.smallest else (5, 10.0)
        measured |= timed(lambda: found.append(answers(model, question, targets)), setup.device, repetitions, seconds)
    if PACKAGES[family].environment is not None:
        measured["peak_mib"] = None
    return measured | differences(found[-1], expected, task)


def check_device(family: str, device: str) -> None:
    """Raise AuditError where a package's own environment has no GPU: Mitra would compute on the CPU there."""
    environment = PACKAGES[family].environment
    if device == "cpu" or environment is None:
        return
    code = "import sys, torch; sys.exit(not torch.cuda.is_available())"
    if subprocess.run([interpreter(PACKAGES[family]), "-c", code], capture_output=True, check=False).returncode:
        raise AuditError(f"PyTorch of {environment} finds no GPU; install its build for CUDA there")


def card_of(network: str, task: str, sizes: Mapping[str, int]) -> dict[str, Any]:
    """Card of a network as the catalogue gives it; Mitra is not fine-tuned on the context."""
    family, version = NETWORKS[network]
    options = {"n_estimators": sizes["views"]} | ({"fine_tune": False} if family == "mitra" else {})
    facts = {"name": network, "family": family, "mode": "as_deployed", "version": version, "task": task}
    return facts | {"options": options}


def opened(weights: Path, card: Mapping[str, Any], device: str, sizes: Mapping[str, int], small: bool) -> PackagedModel:
    """The model of these weights on a device, for tables of `table`."""
    columns: list[dict[str, Any]] = [{"name": f"x{place}", "type": "numeric"} for place in range(sizes["features"])]
    for column in columns[3::4]:
        column |= {"type": "categorical", "categories": CATEGORIES}
    target = {"name": "y", "type": "numeric"}
    if card["task"] == "classification":
        target |= {"type": "categorical", "categories": CATEGORIES[:CLASSES]}
    with package_weights.shape(card["family"], small):
        return PackagedModel.load(weights, card, device, {"columns": columns, "target": target})


def table(task: str, sizes: Mapping[str, int]) -> tuple[Question, Tensor]:
    """A random context with a target that can be learned, its queries, and the queries' targets."""
    draw = torch.Generator().manual_seed(0)
    rows, context = sizes["context_rows"] + sizes["query_rows"], sizes["context_rows"]
    x = torch.randn(rows, sizes["features"], generator=draw)
    y = x[:, 0] + x[:, 1]
    y = (y > 0).long() if task == "classification" else y.double()
    x[:, 3::4] = torch.randint(len(CATEGORIES), x[:, 3::4].shape, generator=draw).float()
    return Question(x[:context], y[:context], x[context:]), y[context:]


def answers(model: PackagedModel, question: Question, targets: Tensor) -> Tensor:
    """Log probabilities (query, class), or log densities (query,) at the targets, float64."""
    with SameDraws():
        (found,) = answer(model, [question])
    if model.task == "classification":
        return found[:, :CLASSES].double().log_softmax(-1)
    return found.log_density(targets[:, None])[:, 0]


def differences(found: Tensor, expected: Tensor, task: str) -> dict[str, float | None]:
    """Errors against the CPU's answers, how far those vary between records, and the share of changed predictions."""
    error = (found - expected).abs()
    changed = (found.argmax(-1) != expected.argmax(-1)).float().mean().item() if task == "classification" else None
    return {
        "largest_error": error.max().item(),
        "root_mean_square_error": error.square().mean().sqrt().item(),
        "deviation_between_records": (expected[:, 0] if task == "classification" else expected).std().item(),
        "predictions_changed": changed,
    }


class SameDraws(TorchFunctionMode):
    """Within it a seed gives structured-data-models the same views on each device.

    The package draws the order of columns and classes, and signs, by a generator of the device. A GPU's draws others
    than the CPU's of the same seed, so that answers as deployed differ by more than rounding. Here a generator of the
    CPU with that seed draws them. The other packages draw on the CPU.
    """

    def __init__(self) -> None:
        super().__init__()
        self._generators: dict[torch.Generator, torch.Generator] = {}

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        given = dict(kwargs or {})
        if func not in (torch.randperm, Tensor.bernoulli_) or given.get("generator") is None:
            return func(*args, **given)
        generator = given["generator"]
        if generator not in self._generators:
            self._generators[generator] = torch.Generator().manual_seed(generator.initial_seed())
        given["generator"] = self._generators[generator]
        if func is torch.randperm:
            device = given.pop("device", None)
            return func(*args, **given).to(device)
        return args[0].copy_(torch.empty(args[0].shape).bernoulli_(*args[1:], **given))


def headline(measured: list[dict[str, Any]]) -> str:
    """The largest error of each dtype, and the slowest network."""
    largest = [
        f"largest error {max(errors):.1e} nats in {dtype}"
        for dtype in ("fp32", "bf16")
        if (errors := [one["largest_error"] for one in measured if one["dtype"] == dtype])
    ]
    slowest = max(measured, key=lambda one: one["seconds"])
    return f"{', '.join(largest)}; {slowest['name']} takes {slowest['seconds']:.3g} s"


def versions() -> dict[str, str | None]:
    """Versions of the packages: with another one, or once one is installed, the part is measured anew."""
    return {package.distribution: package_weights.installed_version(family) for family, package in PACKAGES.items()}


PART = Part("packages", 220, cases, headline, versions)
