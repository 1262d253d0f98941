"""All arrays of a file's content, with their places: every object is visited once, however often it is referred to."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from memaudit.common.arrays import Array
from memaudit.common.errors import AuditError
from memaudit.scanning import containers
from memaudit.scanning.array_readers import Storage, array_of
from memaudit.scanning.containers import Content
from memaudit.scanning.inert_objects import PRIMITIVE, Made, Place, parts

SPARE = 100_000_000  # cells that any file may hold
CACHE_CLASSES = ("KVCacheEntry", "KVCache", "TabICLCache", "V2Cache", "V3Cache")


@dataclass(frozen=True, eq=False)
class Found:
    """An array and where it stands; owner: name of the class of the object that holds it, empty without one."""

    place: Place
    array: Array
    owner: str = ""


def arrays(content: Content) -> Iterator[Found]:
    """All arrays of the content. Raises AuditError for a file that describes more cells than it can hold."""
    budget = SPARE + 16 * (containers.MOST_BYTES - content.bytes_left)
    for place, array in content.arrays:
        yield Found(place, array)
    seen: set[int] = set()
    kept: list[Any] = []  # arrays and calls keep their identity as long as the walk takes
    waiting = [(place, one, "") for place, one in content.objects]
    done = len(content.objects)
    while waiting:
        place, one, owner = waiting.pop()
        if isinstance(one, PRIMITIVE) or id(one) in seen:
            continue
        seen.add(id(one))
        kept.append(one)
        _with_storage(one, content)
        array = array_of(one)
        if array is not None and array.size:
            budget -= array.size
            if budget < 0:
                raise AuditError("refers to the same data so often that it describes more cells than it has bytes")
            yield Found(place, array, owner)
        elif not isinstance(one, Storage):
            inside = one.callee.name if isinstance(one, Made) and one.named() else owner
            waiting += [(Place(name, place) if name else place, part, inside) for name, part in parts(one)]
        # A torch file within a pickle may hold more than a storage.
        waiting += [(where, more, "") for where, more in content.objects[done:]]
        done = len(content.objects)


def _with_storage(one: Any, content: Content) -> None:
    """Put the storage into a tensor's call that holds it as the bytes of a torch file."""
    if not isinstance(one, Made) or not one.named().startswith("torch._utils._rebuild_tensor"):
        return
    arguments = one.arguments if isinstance(one.arguments, tuple) else ()
    if arguments and isinstance(arguments[0], Made) and (data := containers.nested(arguments[0])) is not None:
        found = next(containers.storage_of(data, content), None)
        one.arguments = (found, *arguments[1:])


def is_cache(found: Found) -> bool:
    """Whether an array is part of a key/value cache of an in-context model, by the class or the name that holds it."""
    names = found.place.names(4)
    if any(name in (".row_repr", ".decoder_keys") for name in names[-1:]):
        return True
    inside = found.owner.endswith(CACHE_CLASSES) or any("kv_cache" in name for name in found.place.names())
    return inside and names[-1:] in ([".key"], [".value"]) and np.ndim(found.array) > 1
