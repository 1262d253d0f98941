"""Synthetic tables as text: random names, units and decimals, and classes that can be predicted from the cells.

A simple prior for a small language model: the classes are clusters, slices of a linear score, or random. Rows repeat,
so that a model learns to look a record up; some labels are wrong, also those of repeated rows. No word comes from a
real table: all come from the topics of Python's manual.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pydoc_data import topics
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from tokenizers import Regex, Tokenizer, decoders, models, pre_tokenizers, trainers
from torch import Tensor
from transformers import PreTrainedTokenizerFast

from memaudit.common import seeds
from memaudit.common.arrays import Array, Array32
from memaudit.models.table_serialisation import Serialiser

# The fixed parts of sentences are one token each. A token holds one digit at most, with the decimal point before it:
# numbers are read alike in every column, and close ones share their first tokens.
PIECES = r"\.\nAnswer:|\. The |The | is |[._ ]?\d|\n|[_ ]?\p{L}+|."
Settings = Mapping[str, Any]
# tokens (B, t); their positions; weights (B, t) in the loss: of the answers' tokens (1 a row in sum), of all others
Batch = tuple[Tensor, Tensor, Tensor, Tensor]
LETTERS = "abcdefghijklmnopqrstuvwxyz"
MARKS = ("_", " ", "_", " ", "", "-", "/")  # between the words of a name


@dataclass(frozen=True)
class Shape:
    """Rows, features and most classes of a table; how far apart its clusters are, in deviations."""

    rows: int
    features: int
    classes: int
    apart: tuple[float, float]


def table(shape: Shape, settings: Mapping[str, Any], rng: np.random.Generator) -> tuple[Serialiser, Any, Any]:
    """Draw a table: its serialiser, its rows (n, d) float32 and their class codes (n,).

    Settings: `families`, the weights of clusters, linear and chance; `repeated`, the probability that rows of a
    table repeat (always where classes are random); `wrong`, that some labels are wrong; `categories`, that a column is
    categorical.
    """
    classes = 2 if rng.random() < settings["binary"] else int(rng.integers(2, shape.classes + 1))
    families = settings["families"]
    family = rng.choice(list(families), p=np.array([*families.values()]) / sum(families.values()))
    z, y = _rows(shape, classes, family, rng)
    if family == "chance" or rng.random() < settings["repeated"]:
        z, y = _repeated(z, y, rng)
    if rng.random() < settings["wrong"]:
        y = np.where(rng.random(len(y)) < rng.uniform(0, 0.25), rng.integers(0, classes, len(y)), y)
    columns, x = _columns(z, settings["categories"], rng)
    target = {"name": _name(rng), "type": "categorical", "categories": _classes(classes, rng)}
    return Serialiser.of({"columns": columns, "target": target}, "template"), x, y


def _rows(shape: Shape, classes: int, family: str, rng: np.random.Generator) -> tuple[Array, NDArray[np.int64]]:
    """Standardised features (n, d) and class codes (n,)."""
    n, d = shape.rows, shape.features
    mixed = np.eye(d) + rng.uniform(0, 1) * rng.normal(size=(d, d)) / np.sqrt(d)
    noise = rng.normal(size=(n, d)) @ mixed
    share = rng.dirichlet(np.full(classes, 5.0))
    y = rng.choice(classes, n, p=share)
    relevant = rng.random(d) < 0.7
    relevant[rng.integers(d)] = True
    match family:
        case "clusters":
            apart = np.exp(rng.uniform(*np.log(shape.apart), d)) * relevant
            noise = noise + apart * rng.normal(size=(classes, d))[y]
        case "linear":
            score = noise @ (relevant * rng.normal(size=d))
            y = np.searchsorted(np.cumsum(share)[:-1] * (n - 1), score.argsort().argsort())
            y = rng.permutation(classes)[y]
    return (noise - noise.mean(0)) / (noise.std(0) + 1e-9), y


def _repeated(z: Array, y: NDArray[np.int64], rng: np.random.Generator) -> tuple[Array, NDArray[np.int64]]:
    """Some rows in the place of later ones."""
    rows = np.arange(len(y))
    earlier = (rng.random(len(y)) * rows).astype(int)
    rows = np.where(rng.random(len(y)) < rng.uniform(0, 0.6), earlier, rows)
    return z[rows], y[rows]


def _columns(z: Array, categories: float, rng: np.random.Generator) -> tuple[list[dict[str, Any]], Array32]:
    """Schema and cells of the features z (n, d) in units of their own, with few decimals."""
    columns, cells = [], []
    for feature in z.T:
        if rng.random() < categories:
            names = [_name(rng, 1) for _ in range(rng.integers(2, 5))]
            names = list(dict.fromkeys(names))
            columns.append({"name": _name(rng), "type": "categorical", "categories": names})
            cells.append(np.digitize(feature, np.linspace(-1.2, 1.2, len(names) + 1)[1:-1]))
            continue
        columns.append({"name": _name(rng), "type": "numeric"})
        cells.append(_measured(feature, rng))
    return columns, np.stack(cells, 1).astype(np.float32)


def _measured(z: Array, rng: np.random.Generator) -> Array:
    """A feature (n,) in a unit of its own: from small to large, most positive, some skewed, with few decimals."""
    scale = 10 ** rng.uniform(-2, 2.7)
    offset = rng.choice([0.0, 1.0]) * rng.uniform(2, 4) + np.exp(rng.uniform(0, 2.5)) if rng.random() < 0.85 else 0.0
    if rng.random() < 0.25:
        z, offset = np.exp(0.6 * z), 0.0
    elif offset:
        z = np.abs(z + offset) - offset
    decimals = int(np.clip(np.ceil(-np.log10(scale)) + rng.integers(0, 3), 0, 4))
    return np.round((z + offset) * scale, decimals)


@cache
def _words() -> tuple[str, ...]:
    """Words of the manual's topics, those in most topics first."""
    counts: dict[str, int] = {}
    for text in topics.topics.values():
        for word in set(re.findall(r"\b[a-z]{3,11}\b", text)):
            counts[word] = counts.get(word, 0) + 1
    return tuple(sorted(counts, key=lambda word: (-counts[word], word)))[:1000]


