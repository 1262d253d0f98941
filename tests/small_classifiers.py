"""Small classifiers of every kind, and records for them."""

import numpy as np
import torch

from memaudit.models import classifier_networks, language_model_classifiers
from memaudit.models.shadow_ensembles import Data, Group, Settings

RECORDS = 40
SETTINGS = Settings(
    seed=5, name="toy", epochs=3, batch=6, learning_rate=0.02, checkpoints=(0, 0.5, 1, 3), warmup=0.5, decay="cosine"
)


def seeded(seed, make):
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        return make()


def mlp(number):
    return seeded(number, lambda: classifier_networks.Mlp(5, 3, 8, 2))


def wrn(number):
    return seeded(number, lambda: classifier_networks.WideResNet(1, 3, 10, 1, 4))


def llama():
    return seeded(0, lambda: language_model_classifiers.language_model("llama", 20, 6, 16, 2, 2, 24))


def one_token(_):
    return language_model_classifiers.OneTokenClassifier(llama())


def data():
    rng = np.random.default_rng(1)
    y = rng.integers(0, 3, RECORDS)
    shapes = {"mlp": (5,), "wrn": (1, 8, 8)}
    drawn = {
        name: Data(
            torch.from_numpy(rng.normal(size=(RECORDS, *shape)) + y.reshape(-1, *[1] * len(shape))).float(),
            torch.from_numpy(y),
        )
        for name, shape in shapes.items()
    }
    tokens = torch.from_numpy(rng.integers(0, 15, (RECORDS, 6)))
    return drawn | {"text": Data(tokens, torch.from_numpy(17 + y))}


def in_context(_):
    from tabicl._model.tabicl import TabICL

    from memaudit.models.in_context_classifier import InContext
    from memaudit.models.tabicl import TabICLBranch

    sizes = {"embed_dim": 8, "col_num_blocks": 1, "col_nhead": 2, "col_num_inds": 4, "row_num_blocks": 1}
    sizes |= {"row_nhead": 2, "row_num_cls": 2, "icl_num_blocks": 2, "icl_nhead": 2, "max_classes": 3}
    module = seeded(0, lambda: TabICL(**sizes, zero_init=False))
    context = torch.randn(9, 5, generator=torch.Generator().manual_seed(0))
    return InContext(TabICLBranch(module, "cpu"), context, torch.arange(9) % 3)


def trained(folder, membership, data, numbers=range(6), build=mlp, settings=SETTINGS, watched=0, until=None):
    """A group of models, and its trace after training."""
    group = Group(numbers, build, data, membership[list(numbers)], settings, folder, watched)
    return group, group.train(until)
