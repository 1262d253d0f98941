"""Notations of numbers in a text column: decimal comma, groups of thousands, percent, currency, unit, negative signs.

A notation is read from the shapes of all cells (`cell_shapes`) and holds for the whole column.
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from memaudit.common.cell_notations import SEPARATORS
from memaudit.data.cell_shapes import normalised

GROUPS = ("", " ", "'", ".", ",")
PERCENT = "12 % is read as 12"
# 100 cells with three digits behind the separator and none with fewer: decimals without trailing zeros have that with
# probability .9^100; decimals with a fixed number of digits would have them in the cells without a separator too.
MANY, SOME = 100, 5
# Letters before a number that are no part of a code such as ID123.
CURRENCIES = frozenset({"EUR", "USD", "GBP", "CHF", "SEK", "NOK", "DKK", "PLN", "JPY", "CNY", "INR", "BRL"})
CURRENCIES |= {"kr", "Kr", "Fr", "Rs", "US", "A", "C", "R"}  # also of US$, A$, C$ and R$
SHAPE = re.compile(
    r"(?P<open>\()?(?P<first>[-+])?(?P<before>(?:a ?)?[^\w\s.,'()+%-]|a)? ?(?P<second>[-+])?(?P<inner>\()?"
    r"(?P<body>[z9.,][z9.,' ]*?)(?P<exponent>a[-+]?9{1,3})? ?(?P<after>%|[^\w\s.,'()+-]?a?[²³]?)(?P<last> ?-)?\)?"
)  # fmt: skip


@dataclass(frozen=True)
class NumberShape:
    """A shape that is a number. body: digits and separators; affix: the sign or unit before and behind it."""

    body: str
    affix: tuple[str, str]
    exponent: bool
    enclosed: bool  # (12)
    trailing: bool  # 12-


@dataclass(frozen=True)
class Notation:
    """A notation of all cells. decimals: the decimal signs that are possible, none if no cell has a separator."""

    decimals: tuple[str, ...]
    cells: int
    codes: int
    affix: tuple[str, str]
    exponent: bool
    enclosed: bool
    trailing: bool
    grouped: tuple[str, ...]  # for each of `decimals`: the sign that groups thousands, if any
    shapes: tuple[str, ...]

    def lettered(self) -> bool:
        """Whether the affix has letters, whose sameness its shape does not show."""
        return any("a" in part for part in self.affix)

    def bare(self) -> bool:
        """Whether numbers have no unit or sign besides percent and currency, as those in names have: <18 or 3 items."""
        signs = "".join(self.affix)
        return not self.lettered() and all(sign == "%" or unicodedata.category(sign) == "Sc" for sign in signs)


def parse(shape: str) -> NumberShape | None:
    """The shape as a number, None if it is none."""
    match = SHAPE.fullmatch(shape)
    if match is None or not re.search("[z9]", match["body"]):
        return None
    enclosed = bool(match["open"] or match["inner"])
    signs = [sign for sign in (match["first"], match["second"], (match["last"] or "").strip()) if sign]
    if match["before"] and match["after"]:
        return None
    if enclosed != shape.endswith(")") or len(signs) + enclosed > 1 or (match["open"] and match["inner"]):
        return None
    trailing = (match["last"] or "").strip() == "-"
    affix = ((match["before"] or "").replace(" ", ""), match["after"])
    return NumberShape(match["body"].strip(), affix, bool(match["exponent"]), enclosed, trailing)


def notation(shapes: Mapping[str, int]) -> Notation | None:
    """The notation that most cells with the most frequent affix have, None if no cell is a number."""
    parsed = {shape: number for shape in shapes if (number := parse(shape)) is not None}
    affixes = Counter()
    for shape, number in parsed.items():
        affixes[number.affix] += shapes[shape]
    if not affixes:
        return None
    affix = affixes.most_common(1)[0][0]
    formats = [(sign, group) for sign in SEPARATORS for group in GROUPS if group != sign]
    fitting = {
        one: {shape: number for shape, number in parsed.items() if number.affix == affix and _fits(number.body, *one)}
        for one in formats
    }
    chosen = max(fitting.values(), key=lambda fit: sum(shapes[shape] for shape in fit))
    if not chosen:
        return None
    bodies = Counter()
    for shape, number in chosen.items():
        bodies[number.body] += shapes[shape]
    signs = _signs(bodies, [one for one, fit in fitting.items() if fit.keys() >= chosen.keys()])
    return Notation(
        tuple(sign for sign, _ in signs),
        bodies.total(),
        sum(n for body, n in bodies.items() if _is_code(body)),
        affix,
        any(number.exponent for number in chosen.values()),
        any(number.enclosed for number in chosen.values()),
        any(number.trailing for number in chosen.values()),
        tuple(group for _, group in signs),
        tuple(chosen),
    )


def _signs(bodies: Mapping[str, int], formats: Sequence[tuple[str, str]]) -> list[tuple[str, str]]:
    """Decimal sign and group sign of the formats, one of those that read all numbers alike."""
    effects: dict[tuple[int, ...], tuple[str, str]] = {}
    for sign, group in formats:
        effects.setdefault(tuple(body.find(sign) for body in bodies), (sign, group))
    known = list(effects.values())
    if not any(sign in body for body in bodies for sign in SEPARATORS):
        return [("", known[0][1])]
    if len(known) > 1 and (group := _thousands(bodies)):
        return [one for one in known if one[1] == group] or known
    return known


def converted(text: str, found: Notation, decimal: str) -> str:
    """SQL of the text in the notation of SQL. decimal: one of the possible signs, or empty where no cell has one."""
    exponent = "eE" if found.exponent else ""
    # The point of a group and the sign that is no decimal are dropped with blanks, units and apostrophes.
    kept = f"regexp_replace({normalised(text)}, '[^0-9{decimal}{exponent}()+-]', '', 'g')"
    body = f"replace({kept}, ',', '.')" if decimal == "," else kept
    if found.enclosed or found.trailing:
        return f"CASE WHEN regexp_matches({body}, '[(]|-$') THEN '-' || translate({body}, '()+-', '') ELSE {body} END"
    return body


def described(found: Notation, decimal: str) -> list[str]:
    """What a reader is told about the notation, in parts."""
    parts = []
    if decimal == ",":
        parts.append("decimal comma")
    group = dict(zip(found.decimals, found.grouped, strict=True))[decimal]
    if group:
        named = {" ": "blanks", "'": "apostrophes", ".": "points", ",": "commas"}[group]
        parts.append(f"{named} group thousands")
    if "%" in found.affix:
        parts.append(PERCENT)
    elif any(found.affix):
        parts.append("the same sign or unit in all cells is left out")
    if found.enclosed:
        parts.append("(12) is -12")
    if found.trailing:
        parts.append("12- is -12")
    return parts


def _fits(body: str, decimal: str, group: str) -> bool:
    return _pattern(decimal, group).fullmatch(body) is not None


@cache
def _pattern(decimal: str, group: str) -> re.Pattern[str]:
    sign, between = re.escape(decimal), re.escape(group)
    whole = "[z9]9*"
    if group:
        whole += f"|9{{1,3}}(?:{between}9{{3}})+"
    if group == ",":
        whole += r"|9{1,2}(?:,9{2})+,9{3}"  # lakh and crore
    return re.compile(f"(?:{whole})(?:{sign}9*)?|{sign}9+")


def _is_code(body: str) -> bool:
    return body.startswith("z9") or (body.isalnum() and len(body) > 15)


def _thousands(bodies: Mapping[str, int]) -> str:
    """The sign that groups thousands by the number of cells with it and without it, empty if they do not tell."""
    signs = {sign for body in bodies for sign in SEPARATORS if sign in body}
    if len(signs) != 1:
        return ""
    sign = signs.pop()
    grouped = sum(n for body, n in bodies.items() if sign in body)
    plain = [(body, n) for body, n in bodies.items() if sign not in body and not body.startswith("z")]
    short = all(len(body) <= 3 for body, _ in plain)
    return sign if grouped >= MANY and short and sum(n for _, n in plain) >= SOME else ""
