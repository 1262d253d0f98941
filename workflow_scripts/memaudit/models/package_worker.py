"""A process that answers for a package in its own environment: one model, opened once, contexts over a pipe.

python -m memaudit.models.package_worker    (started by `package_sessions`, whose objects it unpickles)

Messages are pickled, and hold arrays and plain values, since the two environments have other versions of pandas. In:
the adapter's name and its `Opening`, then (x, y, lists of queries) for each context. Out: one `Reply` each, the first
without answers. It ends when its input does.
"""

import os
import pickle
import sys
import traceback
from collections.abc import Callable
from dataclasses import replace
from functools import cache, partial
from typing import Any, BinaryIO

import torch

from memaudit.common.loaded_packages import Packages, loaded_packages
from memaudit.models import package_adapters
from memaudit.models.package_adapters import Reply
from memaudit.models.torch_settings import make_deterministic


def serve(requests: BinaryIO, replies: BinaryIO) -> None:
    """Answer until the requests end. What a package raises is replied.

    The traceback goes to the standard error, that of weights which it cannot open excepted: the user gave them.
    """
    name, given = pickle.load(requests)
    make_deterministic(given.threads)
    adapter = _send(replies, partial(package_adapters.opened, name, given), answers=False)
    while adapter is not None:
        try:
            context = pickle.load(requests)
        except EOFError:
            return
        _send(replies, partial(package_adapters.answered, adapter, *context))


def _send(replies: BinaryIO, do: Callable[[], Any], answers: bool = True) -> Any:
    """Return what `do` returns, None where it raises; it goes into the reply if it is `answers`."""
    result, reply = None, Reply()
    try:
        result = do()
        reply = Reply(result) if answers else reply
    except Exception as error:
        if answers:
            traceback.print_exc()
        reply = Reply(error=f"{type(error).__name__}: {error}", memory=isinstance(error, torch.OutOfMemoryError))
    pickle.dump(replace(reply, packages=_packages(len(sys.modules))), replies)
    replies.flush()
    return result


@cache
def _packages(modules: int) -> Packages:
    """Loaded packages, read again where there are more modules than at the last reply."""
    return loaded_packages()


def main() -> None:
    """Serve on the standard streams; what packages print goes to the standard error."""
    replies = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    serve(sys.stdin.buffer, replies)


if __name__ == "__main__":
    main()
