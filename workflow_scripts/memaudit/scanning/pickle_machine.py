"""Read pickles as inert objects: no class is imported, no function called.

The opcodes are those of `pickletools`; a call becomes a `Made`. Arrays that joblib writes between the opcodes are taken
as bytes where they stand.
"""

import pickletools
from collections.abc import Callable
from typing import Any, BinaryIO

from memaudit.common.errors import AuditError
from memaudit.scanning.inert_objects import Global, Made, Pairs

JOBLIB = "joblib.numpy_pickle.NumpyArrayWrapper"
FAULTS = (ValueError, IndexError, TypeError, KeyError, EOFError, OverflowError, AssertionError, MemoryError)
CONSTANT = {"NONE": None, "NEWTRUE": True, "NEWFALSE": False}
EMPTY: dict[str, Callable[[], Any]] = {"EMPTY_LIST": list, "EMPTY_SET": list, "EMPTY_DICT": Pairs, "EMPTY_TUPLE": tuple}
VALUES = {
    "INT", "BININT", "BININT1", "BININT2", "LONG", "LONG1", "LONG4", "FLOAT", "BINFLOAT", "STRING", "BINSTRING",
    "SHORT_BINSTRING", "BINBYTES", "SHORT_BINBYTES", "BINBYTES8", "BYTEARRAY8", "UNICODE", "BINUNICODE",
    "SHORT_BINUNICODE", "BINUNICODE8",
}  # fmt: skip
SIZES = {"TUPLE1": 1, "TUPLE2": 2, "TUPLE3": 3}


