"""Only names that rebuild objects count as known."""

import pytest

from memaudit.scanning.inert_objects import Global
from memaudit.scanning.known_globals import is_known


@pytest.mark.parametrize(
    "name",
    ["numpy._core.multiarray._reconstruct", "collections.OrderedDict", "sklearn.neighbors._classification.KNeighbors",
     "tabicl._sklearn.classifier.TabICLClassifier", "torch._utils._rebuild_tensor_v2", "__builtin__.set",
     "sklearn.tree._tree.Tree", "tabpfn.inference.InferenceEngineOnDemand"],
)  # fmt: skip
def test_rebuilding_names_are_known(name):
    assert is_known(Global(*name.rsplit(".", 1)))


@pytest.mark.parametrize(
    "name",
    ["os.system", "posix.system", "builtins.eval", "__builtin__.eval", "builtins.getattr", "subprocess.Popen",
     "numpy.load", "numpy.testing._private.utils.runstring", "torch.load", "torch.hub.load", "joblib.load",
     "pandas.read_pickle", "operator.attrgetter", "functools.partial", "sklearn.utils.discovery.all_estimators",
     "sklearnevil.Model", "scipy.conftest.Probe", "importlib.import_module", ".an object", "mine.Model",
     "pandas.core.computation.eval.Eval"],
)  # fmt: skip
def test_everything_else_is_not(name):
    assert not is_known(Global(*name.rsplit(".", 1)))
