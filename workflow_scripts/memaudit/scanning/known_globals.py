"""Which names of a pickle only rebuild known objects, and which would run code of the file's author when it is loaded.

A name is known if it is a function that rebuilds arrays and containers (KNOWN), or a class of a package of estimators.
Everything else that a pickle calls is reported by name, also where it may be harmless.
"""

import re

from memaudit.scanning.inert_objects import Global

KNOWN = {
    "builtins": "set frozenset list dict tuple bytearray bytes complex slice object range int float bool str type",
    "collections": "OrderedDict defaultdict deque Counter",
    "copyreg": "_reconstructor __newobj__ __newobj_ex__",
    "_codecs": "encode",
    "datetime": "datetime date time timedelta timezone",
    "decimal": "Decimal",
    "fractions": "Fraction",
    "pathlib": "PosixPath WindowsPath PurePosixPath PureWindowsPath Path",
    "pathlib._local": "PosixPath WindowsPath",
    "uuid": "UUID",
    "random": "Random",
    "types": "SimpleNamespace",
    "numpy": "ndarray dtype matrix recarray record float64 float32 int64 int32 bool_ str_ random",
    "numpy.ma.core": "MaskedArray _mareconstruct",
    "numpy.core.multiarray": "_reconstruct scalar",
    "numpy._core.multiarray": "_reconstruct scalar",
    "numpy.core.numeric": "_frombuffer",
    "numpy._core.numeric": "_frombuffer",
    "numpy.random._pickle": "__randomstate_ctor __generator_ctor __bit_generator_ctor",
    "pandas": "DataFrame Series Index RangeIndex MultiIndex DatetimeIndex Categorical CategoricalDtype StringDtype "
    "Timestamp",
    "pandas.arrays": "ArrowStringArray StringArray IntegerArray FloatingArray BooleanArray DatetimeArray",
    "pandas._libs.internals": "_unpickle_block",
    "pandas._libs.arrays": "__pyx_unpickle_NDArrayBacked",
    "pandas._libs.tslibs.timestamps": "_unpickle_timestamp",
    "pandas.core.indexes.base": "_new_Index Index",
    "pandas.core.dtypes.base": "ExtensionDtype",
    "pyarrow.lib": "type_for_alias _restore_array _restore_chunked_array chunked_array py_buffer string large_string",
    "torch": "device Size dtype FloatStorage DoubleStorage HalfStorage BFloat16Storage LongStorage IntStorage "
    "ShortStorage CharStorage ByteStorage BoolStorage",
    "torch.storage": "_load_from_bytes UntypedStorage TypedStorage",
    "torch._utils": "_rebuild_tensor _rebuild_tensor_v2 _rebuild_tensor_v3 _rebuild_parameter "
    "_rebuild_parameter_with_state",
    "torch.torch_version": "TorchVersion",
    "joblib.numpy_pickle": "NumpyArrayWrapper NDArrayWrapper",
    "sklearn.compose._column_transformer": "make_column_selector",
}
PYTHON_2 = {"__builtin__": "builtins", "copy_reg": "copyreg"}  # as the protocols 0 to 2 write them
PACKAGES = ("sklearn", "scipy", "pandas.core", "pandas._libs", "tabicl", "tabpfn", "xgboost", "lightgbm", "catboost")
MODULES_OF_TORCH = "torch.nn.modules"
CLASS = re.compile(r"_*[A-Z]\w*|__pyx_unpickle_\w+|newObj")
# Enumerations and interpreters of text among the classes of these packages.
INSIDE = re.compile(r"(^|\.)(tests?|testing|_testing|conftest|distutils|externals|computation)(\.|$)")


def is_known(called: Global) -> bool:
    """Whether a call of this name rebuilds an object of a known kind and does nothing else."""
    module = PYTHON_2.get(called.module, called.module)
    if called.name in KNOWN.get(module, "").split():
        return True
    inside = (*PACKAGES, MODULES_OF_TORCH)
    package = any(called.module == one or called.module.startswith(f"{one}.") for one in inside)
    return package and bool(CLASS.fullmatch(called.name)) and not INSIDE.search(called.module)
