"""Weights, operations and memory of a language model from a few numbers of its config, for `snakemake plan`.

No module of a job imports this one: what the plan takes for granted is no part of a result.
"""

from collections.abc import Mapping
from typing import Any

# What the config classes of `transformers` call the width and the number of layers.
WIDTH = ("hidden_size", "n_embd", "d_model")
LAYERS = ("num_hidden_layers", "num_layers", "n_layer", "n_layers")


def weights(config: Mapping[str, Any], vocabulary: int = 0) -> float | None:
    """Return about how many weights a token meets in a language model, from its config; None where that is unknown.

    12 width^2 a layer (Kaplan et al. 2020, Section 2.1), in recurrent models too, and the head. config: of its class
    in `transformers`; vocabulary: tokens, where it does not state them.
    """
    width, layers = _shape(config)
    if width is None or layers is None:
        return None
    return width * (12 * width * layers + config.get("vocab_size", vocabulary))


def states(config: Mapping[str, Any]) -> int:
    """Return the numbers in the hidden states of one token, in all layers; 0 where the config does not state them."""
    width, layers = _shape(config)
    return (width or 0) * (layers or 0)


def layers(config: Mapping[str, Any]) -> int:
    """Return the number of layers; 0 where the config does not state it."""
    return _shape(config)[1] or 0


def operations(weights: float, tokens: float) -> float:
    """Return the operations of a forward pass: two for each weight and token (Kaplan et al. 2020, Table 1).

    Products of attention are left out: tokens / (6 * width) of it.
    """
    return 2 * weights * tokens


def memory_bytes(weights: float, trained: bool, best: bool = False) -> float:
    """Return the bytes in fp32 of a language model and a tuned copy; trained: whole, by AdamW.

    best: whether the weights of its best epoch are kept, too. With a GPU the base and these wait in main memory, and
    16 bytes a weight are left there. Adapters, and the activations of a batch of texts, are left out.
    """
    return ((24 if best else 20) if trained else 8) * weights


def _shape(config: Mapping[str, Any]) -> tuple[int | None, int | None]:
    """Width and layers; None where they are not stated."""
    width, layers = (next((config[name] for name in names if name in config), None) for names in (WIDTH, LAYERS))
    return width, layers
