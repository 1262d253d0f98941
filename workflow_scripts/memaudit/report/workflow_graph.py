"""Layered drawing of the workflow: every rule is above the rules that read from it (Sugiyama, Tagawa and Toda 1981)."""

from collections.abc import Iterable
from dataclasses import dataclass
from graphlib import TopologicalSorter
from itertools import pairwise

Edge = tuple[str, str]
# Sizes in px. An arrow that crosses a layer has a gap of its own (PASSAGE); a layer holds at most MOST rules.
LETTER, PADDING, HEIGHT, LAYER, GAP, PASSAGE = 6.1, 16, 50, 88, 12, 10
MOST, SWEEPS = 6, 8


@dataclass(frozen=True)
class Drawing:
    """Left and upper edge of the box of each rule, and arrows as SVG path data, all in px.

    A rule's name takes two lines, broken after its study.
    """

    width: float
    height: float
    box: tuple[float, float]
    boxes: dict[str, tuple[float, float]]
    arrows: list[str]


def draw(rules: Iterable[str], edges: Iterable[Edge]) -> Drawing:
    """Lay out a graph from top to bottom, without the arrows that a chain of others implies.

    Arrows that would close a cycle are omitted, too: a rule may run both before and after another one.
    """
    sources: dict[str, set[str]] = {rule: set() for rule in sorted(rules)}
    for source, reader in sorted(edges):
        if reader not in _above(source, sources):
            sources[reader].add(source)
    direct = _reduced(sources)
    layer = _layers(direct)
    chains = [_chain(source, reader, layer) for source, reader in direct]
    rows = _ordered(layer, chains)
    box = LETTER * max(len(rule.partition("_")[2]) for rule in sources) + PADDING
    centre = _centres(rows, box)
    width = max(x for row in rows for x in (centre[node] for node in row)) + box / 2 + GAP
    height = LAYER * (len(rows) - 1) + HEIGHT + 2 * GAP
    boxes = {rule: (centre[rule] - box / 2, LAYER * layer[rule] + GAP) for rule in sources}
    return Drawing(width, height, (box, HEIGHT), boxes, [_arrow(chain, layer, centre) for chain in chains])


def _above(rule: str, sources: dict[str, set[str]]) -> set[str]:
    """The rule itself and all rules that it depends on."""
    ancestors, waiting = {rule}, [rule]
    while waiting:
        new = sources[waiting.pop()] - ancestors
        ancestors |= new
        waiting += new
    return ancestors


def _reduced(sources: dict[str, set[str]]) -> list[Edge]:
    """The edges that no longer path implies (transitive reduction)."""
    above: dict[str, set[str]] = {}
    for rule in TopologicalSorter(sources).static_order():
        above[rule] = sources[rule].union(*(above[source] for source in sources[rule]))
    return [
        (source, rule)
        for rule, direct in sources.items()
        for source in sorted(direct)
        if not any(source in above[other] for other in direct)
    ]


def _layers(edges: list[Edge]) -> dict:
    """Layer of each rule, 0 on top: as low as its readers and MOST allow (Coffman and Graham 1972)."""
    # Lists, not sets: the order of a set of names differs from process to process, and the drawing with it.
    readers: dict[str, list[str]] = {}
    for source, reader in edges:
        readers.setdefault(source, []).append(reader)
        readers.setdefault(reader, [])
    below: dict[str, int] = {}
    for rule in TopologicalSorter(readers).static_order():
        depth = 1 + max((below[reader] for reader in readers[rule]), default=-1)
        while list(below.values()).count(depth) >= MOST:
            depth += 1
        below[rule] = depth
    return {rule: max(below.values()) - depth for rule, depth in below.items()}


def _chain(source: str, reader: str, layer: dict) -> list:
    """Nodes of an edge, layer by layer: its ends, and a passage in each layer between them."""
    passages = [(source, reader, number) for number in range(layer[source] + 1, layer[reader])]
    layer |= {passage: passage[2] for passage in passages}
    return [source, *passages, reader]


def _ordered(layer: dict, chains: list[list]) -> list[list]:
    """Nodes of each layer from left to right, by the mean position of their neighbours in sweeps down and up."""
    rows: list[list] = [[] for _ in range(max(layer.values()) + 1)]
    for node in sorted(layer, key=str):
        rows[layer[node]].append(node)
    links = [link for chain in chains for link in pairwise(chain)]
    for sweep in range(SWEEPS):
        down = sweep % 2 == 0
        place = {node: index / len(row) for row in rows for index, node in enumerate(row)}
        for row in rows if down else reversed(rows):
            near = {node: [link[not down] for link in links if link[down] == node] for node in row}
            mean = {
                node: sum(place[one] for one in ones) / len(ones) if ones else place[node]
                for node, ones in near.items()
            }
            row.sort(key=lambda node: (mean[node], place[node]))
            place |= {node: (index + 0.5) / len(row) for index, node in enumerate(row)}
    return rows


def _centres(rows: list[list], box: float) -> dict:
    """Horizontal centre of each node; all layers are centred on the widest."""
    widths = [[PASSAGE if isinstance(node, tuple) else box for node in row] for row in rows]
    totals = [sum(row) + GAP * (len(row) - 1) for row in widths]
    centre = {}
    for row, width, total in zip(rows, widths, totals, strict=True):
        left = GAP + (max(totals) - total) / 2
        for node, own in zip(row, width, strict=True):
            centre[node] = left + own / 2
            left += own + GAP
    return centre


def _arrow(chain: list, layer: dict, centre: dict) -> str:
    """SVG path of a smooth line down the chain, straight through its passages."""
    parts = [f"M{centre[chain[0]]:.1f} {LAYER * layer[chain[0]] + GAP + HEIGHT:.1f}"]
    for upper, lower in pairwise(chain):
        x, end, top = centre[upper], centre[lower], LAYER * layer[lower] + GAP
        start = LAYER * layer[upper] + GAP + HEIGHT
        middle = (start + top) / 2
        parts.append(f"C{x:.1f} {middle:.1f} {end:.1f} {middle:.1f} {end:.1f} {top:.1f}")
        if isinstance(lower, tuple):
            parts.append(f"V{top + HEIGHT:.1f}")
    return " ".join(parts)
