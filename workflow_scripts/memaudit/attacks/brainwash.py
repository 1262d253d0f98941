"""Brainwash: the minimum number of mislabelled copies that make the answer wrong (TabPATE, Appendix A.1).

Label-only. Members need more copies. The paper adds one copy after the other; where more copies never remedy an answer,
bisection finds the same with fewer questions. Numbers of copies are 0 .. most: 0 means wrong without any, and most + 1
that no number up to `most` made the answer wrong (censored).
"""

import math
from collections.abc import Callable, Collection, Generator, Mapping
from typing import NamedTuple

import numpy as np

from memaudit.common.arrays import Indices, Mask

Ask = Callable[[Indices, Indices], Mask]
Searching = Generator[int, bool, int]


class Search(NamedTuple):
    """copies: (target,), fewest that make the answer wrong; passes: (target,), different numbers that were asked."""

    copies: Indices
    passes: Indices


class Scan(NamedTuple):
    """copies: (target,), fewest that make the answer wrong; monotone: (target,), whether it then stays wrong."""

    copies: Indices
    monotone: Mask


def search(ask: Ask, targets: int, most: int, known: Mapping[int, Mask] | None = None) -> Search:
    """Fewest copies for targets 0 .. targets - 1 of one context, by bisection, all targets in step.

    ask: (targets (question,), copies (question,)) -> wrong (question,); one call has at most one question of a target.
    known: answers (target,) that the adversary has already, by number of copies. They are asked for where that takes no
    more questions: at most ceil(log2(most)) + 2, none of them twice. Bisection alone never sees two answers that
    contradict each other. Where known ones contradict what it has found, the target is searched copy by copy.
    """
    known = {copies: wrong for copies, wrong in (known or {}).items() if copies <= most}
    searches = [_search(most, {k: bool(wrong[target]) for k, wrong in known.items()}) for target in range(targets)]
    answers: list[dict[int, bool]] = [{} for _ in searches]
    found = np.zeros(targets, dtype=int)
    wanted = {target: next(searching) for target, searching in enumerate(searches)}
    while wanted:
        if new := [(target, copies) for target, copies in wanted.items() if copies not in answers[target]]:
            for (target, copies), wrong in zip(new, ask(*np.array(new).T), strict=True):
                answers[target][copies] = bool(wrong)
        for target, copies in list(wanted.items()):
            try:
                wanted[target] = searches[target].send(answers[target][copies])
            except StopIteration as end:
                found[target] = end.value
                del wanted[target]
    return Search(found, np.array([len(answered) for answered in answers], dtype=int))


def scan(ask: Ask, targets: Indices, most: int) -> Scan:
    """The first wrong answer of each target (target,) by asking about all of 0 .. most; see `search` for `ask`."""
    copies = np.arange(most + 1)
    wrong = ask(np.repeat(targets, most + 1), np.tile(copies, len(targets))).reshape(len(targets), most + 1)
    first = np.where(wrong.any(1), wrong.argmax(1), most + 1)
    return Scan(first, (wrong == (copies >= first[:, None])).all(1))


def _search(most: int, known: Mapping[int, bool]) -> Searching:
    """Yields numbers of copies, is sent whether the answer is wrong, returns the fewest."""
    found = yield from _bisected(most, known)
    if found <= 1 or all(wrong == (copies >= found) for copies, wrong in known.items()):
        return found
    # Without these the contradiction would not have been seen. A dict itself could not be sent the answers.
    for copies in known:  # noqa: UP028
        yield copies
    return (yield from _climbed(most))


def _bisected(most: int, known: Collection[int]) -> Searching:
    if (yield 0):
        return 0
    right, wrong = 0, most + 1
    left = math.ceil(math.log2(most)) + 1
    while wrong - right > 1:
        middle = (right + wrong) // 2
        # What costs no forward pass comes first, then what tells that a record is censored, if enough questions are
        # left to find the place between either neighbour and it.
        cheap = sorted((copies for copies in known if right < copies < wrong), key=lambda copies: abs(copies - middle))
        cheap += [most] if wrong > most else []
        fitting = (copies for copies in cheap if max(copies - right, wrong - copies) <= 2 ** (left - 1))
        copies, left = next(fitting, middle), left - 1
        if (yield copies):
            wrong = copies
        else:
            right = copies
    return wrong


def _climbed(most: int) -> Searching:
    for copies in range(most + 1):
        if (yield copies):
            return copies
    return most + 1
