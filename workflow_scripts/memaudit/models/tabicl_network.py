"""The network of the package tabicl without its estimators, whose scikit-learn takes as long to import as torch."""

import sys
from importlib.util import find_spec, module_from_spec

if "tabicl" in sys.modules or (spec := find_spec("tabicl")) is None:
    from tabicl._model.tabicl import TabICL
else:
    # Importing a package runs its __init__, which imports the estimators. An empty module in its place has the same
    # submodules. It is removed again: who imports tabicl later gets the package, with these submodules.
    sys.modules["tabicl"] = module_from_spec(spec)
    try:
        from tabicl._model.tabicl import TabICL
    finally:
        del sys.modules["tabicl"]

__all__ = ["TabICL"]
