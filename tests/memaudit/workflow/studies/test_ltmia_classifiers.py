"""What classifiers cost in the plan, against the networks, PyTorch's own counter, and trainings that are counted."""

from dataclasses import asdict, replace

import pytest
import torch
from planted_token_features import QUICK, TINY, combination
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.utils.flop_counter import FlopCounterMode

from memaudit.attacks import learned_classifier, learned_training
from memaudit.attacks.learned_classifier import Classifier
from memaudit.attacks.learned_selection import Candidates, choose, train_seeds
from memaudit.attacks.learned_training import PRESETS, settings_of
from memaudit.attacks.token_features import channels, unpack
from memaudit.statistics import roc
from memaudit.workflow.studies.ltmia_classifiers import ARMS, CHANNELS, READING, Classifiers

LENGTH = 24
PLAIN = {"arm": "paper", "architecture": {"kind": "transformer"}, "training": {}, "choice": {}}
NAMES = [(model, corpus, "full") for model in ("a", "b", "c") for corpus in ("x", "y")]
TEXTS, VALIDATED = 40, 20


def costs(choice=None, **changed):
    """Classifiers of the paper's entry with these changes."""
    choice = {"epochs": [], "weight_decay": [], "clamp": []} | (choice or {})
    return Classifiers(PLAIN | changed | {"choice": choice}, LENGTH)


def test_arms_are_those_of_the_classifiers():
    assert len(channels()) == CHANNELS
    for arm, (architecture, settings) in PRESETS.items():
        known = asdict(architecture) | asdict(settings)
        assert {key: known[key] for key in ARMS[arm]} == ARMS[arm] | {"hidden": tuple(ARMS[arm]["hidden"])}


@pytest.mark.parametrize("kind", ["transformer", "flat_mlp", "mean_mlp", "logistic"])
@pytest.mark.parametrize("arm", ["paper", "repository"])
def test_weights_and_operations_are_those_of_the_networks(arm, kind):
    counted, entry = costs(arm=arm, architecture={"kind": kind}), {"kind": kind}
    classifier = Classifier(settings_of(arm, entry, {})[0], LENGTH, CHANNELS)
    assert counted.weights == pytest.approx(sum(one.numel() for one in classifier.parameters()), rel=0.02)
    with torch.no_grad(), sdpa_kernel(SDPBackend.MATH), FlopCounterMode(display=False) as counter:
        classifier.train()(torch.zeros(2, LENGTH, CHANNELS), torch.ones(2, LENGTH, dtype=torch.bool))
    assert counted.operations == pytest.approx(counter.get_total_flops() / 2, rel=0.02)


def test_a_value_of_the_entry_counts_before_its_arms():
    assert costs(arm="repository").value("width") == 192
    assert costs(arm="repository", architecture={"kind": "transformer", "width": 8}).value("width") == 8
    assert costs(training={"epochs": 3}).epochs == 3
    assert costs(choice={"epochs": [10, 30]}, training={"epochs": 3}).epochs == 30


@pytest.fixture
def counted(monkeypatch):
    """Forward passes of texts, in training and otherwise, and texts that are read."""
    found = {"training": 0, "scoring": 0, "read": 0}
    forward = Classifier.forward

    def counting(self, values, mask):
        found["training" if torch.is_grad_enabled() else "scoring"] += len(values)
        return forward(self, values, mask)

    def reading(rows):
        found["read"] += len(rows)
        return unpack(rows)

    monkeypatch.setattr(Classifier, "forward", counting)
    for module in (learned_classifier, learned_training):
        monkeypatch.setattr(module, "unpack", reading)
    return found


@pytest.mark.parametrize("cosine", [False, True])
@pytest.mark.parametrize(
    "choice",
    [{"epochs": [1, 3], "clamp": [3.0, 6.0]}, {"weight_decay": [0.0, 0.1]}, {}],
    ids=["epochs and clamps", "weight decays", "nothing to choose"],
)
@pytest.mark.usefixtures("one_thread")
def test_passes_and_reads_are_those_of_a_choice_and_of_the_seeds(counted, choice, cosine):
    parts = {
        name: (combination("one", 2 * at, TEXTS), combination("one", 2 * at + 1, VALIDATED))
        for at, name in enumerate(NAMES)
    }
    fitting = replace(TINY, kind="logistic"), replace(QUICK, epochs=3, cosine=cosine)
    chosen, _ = choose(parts, Candidates(**choice), fitting, 3, roc.auc, 1)
    # The plan does not know which epochs are chosen, and counts the most.
    chosen = chosen[0], replace(chosen[1], epochs=3)
    before = dict(counted)
    train_seeds(parts, chosen, 2, roc.auc, 1)
    shape = costs(choice, training={"epochs": 3, "cosine": cosine}, architecture={"kind": "logistic"})
    choosing = shape.choosing(NAMES, 3, TEXTS, VALIDATED)
    seeds = shape.training(len(NAMES) * TEXTS, len(NAMES) * VALIDATED).times(2)
    for load, found in ((choosing, before), (seeds, {key: counted[key] - before[key] for key in counted})):
        passes, read = load.operations / shape.operations, load.seconds / (LENGTH * READING)
        assert passes == pytest.approx(3 * found["training"] + found["scoring"])
        # Moments are read once for trainings on the same texts.
        assert found["read"] <= read <= 1.35 * found["read"]


def test_scores_of_several_classifiers_read_a_text_once():
    shape = costs()
    one, five = shape.scoring(100), shape.scoring(100, 5)
    assert five.operations == 5 * one.operations == 500 * shape.operations
    assert five.seconds == one.seconds == pytest.approx(100 * LENGTH * READING)


def test_combinations_of_one_model_have_no_folds():
    assert costs({"clamp": [1.0, 2.0]}).choosing(NAMES[:2], 3, TEXTS, VALIDATED).operations == 0
