"""The network without the estimators of its package, and that both work in one process, in either order."""

import subprocess
import sys

import pytest

NETWORK = "from memaudit.models.tabicl_network import TabICL"
PACKAGE = "import tabicl; from tabicl import TabICLClassifier, TabICLRegressor"
SAME = "from tabicl._model.tabicl import TabICL as of_package; assert TabICL is of_package"
WORKS = (
    "import pickle, tabicl._model.tabicl as again; assert pickle.loads(pickle.dumps(TabICL)) is TabICL is again.TabICL"
)


def run(*lines):
    subprocess.run([sys.executable, "-c", "\n".join(lines)], check=True)


def test_the_network_alone_needs_no_estimators():
    run("import sys", NETWORK, "assert 'sklearn' not in sys.modules and 'tabicl' not in sys.modules")


@pytest.mark.parametrize("first", [(NETWORK, PACKAGE), (PACKAGE, NETWORK)])
def test_network_and_package_are_the_same_in_either_order(first):
    run(*first, SAME, WORKS, "assert tabicl.InferenceConfig and TabICLClassifier().fit")