def _word(rng: np.random.Generator) -> str:
    if rng.random() < 0.15:
        return "".join(rng.choice(list(LETTERS), rng.integers(1, 7)))
    word = _words()[int(len(_words()) * rng.random() ** 2)]
    return word.capitalize() if rng.random() < 0.08 else word


def _name(rng: np.random.Generator, most: int = 3) -> str:
    """One to three words, some followed by a number."""
    count = min(most, int(rng.choice([1, 2, 3], p=[0.75, 0.2, 0.05])))
    name = MARKS[rng.integers(len(MARKS))].join(_word(rng) for _ in range(count))
    return f"{name}{rng.choice(['', '_', ' '])}{rng.integers(100)}" if rng.random() < 0.08 else name


def _classes(count: int, rng: np.random.Generator) -> list[str]:
    """Different names: words, one word followed by a number or letter, or numbers."""
    match rng.choice(["words", "counted", "numbers"], p=[0.5, 0.35, 0.15]):
        case "words":
            names = [_name(rng, 2) for _ in range(count)]
            return names if len({" ".join(name.split()) for name in names}) == count else _classes(count, rng)
        case "counted":
            start, mark = int(rng.integers(2)), rng.choice(["_", "_", " ", "-", ""])
            tails = LETTERS[start:] if rng.random() < 0.25 else [str(start + i) for i in range(count)]
            word = _word(rng)
            return [f"{word}{mark}{tail}" for tail in tails[:count]]
    start = int(rng.integers(2))
    return [str(start + i) for i in range(count)]


def stage_of(prior: Settings, progress: float) -> Mapping[str, Any]:
    """The curriculum's stage at `progress` in [0, 1]."""
    return next(stage for stage in prior["curriculum"] if progress <= stage["until"])


