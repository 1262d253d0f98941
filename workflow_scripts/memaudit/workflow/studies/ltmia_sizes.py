"""How large the jobs of the study ltmia are: passes of base models and targets, texts of classifiers, bootstraps."""

from collections import Counter
from typing import TYPE_CHECKING

from memaudit.models import language_model_costs
from memaudit.workflow.downloads import stored_bytes
from memaudit.workflow.job_costs import Size, size
from memaudit.workflow.model_passes import Load
from memaudit.workflow.studies.ltmia_classifiers import CHANNELS, Classifiers
from memaudit.workflow.study import Sizes

if TYPE_CHECKING:
    from memaudit.workflow.studies.ltmia_lookups import Combination, Ltmia

SENSITIVITY = ("diversity", "importance")
NULL_SHARE = 0.25  # of the texts of the training, for a classifier of shuffled labels
# Bytes of memory for a character of the corpora, a text of a target that is judged, and one that a classifier of few
# combinations has scored.
PER_CHARACTER, PER_JUDGED, PER_SENSITIVITY = 25, 4000, 1000
UNKNOWN_CHARACTERS = 60 * 10**6  # of a corpus that is read whole
STATE = 16  # bytes a weight of the state of a training: it, its two moments, and the best epoch's
SELF_REFERENCE = {"self_loss", "spv"}  # baselines that tune a second model
GROUPS = 3  # of features, which are permuted one after the other


