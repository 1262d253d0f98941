"""Parts `token_features` and `lt_mia_training`: features of tokens at a large vocabulary, and training on them."""

import time
from functools import cache, partial
from typing import Any

import numpy as np
import torch

from memaudit.attacks import token_features
from memaudit.attacks.learned_training import PRESETS, Combination, settings_of, train
from memaudit.attacks.token_features import TokenFeatures, channels, extract, pack, unpack
from memaudit.common.io import MEBIBYTE
from memaudit.gpu_measurements.device_facts import free_mib
from memaudit.gpu_measurements.resumable_parts import Case, LeftOut, Part, Setup
from memaudit.gpu_measurements.timing import synchronize, timed
from memaudit.statistics.roc import auc

TEXTS = {"texts": 8, "tokens": 128, "vocabulary": 150_000}
SMALLEST_TEXTS = {"texts": 2, "tokens": 6, "vocabulary": 500}
# The paper's: 30 combinations of 18,000 texts.
TRAINING = {"combinations": 30, "texts": 18_000, "validation_texts": 2_000, "tokens": 128, "epochs": 3}
SMALLEST_TRAINING = {"combinations": 2, "texts": 16, "validation_texts": 8, "tokens": 6, "epochs": 3}
CHECKED = 4  # tokens of a text whose features are compared with the CPU's
DTYPES = {"fp32": torch.float32, "bf16": torch.bfloat16}
DRAWN = 64  # texts that are drawn; the others repeat them


def feature_cases(smallest: bool) -> list[Case]:
    """Logits of two dtypes, with the default working memory and with 1 GiB."""
    sizes = SMALLEST_TEXTS if smallest else TEXTS
    return [
        Case(
            f"{dtype} logits, {memory} MiB",
            {"dtype": dtype, "working_memory_mib": memory, "sizes": sizes},
            partial(features, dtype, memory, sizes),
        )
        for memory in (token_features.MEMORY, 1024)
        for dtype in DTYPES
    ]


def features(dtype: str, memory: int, sizes: dict[str, int], setup: Setup) -> dict[str, Any]:
    """Texts a second, memory beside the logits, and the largest difference from the CPU's features."""
    shape = sizes["texts"], sizes["tokens"], sizes["vocabulary"]
    logits_mib = 2 * np.prod(shape) * DTYPES[dtype].itemsize / MEBIBYTE
    if setup.device != "cpu" and 2 * logits_mib + memory > free_mib(setup.device):
        raise LeftOut(f"the logits need {logits_mib:.0f} MiB, {free_mib(setup.device)} are free")
    torch.manual_seed(0)
    target = 3 * torch.randn(shape, device=setup.device, dtype=DTYPES[dtype])
    reference = target + 0.3 * torch.randn(shape, device=setup.device, dtype=DTYPES[dtype])
    ids = torch.randint(sizes["vocabulary"], shape[:2], device=setup.device)
    mask = torch.ones_like(ids)
    allocated = torch.cuda.memory_allocated(setup.device) / MEBIBYTE if setup.device != "cpu" else 0.0
    timing = timed(lambda: extract(target, reference, ids, mask, memory=memory), setup.device, 10, seconds=10)
    few = [part[:1, :CHECKED] for part in (target, reference, ids, mask)]
    here, on_cpu = extract(*few).values, extract(*(part.cpu() for part in few)).values
    return timing | {
        "texts_per_second": sizes["texts"] / timing["seconds"],
        "tokens_per_second": sizes["texts"] * sizes["tokens"] / timing["seconds"],
        "logits_mib": float(logits_mib),
        "peak_mib_beside_logits": timing["peak_mib"] - allocated if timing["peak_mib"] is not None else None,
        "largest_difference_from_cpu": float(np.abs(here - on_cpu).max()),
    }


def feature_headline(measured: list[dict[str, Any]]) -> str:
    """The best rate, and the largest difference from the CPU."""
    best = max((one["tokens_per_second"] for one in measured), default=0.0)
    worst = max((one["largest_difference_from_cpu"] for one in measured), default=0.0)
    return f"{best:,.0f} tokens/s at best, features differ by at most {worst:.1e} from the CPU's"


def training_cases(smallest: bool) -> list[Case]:
    """The classifier of the paper, and the larger one of its authors' repository."""
    sizes = SMALLEST_TRAINING if smallest else TRAINING
    return [
        Case(
            f"classifier of the {source}",
            {"source": source, "dtype": "fp32", "sizes": sizes},
            partial(training, source, sizes),
        )
        for source in PRESETS
    ]


def training(source: str, sizes: dict[str, int], setup: Setup) -> dict[str, Any]:
    """Seconds of an epoch with its validation (of all but the first), and of unpacking its texts on the processor."""
    combinations = [
        Combination(f"random {number}", _rows(sizes["texts"], sizes["tokens"]), _members(sizes["texts"]))
        for number in range(sizes["combinations"])
    ]
    validation = Combination(
        "validation", _rows(sizes["validation_texts"], sizes["tokens"]), _members(sizes["validation_texts"])
    )
    architecture, settings = settings_of(source, {}, {"epochs": sizes["epochs"], "warmup": 0})
    ends: list[float] = []

    def clocked(scores: np.ndarray, member: np.ndarray) -> float:
        synchronize(setup.device)
        ends.append(time.perf_counter())
        return auc(scores, member)

    if setup.device != "cpu":
        torch.cuda.reset_peak_memory_stats(setup.device)
    train(combinations, [validation], clocked, 0, architecture, settings, setup.device)
    each = np.diff(ends).tolist()
    texts = sizes["combinations"] * sizes["texts"]
    return {
        "seconds": float(np.median(each)),
        "seconds_of_each": each,
        "repetitions": len(each),
        "texts_per_second": texts / float(np.median(each)),
        "batch": settings.batch,
        "unpacking_seconds": _unpacking_seconds(combinations[0].rows) * sizes["combinations"],
        "peak_mib": torch.cuda.max_memory_allocated(setup.device) / MEBIBYTE if setup.device != "cpu" else None,
    }


def _unpacking_seconds(rows: np.ndarray) -> float:
    began = time.perf_counter()
    for start in range(0, len(rows), 1024):
        unpack(rows[start : start + 1024])
    return time.perf_counter() - began


@cache
def _rows(texts: int, tokens: int) -> np.ndarray:
    """Packed features of random texts."""
    rng = np.random.default_rng(0)
    values = rng.standard_normal((min(texts, DRAWN), tokens, len(channels())), dtype=np.float32)
    return np.resize(pack(TokenFeatures(values, np.ones(values.shape[:2], bool))), texts)


def _members(texts: int) -> np.ndarray:
    return np.arange(texts) % 2 == 0


def training_headline(measured: list[dict[str, Any]]) -> str:
    """Texts a second of each classifier."""
    return "; ".join(f"{one['name']} {one['texts_per_second']:,.0f} texts/s" for one in measured)


FEATURES = Part("token_features", 60, feature_cases, feature_headline)
TRAINING_PART = Part("lt_mia_training", 180, training_cases, training_headline)