def shape_of(prior: Settings, progress: float, rng: np.random.Generator) -> Shape:
    """Sizes of a batch's tables: rows log-uniform, features uniform within the curriculum's stage."""
    stage = stage_of(prior, progress)
    rows = int(np.exp(rng.uniform(*np.log(stage["rows"]))))
    return Shape(
        rows, int(rng.integers(stage["least"], stage["features"] + 1)), stage["classes"], tuple(stage["apart"])
    )


def parts_of(shape: Shape, prior: Settings, rng: np.random.Generator) -> list[str]:
    """Draw a table as text: the instruction, then each row's question and answer."""
    serialiser, x, y = table(shape, prior, rng)
    answers = [serialiser.answer(code) for code in y]
    return [
        serialiser.instruction(),
        *(part for pair in zip(serialiser.questions(x), answers, strict=True) for part in pair),
    ]


def tokenizer_of(settings: Settings) -> PreTrainedTokenizerFast:
    """Train a byte-level BPE tokenizer (Sennrich et al. 2016) of the prior's texts."""
    prior, rng = settings["prior"], seeds.generator(settings["seed"], "pretrain text", "tokenizer")
    bpe = Tokenizer(models.BPE())
    bpe.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(Regex(PIECES), "isolated"),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
        ]
    )
    bpe.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=settings["vocabulary"],
        initial_alphabet=sorted(pre_tokenizers.ByteLevel.alphabet()),
        show_progress=False,
    )
    texts = ("".join(parts_of(shape_of(prior, 1.0, rng), prior, rng)) for _ in range(settings["tokenizer_tables"]))
    bpe.train_from_iterator(texts, trainer)
    return PreTrainedTokenizerFast(tokenizer_object=bpe, clean_up_tokenization_spaces=False)


def batch(settings: Settings, tokenizer: PreTrainedTokenizerFast, progress: float, rng: np.random.Generator) -> Batch:
    """Draw tables of one shape, as many as fill the budget of tokens; see Batch."""
    prior = settings["prior"]
    shape = shape_of(prior, progress, rng)
    length = 25 + shape.rows * (4 + 8 * shape.features)
    count = max(1, settings["tokens"] // length)
    return collate([parts_of(shape, prior, rng) for _ in range(count)], tokenizer, settings, rng)


def collate(
    texts: list[list[str]], tokenizer: PreTrainedTokenizerFast, settings: Settings, rng: np.random.Generator
) -> Batch:
    """Collate tables, each as its parts (see parts_of), into one batch.

    In half of them the positions skip between rows, up to the model's limit: a longer context then has no distance that
    was not in training (Zhu et al. 2024, positional skip-wise training).
    """
    encoded = tokenizer.backend_tokenizer.encode_batch(["".join(parts) for parts in texts])
    longest = max(len(cut.ids) for cut in encoded)
    tokens, positions = np.zeros((2, len(texts), longest), dtype=np.int64)
    answers, others = np.zeros((2, len(texts), longest), dtype=np.float32)
    for i, (parts, cut) in enumerate(zip(texts, encoded, strict=True)):
        size, rows = len(cut.ids), len(parts) // 2
        starts = np.cumsum([0, *map(len, parts[:-1])])
        part = np.searchsorted(starts, [begin for begin, _ in cut.offsets], "right") - 1
        leap = rng.integers(0, settings["leap"] + 1) * (rng.random() < 0.5)
        leaps = np.sort(rng.integers(0, leap + 1, rows + 1)) * (np.arange(rows + 1) > 0)
        tokens[i, :size], positions[i, :size] = cut.ids, np.arange(size) + leaps[(part + 1) // 2]
        answers[i, :size] = (part > 0) & (part % 2 == 0)
        others[i, 1:size] = 1 - answers[i, 1:size]
    answers /= sum(len(parts) // 2 for parts in texts)
    others *= settings["other"] / others.sum()
    return tuple(map(torch.from_numpy, (tokens, positions, answers, others)))