class LtmiaSizes:
    """Sizes of the jobs of a study, by base model, shard of targets and classifier."""

    def __init__(self, study: "Ltmia"):
        self.study, self.config = study, study.config

    def of_rules(self) -> Sizes:
        """Sizes of all jobs."""
        study = self.study
        fetched = [model for model in study.models if study.entry(model)["hub"]]
        return {
            "data_make_key": {"": size(0)},
            "ltmia_fetch_corpus": dict.fromkeys(study.corpora, size(0)),
            "ltmia_fetch_model": {model: size(0, stored=stored_bytes(study.entry(model))) for model in fetched},
            "ltmia_prepare_corpora": {"": self.corpora()},
            "ltmia_prepare_model": {model: self.base(model) for model in study.models},
            "ltmia_finetune_targets": {
                f"{model}/{shard}": self.targets(model, shard)
                for model in study.models
                for shard in study.shards(model)
            },
            "ltmia_train_attack": {name: self.classifier(name) for name in self.config["classifiers"]},
            "ltmia_measure_diversity": {"": self.diversity()},
            "ltmia_permute_features": {"": self.importance()},
            "ltmia_judge_attacks": {"": self.judging()},
            "ltmia_judge_sensitivity": {part: self.sensitivity(part) for part in SENSITIVITY},
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
        memory = language_model_costs.memory_bytes(weights, True)
        # While a state is written the former one is there.
        return Size(passes * self._pass(model), weights, 0, memory, state=2 * STATE * weights)

    def targets(self, model: str, shard: int) -> Size:
        """Passes of the targets of a job, in training and when they are queried."""
        parts, texts, passes, whole = self.config["texts"]["parts"], 0, 0, 0
        again = bool(SELF_REFERENCE & set(self.config["baselines"]["names"]))
        for corpus, tuning in self.study.shard_targets(model, shard):
            settings = self.config["tunings"][tuning]
            queried = self._attacked()
            texts += queried
            passes += settings["epochs"] * (3 * parts["member"] + parts["selection"])
            passes += (2 + self._further_passes([model, corpus, tuning])) * queried
            if settings["epochs"] > 0 and not settings["lora"]:
                whole += 1 + (again and [model, corpus, tuning] not in self.study.training)
        # Features are written text by text, and read from the disk.
        length, weights = self.config["texts"]["length"], self._weights(model)
        memory = language_model_costs.memory_bytes(weights, whole > 0, best=True)
        # States of all targets of the job stay until it ends, with the features of its texts; adapters are left out.
        state = texts * row_bytes(length) + STATE * weights * (whole + 1 if whole else 0)
        return Size(passes * self._pass(model), texts * length, 0, memory, state=state)

    def classifier(self, name: str) -> Size:
        """Trainings of a classifier: of the choice of its settings, of each seed, and of shuffled labels.

        Then the scores of the test portion of training combinations, and of all texts of others.
        """
        config, costs, training = self.config, self._costs(name), self.study.training
        trained, validated, tested = self._portions()
        nulls = config["shuffles"] if name == self.study.attack else 0
        texts, others = len(training) * trained, len(self.study.targets) - len(training)
        load = costs.choosing(training, config["folds"], trained, validated)
        load += costs.training(texts, len(training) * validated).times(config["seeds"])
        load += costs.training(NULL_SHARE * texts, NULL_SHARE * len(training) * validated).times(nulls)
        scored = len(training) * tested + others * self._attacked()
        load += costs.scoring(scored, config["seeds"])
        load += costs.scoring(len(self.study.held_out) * self._attacked(), nulls, nulls)
        load += costs.scoring(texts + scored, 0)  # the range of the features
        copied = NULL_SHARE * (texts + len(training) * validated) * row_bytes(costs.length) if nulls else 0.0
        written = 4 * costs.weights * config["seeds"] + 8 * scored * (2 + config["seeds"] + nulls)
        return size(load.operations, written, 0, copied, load.seconds)

    def diversity(self) -> Size:
        """Trainings of the attack on few combinations each, and its scores of their test portion and of others."""
        section = self.config["diversity"]
        changed = {key: value for key, value in section["training"].items() if value is not None}
        own = self.config["classifiers"][self.study.attack]
        entry = own | {"training": own["training"] | changed, "choice": {"epochs": []}}
        costs, held_out = Classifiers(entry, self.config["texts"]["length"]), len(self.study.held_out)
        _, validated, tested = self._portions()
        load, scored = Load(), 0.0
        for count in self._drawn():
            load += costs.training(section["samples"], count * validated)
            scored += count * tested + held_out * self._attacked()
        load += costs.scoring(scored)
        return size(load.operations, scored, 0, 0, load.seconds)

    def importance(self) -> Size:
        """Scores of all seeds of the attack where features are permuted."""
        costs, scored = self._costs(self.study.attack), self._permuted()
        load = costs.scoring(scored, self.config["seeds"])
        return size(load.operations, scored, 0, 0, load.seconds)

    def judging(self) -> Size:
        """Replicates of all targets' scores, and what is resampled of them."""
        scored = len(self.study.targets) * self._attacked()
        return size(scored * self.config["replicates"], 0, 0, PER_JUDGED * scored)

    def sensitivity(self, part: str) -> Size:
        """Replicates of held-out texts' scores: by each classifier of few combinations, or for each permutation."""
        drawn = len(self._drawn()) * len(self.study.held_out) * self._attacked()
        scored = drawn if part == "diversity" else self._permuted()
        return size(scored * self.config["replicates"], 0, 0, PER_SENSITIVITY * scored)

    def operations(self, name: str) -> float:
        """Operations of one forward pass of a classifier over a text."""
        return self._costs(name).operations

    def _costs(self, name: str) -> Classifiers:
        return Classifiers(self.config["classifiers"][name], self.config["texts"]["length"])

    def _drawn(self) -> list[int]:
        """Combinations of each classifier of few: each number, and each tuning alone where there are several."""
        section, tunings = self.config["diversity"], [tuning for *_, tuning in self.study.training]
        counts, each = list(section["combinations"]), Counter(tunings)
        if counts and len(each) > 1:
            counts += [min(each.values())] * len(each)
        return counts * section["draws"]

    def _permuted(self) -> int:
        """Texts of the held-out combinations with each group of features permuted, and with none."""
        section = self.config["importance"]
        texts = len(self.study.held_out) * min(section["texts"], self._attacked())
        return texts * (1 + GROUPS * section["repeats"])

    def _portions(self) -> tuple[float, float, float]:
        """Texts of a training combination: trained on, validated on, tested."""
        validated, tested = (self.config[part] * self._attacked() for part in ("validation", "test"))
        return self._attacked() - validated - tested, validated, tested

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
