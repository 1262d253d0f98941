"""What a mitigation is called on the page and on the screen, by its name in the results."""

import re
from collections.abc import Callable

# Each by its name without the number behind it, which the words hold.
WORDS: dict[str, Callable[[str], str]] = {
    "none": lambda _: "no mitigation",
    "labels only": lambda _: "labels without probabilities",
    "predicted numbers only": lambda _: "predicted numbers without densities",
    "decimals": lambda digits: f"probabilities rounded to {digits} {'digit' if digits == '1' else 'digits'}",
    "bags": lambda parts: f"averages over {parts} parts of the members",
    "context": lambda size: f"fewer members, {size}",
    "layer dropped": lambda _: "without the most vulnerable tenth of the records",
    "layer coarsened": lambda _: "fewer details of the most vulnerable tenth of the records",
    "layer random": lambda _: "without a random tenth of the records",
    "keys": lambda rows: f"k-anonymous keys{f' of {rows} rows' if rows else ''}, inside the model",
}


def called(name: str) -> str:
    """The words for a mitigation; a name that has none, as of a later version, is returned as it is."""
    kind, number = re.fullmatch(r"(.*?) ?(\d*)", name).groups()
    return WORDS[kind](number) if kind in WORDS else name
