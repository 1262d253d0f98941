"""How large the jobs of the study ltmia are: passes of base models and targets, texts of classifiers, bootstraps."""

from typing import TYPE_CHECKING

from memaudit.models import language_model_costs
from memaudit.workflow.job_costs import Size, size
from memaudit.workflow.study import Sizes

if TYPE_CHECKING:
    from memaudit.workflow.studies.ltmia_lookups import Combination, Ltmia

SENSITIVITY = ("diversity", "importance")
NULL_SHARE = 0.25  # of the texts of the training, for a classifier of shuffled labels
# Bytes of memory for a character of the corpora, a text of a target that is judged, and one that a classifier of few
# combinations has scored.
PER_CHARACTER, PER_JUDGED, PER_SENSITIVITY = 25, 4000, 1000
UNKNOWN_CHARACTERS = 60 * 10**6  # of a corpus that is read whole
CHANNELS = 154  # of the features of a token


class LtmiaSizes:
    """Sizes of the jobs of a study, by base model, shard of targets and classifier."""

    def __init__(self, study: "Ltmia"):
        self.study, self.config = study, study.config

    def of_rules(self) -> Sizes:
        """Sizes of all jobs."""
        study, classifier = self.study, self.classifier()
        fetched = [model for model in study.models if study.entry(model)["hub"]]
        return {
            "data_make_key": {"": size(0)},
            "ltmia_fetch_corpus": dict.fromkeys(study.corpora, size(0)),
            "ltmia_fetch_model": dict.fromkeys(fetched, size(0)),
            "ltmia_prepare_corpora": {"": self.corpora()},
            "ltmia_prepare_model": {model: self.base(model) for model in study.models},
            "ltmia_finetune_targets": {
                f"{model}/{shard}": self.targets(model, shard)
                for model in study.models
                for shard in study.shards(model)
            },
            "ltmia_train_attack": {name: self.classifier(name) for name in self.config["classifiers"]},
            "ltmia_measure_diversity": {"": classifier},
            "ltmia_permute_features": {"": classifier},
            "ltmia_judge_attacks": {"": self.judging()},
            "ltmia_judge_sensitivity": dict.fromkeys(SENSITIVITY, self.sensitivity()),
        }

    def corpora(self) -> Size:
        """All corpora together, which are in memory."""
        datasets = self.study.run.config["datasets"]
        read = [datasets[name]["characters"] or UNKNOWN_CHARACTERS for name in self.study.corpora]
        return size(0, forward=PER_CHARACTER * sum(read))

    def base(self, model: str) -> Size:
        """Passes of the training of a base that is made here; others are copied."""
        weights = self._weights(model)
        if self.study.entry(model)["model_type"] is None:
            return Size(0, weights, 0, 4 * weights)
        texts = self.config["texts"]["parts"]["pretraining"] * len(self.study.corpora)
        passes = 3 * texts * self.config["pretraining"]["epochs"]
        return Size(passes * self._pass(model), weights, 0, language_model_costs.memory_bytes(weights, True))

    def targets(self, model: str, shard: int) -> Size:
        """Passes of the targets of a job, in training and when they are queried."""
        parts, texts, passes, whole = self.config["texts"]["parts"], 0, 0, False
        for corpus, tuning in self.study.shard_targets(model, shard):
            settings = self.config["tunings"][tuning]
            queried = self._attacked()
            texts += queried
            passes += settings["epochs"] * (3 * parts["member"] + parts["selection"])
            passes += (2 + self._further_passes([model, corpus, tuning])) * queried
            whole |= settings["epochs"] > 0 and not settings["lora"]
        # Features are written text by text, and read from the disk.
        tokens = texts * self.config["texts"]["length"]
        memory = language_model_costs.memory_bytes(self._weights(model), whole, best=True)
        return Size(passes * self._pass(model), tokens, 0, memory)

    def classifier(self, classifier: str = "") -> Size:
        """classifier: one that has nulls if it is the attack; none for the jobs that train without them."""
        length = self.config["texts"]["length"]
        texts = len(self.study.training) * self._attacked()
        nulls = self.config["shuffles"] if classifier == self.study.attack else 0
        copied = NULL_SHARE * (1 - self.config["test"]) * texts * row_bytes(length) if nulls else 0.0
        return size(texts * length, held=0, forward=copied)

    def judging(self) -> Size:
        """Scores of all targets' texts, and what is resampled of them."""
        return size(0, forward=PER_JUDGED * len(self.study.targets) * self._attacked())

    def sensitivity(self) -> Size:
        """Scores of held-out texts by each classifier of few combinations; of importance, fewer."""
        diversity, tunings = self.config["diversity"], len({tuning for *_, tuning in self.study.training})
        # Each number of combinations, and each tuning alone where there are several.
        drawn = diversity["draws"] * (len(diversity["combinations"]) + (tunings if tunings > 1 else 0))
        return size(0, forward=PER_SENSITIVITY * drawn * len(self.study.held_out) * self._attacked())

    def _further_passes(self, target: "Combination") -> int:
        """About how often the further baselines read a text."""
        neighbours = self.config["baselines"]["neighbours"]
        passes = {
            "dc_pdd": 1,
            "recall": 2,
            "con_recall": 2,
            "neighbourhood": neighbours,
            "self_loss": 8,
            "spv": neighbours,
        }
        return 0 if target in self.study.training else sum(passes[name] for name in self.config["baselines"]["names"])

    def _attacked(self) -> int:
        """Texts of a target that are attacked."""
        return self.config["texts"]["parts"]["member"] + self.config["texts"]["parts"]["nonmember"]

    def _weights(self, model: str) -> float:
        return self.study.run.weights("language_models", model, self.config["texts"]["vocabulary"])

    def _pass(self, model: str) -> float:
        """Operations of one forward pass over a text."""
        return language_model_costs.operations(self._weights(model), self.config["texts"]["length"])


def row_bytes(length: int) -> int:
    """Bytes of the packed features of a text: half a number a channel and token, exponents, and a mask."""
    return 2 * CHANNELS * (length + 1) + length