class Machine:
    """The stack machine of one file; `called` holds every name that its pickles would call."""

    def __init__(self, persistent: Callable[[Any], Any], inline: Callable[[Made, BinaryIO], bool]):
        """persistent: the object of a persistent id; inline: reads the numbers behind a wrapper of
        joblib, False where a pickle stands there."""
        self.persistent, self.inline = persistent, inline
        self.called: dict[tuple[str, str], Global] = {}
        self.within = False  # a pickle of objects within one of joblib, which holds no arrays between its opcodes

    def _take_inline(self, wrapper: Made, stream: BinaryIO) -> None:
        """Read what joblib writes behind a wrapper: the numbers of an array, or the pickle of an array of objects."""
        if self.inline(wrapper, stream):
            return
        outer = self.stack, self.marks, self.memo
        self.within = True
        wrapper.items.append(self.load(stream))
        self.within = False
        self.stack, self.marks, self.memo = outer

    def load(self, stream: BinaryIO) -> Any:
        """The object of the next pickle, from the stream's place. Raises AuditError, without a name, for a fault."""
        self.stack: list[Any] = []
        self.marks: list[list[Any]] = []
        self.memo: dict[int, Any] = {}
        try:
            for opcode, argument, _ in pickletools.genops(stream):
                if opcode.name == "STOP":
                    return self.stack.pop()
                self._step(opcode.name, argument)
                if opcode.name == "BUILD" and self.stack[-1].named() == JOBLIB and not self.within:
                    self._take_inline(self.stack[-1], stream)
        except FAULTS as error:
            # The message may quote the file.
            raise AuditError(f"is no complete pickle ({type(error).__name__} at byte {stream.tell()})") from None
        raise AuditError("is no complete pickle (it has no end)")

    def _step(self, name: str, argument: Any) -> None:
        if name in VALUES:
            self.stack.append(argument)
        elif name in CONSTANT:
            self.stack.append(CONSTANT[name])
        elif name in EMPTY:
            self.stack.append(EMPTY[name]())
        elif name in SIZES:
            items = [self.stack.pop() for _ in range(SIZES[name])]
            self.stack.append(tuple(reversed(items)))
        else:
            getattr(self, f"_{name.lower()}")(argument)

    def _since_mark(self) -> list[Any]:
        items, self.stack = self.stack, self.marks.pop()
        return items

    def _nothing(self, _: Any) -> None:
        """Opcodes that say how the rest is written."""

    _proto = _frame = _readonly_buffer = _nothing

    def _next_buffer(self, _: Any) -> None:
        self.stack.append(Made(None, ()))  # stands outside the file

    def _mark(self, _: Any) -> None:
        self.marks.append(self.stack)
        self.stack = []

    def _pop(self, _: Any) -> None:
        if self.stack:
            self.stack.pop()
        else:
            self._since_mark()

    def _pop_mark(self, _: Any) -> None:
        self._since_mark()

    def _dup(self, _: Any) -> None:
        self.stack.append(self.stack[-1])

    def _put(self, place: int) -> None:
        self.memo[place] = self.stack[-1]

    _binput = _long_binput = _put

    def _memoize(self, _: Any) -> None:
        self.memo[len(self.memo)] = self.stack[-1]

    def _get(self, place: int) -> None:
        self.stack.append(self.memo[place])

    _binget = _long_binget = _get

    def _tuple(self, _: Any) -> None:
        items = self._since_mark()
        self.stack.append(tuple(items))

    def _list(self, _: Any) -> None:
        items = self._since_mark()
        self.stack.append(items)

    _frozenset = _list

    def _dict(self, _: Any) -> None:
        items = self._since_mark()
        self.stack.append(Pairs(_paired(items)))

    def _append(self, _: Any) -> None:
        item = self.stack.pop()
        _extend(self.stack[-1], [item])

    def _appends(self, _: Any) -> None:
        items = self._since_mark()
        _extend(self.stack[-1], items)

    _additems = _appends

    def _setitem(self, _: Any) -> None:
        value, key = self.stack.pop(), self.stack.pop()
        _pairs(self.stack[-1]).pairs.append((key, value))

    def _setitems(self, _: Any) -> None:
        items = self._since_mark()
        _pairs(self.stack[-1]).pairs.extend(_paired(items))

    def _global(self, text: str) -> None:
        module, _, name = text.partition(" ")
        self.stack.append(Global(module, name))

    def _stack_global(self, _: Any) -> None:
        name, module = self.stack.pop(), self.stack.pop()
        if not isinstance(name, str) or not isinstance(module, str):
            raise TypeError
        self.stack.append(Global(module, name))

    def _ext1(self, code: int) -> None:
        self.stack.append(Global("copyreg", f"extension {code}"))

    _ext2 = _ext4 = _ext1

    def _call(self, callee: Any, arguments: Any) -> None:
        """Push a call that is not made; a class that `copyreg` would create an object of counts as the callee."""
        if isinstance(callee, Global):
            self.called[callee.module, callee.name] = callee
        else:
            self.called["", "an object"] = Global("", "an object that the file computes")
        rebuilt = (
            isinstance(callee, Global) and callee.module in ("copyreg", "copy_reg") and isinstance(arguments, tuple)
        )
        if rebuilt and arguments and isinstance(arguments[0], Global):
            self.called[arguments[0].module, arguments[0].name] = callee = arguments[0]
        self.stack.append(Made(callee, arguments))

    def _reduce(self, _: Any) -> None:
        arguments, callee = self.stack.pop(), self.stack.pop()
        self._call(callee, arguments)

    _newobj = _reduce

    def _newobj_ex(self, _: Any) -> None:
        keywords, arguments, callee = self.stack.pop(), self.stack.pop(), self.stack.pop()
        self._call(callee, (arguments, keywords))

    def _inst(self, text: str) -> None:
        items = self._since_mark()
        module, _, name = text.partition(" ")
        self._call(Global(module, name), tuple(items))

    def _obj(self, _: Any) -> None:
        items = self._since_mark()
        self._call(items[0], tuple(items[1:]))

    def _build(self, _: Any) -> None:
        state = self.stack.pop()
        if isinstance(self.stack[-1], Made):
            # A second state is kept beside the first one.
            before = self.stack[-1].state
            self.stack[-1].state = state if before is None else (before, state)
        else:
            self.stack[-1] = Made(self.stack[-1], (), state)
            self.called["", "state"] = Global("", "a state that is set on no object")

    def _persid(self, text: str) -> None:
        self.stack.append(self.persistent(text))

    def _binpersid(self, _: Any) -> None:
        self.stack.append(self.persistent(self.stack.pop()))


def _paired(items: list[Any]) -> list[tuple[Any, Any]]:
    return list(zip(items[::2], items[1::2], strict=True))


def _pairs(one: Any) -> Pairs:
    return one.mapping if isinstance(one, Made) else one


def _extend(one: Any, items: list[Any]) -> None:
    (one.items if isinstance(one, Made) else one).extend(items)
