"""Token features with a planted signal, and a quick training of the learned attack on them."""

import numpy as np

from memaudit.attacks.learned_networks import Architecture
from memaudit.attacks.learned_training import Combination, Settings, train
from memaudit.attacks.token_features import TokenFeatures, channels, pack
from memaudit.statistics import roc

TINY = Architecture(width=16, heads=2, feedforward=16, layers=1, hidden=(16,), dropout=0.0)
QUICK = Settings(epochs=8, batch=64, learning_rate=5e-3)
K, POSITIONS, WIDTH = 1, 8, 21
SIGNAL = channels(K).index("loss_difference")


def combination(name, seed, texts=160, signal=1.5, offset=0.0):
    """Half of the texts are members, whose loss difference is `signal` deviations lower; each model has its scale."""
    rng = np.random.default_rng(seed)
    values = rng.normal(offset, 1, (texts, POSITIONS, WIDTH)).astype(np.float32)
    member = rng.permutation(texts) < texts // 2
    values[member, :, SIGNAL] -= signal
    mask = np.arange(POSITIONS) < rng.integers(4, POSITIONS, texts)[:, None]
    values *= rng.uniform(0.8, 1.2, WIDTH) * mask[..., None]
    return Combination(name, pack(TokenFeatures(values.astype(np.float32), mask)), member)


def several(signal=1.5, seed=0):
    return [combination(f"model-{number}", 10 * seed + number, signal=signal) for number in range(3)]


def quickly(seed=0, architecture=TINY, settings=QUICK, auc=roc.auc, signal=1.5):
    return train(several(signal), [combination("held", 90, signal=signal)], auc, seed, architecture, settings)


def state(classifier):
    return {name: value.numpy().tobytes() for name, value in classifier.state_dict().items()}
