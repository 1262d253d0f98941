"""Look-ups of rules/predict/: settings, their inputs and results, how large the jobs are, and the section `own`."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from memaudit.common.errors import AuditError
from memaudit.workflow.job_costs import asked_mb, size
from memaudit.workflow.run_config import RunConfig, shards
from memaudit.workflow.studies.predict_sizes import PredictSizes
from memaudit.workflow.study import Sizes, Study

OF_PLAN = ("rows", "tokens")  # of questions; no result depends on them
MEMORY = 4000  # MB of a job beside its language model
ANSWER = 80  # bytes of a judging job for each answer: losses and gaps, and what is computed from them

Setting = Mapping[str, Any]
SHIPPED = "resources/recommended.json"  # a copy of what predict_learn_predictor makes, by `make recommended`
KINDS = ("average", "learned", "theorem")  # results of all settings together


class Predict(Study):
    """Prediction of memorization early in training, in the settings that the config chooses."""

    name = "predict"
    made_together = (frozenset({"predictors", "roc", "by_record"}),)

    def __init__(self, run: RunConfig):
        super().__init__(run)
        self.settings: dict[str, Setting] = {name: self.config["settings"][name] for name in self.config["cases"]}
        self.present = bool(self.settings)
        networks = [setting["network"] for setting in self.settings.values()]
        # Models of the catalogue that are fine-tuned.
        self.models = list(dict.fromkeys(network["model"] for network in networks if network.get("model")))
        # Most configs have no section `own` (None).
        self.own = run.config["own"]
        self.job_sizes = PredictSizes(self)

    @property
    def results(self) -> dict[str, list[str]]:
        kinds = ("predictors", "roc", "by_record")
        return {
            **{kind: [f"<results>/scores/predict/{name}/{kind}.parquet" for name in self.settings] for kind in kinds},
            **{kind: [f"<results>/scores/predict/{kind}.parquet"] for kind in KINDS},
        }

    @property
    def names(self) -> dict[str, Any]:
        rates = [*(f"tpr@{fpr:g}" for fpr in self.config["fpr"]), *(f"fpr@tpr{tpr:g}" for tpr in self.config["tpr"])]
        metrics = ["auc", *rates]
        return {
            "settings": [self._setting_row(name, setting) for name, setting in self.settings.items()],
            "metrics": metrics,
            "metric_differences": [f"{metric} difference" for metric in metrics],
            "drop": self.config["drop"],
            "memorized": self.config["memorized"],
            "planted": any(setting["canaries"] or setting["label_noise"] for setting in self.settings.values()),
        }

    def setting(self, *keys: str) -> Callable:
        """A params function: these keys of a setting."""

        def of(wildcards) -> dict[str, Any]:
            chosen = {key: self.settings[wildcards.case][key] for key in keys}
            data = chosen.get("data", {})
            if "path" in data:
                kept = {key: value for key, value in data.items() if key not in OF_PLAN}
                chosen["data"] = kept | {"path": self.run.named(data["path"])}
            return chosen

        return of

    def setting_value(self, key: str) -> Callable:
        """A params function: the value of one key of a setting."""
        return lambda wildcards: self.settings[wildcards.case][key]

    def training_memory(self, wildcards) -> int:
        """MB that a job asks for which trains shadow models."""
        return asked_mb(self.job_sizes.train(self.settings[wildcards.case]), MEMORY)

    def judging_memory(self, wildcards) -> int:
        """MB that a job asks for which judges predictors of a setting, or of all, whose answers it reads one by one."""
        case = wildcards.get("case")
        judged = [self.settings[case]] if case else self.settings.values()
        return MEMORY // 2 + round(ANSWER * max(self.job_sizes.judge(one).held for one in judged) / 10**6)

    def drop(self, wildcards) -> float:
        """Fall of the median training loss at which the models of a setting are interrupted."""
        own = self.settings[wildcards.case]["drop"]
        return self.config["drop"] if own is None else own

    def table(self, file: str) -> Callable:
        """An input function: a file of the setting's table; [] for other data."""

        def of(wildcards) -> str | list[str]:
            data = self.settings[wildcards.case]["data"]
            return f"<results>/data/{data['dataset']}/{file}" if data["kind"] == "table" else []

        return of

    def key(self, wildcards) -> str | list[str]:
        """The key of the ids, for data whose records have no ids yet."""
        return [] if self.settings[wildcards.case]["data"]["kind"] == "table" else "<results>/data/id.key"

    def source(self, wildcards) -> list[str]:
        """A user's own files. The job names those that are missing, and says where to get them."""
        data = self.setting("data")(wildcards)["data"]
        path = Path(data.get("path", "-"))
        files = [path, *sorted(path.glob("*.bin"))] if data["kind"] == "cifar10" else [path]
        return [str(file) for file in files if file.is_file()]

    def model(self, file: str) -> Callable:
        """An input function: a file of the catalogue's model that the setting fine-tunes; [] without such a model."""

        def of(wildcards) -> str | list[str]:
            model = self.settings[wildcards.case]["network"].get("model")
            return f"<results>/models/{model}/{file}" if model else []

        return of

    def tokenizer(self, file: str) -> Callable:
        """An input function: the same file where the model's tokenizer splits the questions."""
        of_model = self.model(file)
        kinds = {name: setting["network"]["kind"] for name, setting in self.settings.items()}
        return lambda wildcards: of_model(wildcards) if kinds[wildcards.case] == "text" else []

    def signals(self, wildcards) -> list[str]:
        """Losses and logit gaps of all models of a setting."""
        return self._shard_files(wildcards.case, "models", "signals")

    def target_signals(self, wildcards) -> list[str]:
        """Losses and logit gaps of the shards that hold targets."""
        return self._shard_files(wildcards.case, "targets", "signals")

    def target_states(self, wildcards) -> list[str]:
        """Hidden states of the targets."""
        return self._shard_files(wildcards.case, "targets", "states")

    def of_all_settings(self, file: str) -> list[str]:
        """A file of every setting."""
        return [f"<results>/signals/predict/{name}/{file}" for name in self.settings]

    @property
    def sources(self) -> dict[str, str]:
        """The data of every setting, by its name."""
        return {
            name: str(setting["data"].get("path") or _source(setting["data"]))
            for name, setting in self.settings.items()
        }

    @property
    def all_signals(self) -> list[str]:
        """Losses and logit gaps of all models of all settings."""
        return [path for name in self.settings for path in self._shard_files(name, "models", "signals")]

    @property
    def own_name(self) -> str:
        """Name of the user's ranking; without one a name that no ranking has."""
        return self.own["name"] if self.own else "-"

    def own_target(self, wildcards) -> list[str]:
        """The files that `snakemake predict_own` makes."""
        if self.own is None:
            raise AuditError("own: this config has no section `own`; config/README.md says what belongs into one")
        return [f"<results>/own/{self.own['name']}/risk.{kind}" for kind in ("parquet", "csv", "md")]

    def own_file(self, key: str) -> Callable:
        """An input function: a file of the user's; [] where the section names none.

        It raises AuditError for a file that is not there; where there is a ranking Snakemake passes over it.
        """

        def file(wildcards) -> str | list[str]:
            if not self.own[key]:
                return []
            path = self.run.named(self.own[key])
            if not Path(path).exists():
                raise AuditError(f"own/{key}: there is no file {self.own[key]}; put the file there")
            return path

        return file

    def own_recommendation(self, wildcards) -> str:
        """The recommended threshold, as measured in the setting that the user's models are like; or the shipped one."""
        if self.own["case"] is None:
            return self.run.in_project(SHIPPED)
        return f"<results>/scores/predict/{self.own['case']}/recommended.json"

    def own_classes(self, wildcards) -> list[str] | None:
        """Classes of the user's logits."""
        return self.own["classes"]

    def own_predictor(self, wildcards) -> str:
        """What ranks the user's records."""
        return self.own["predictor"]

    def own_scoring(self, key: str) -> Callable:
        """A params function: how predictors of the user's records are computed."""
        return lambda wildcards: self.own["scoring"][key]

    def sizes(self) -> Sizes:
        if not self.present:
            return {}
        data = [setting["data"] for setting in self.settings.values()]
        tables = list(dict.fromkeys(entry["dataset"] for entry in data if entry["kind"] == "table"))
        return {
            **self.data_sizes(tables),
            **self.fetch_sizes(self.models),
            "predict_prepare_setting": {name: self.job_sizes.prepare(of) for name, of in self.settings.items()},
            "predict_train_shadows": {
                f"{name}/{shard}": self.job_sizes.train(setting, shard)
                for name, setting in self.settings.items()
                for shard in shards(setting["models"], setting["shard"])
            },
            "predict_score_records": {name: self.job_sizes.score(of) for name, of in self.settings.items()},
            "predict_judge_predictors": {name: self.job_sizes.judge(of) for name, of in self.settings.items()},
            "predict_average_settings": {"": size(0)},
            "predict_learn_predictor": {"": self.job_sizes.learn()},
            "predict_simulate_theorem": {"": self.job_sizes.theorem()},
        }

    def model_uses(self) -> dict[str, list[dict[str, Any]]]:
        uses: dict[str, list[dict[str, Any]]] = {model: [] for model in self.models}
        for name, setting in self.settings.items():
            network = setting["network"]
            if network["kind"] == "in_context":
                features = self.features(setting["data"]["dataset"])
                use = {"where": f"predict, setting {name}", "rows": network["context"], "features": features}
                uses[network["model"]].append(use)
        return uses

    def _shard_files(self, case: str, models: str, kind: str) -> list[str]:
        setting = self.settings[case]
        numbers = shards(setting[models], setting["shard"])
        return [f"<results>/signals/predict/{case}/{shard}.{kind}.nc" for shard in numbers]

    def _setting_row(self, name: str, setting: Setting) -> list[Any]:
        """A line of the table of settings."""
        data, training, source = setting["data"], setting["training"], _source(setting["data"])
        return [
            name,
            f"{source} as questions" if data.get("questions") else source,
            _describe(setting["network"]),
            setting["max_records"] or "all",
            *(setting[key] for key in ("models", "targets")),
            *(training[key] for key in ("epochs", "batch", "learning_rate")),
            *(setting[key] for key in ("label_noise", "canaries", "interrupt")),
        ]


def _source(data: Mapping[str, Any]) -> str:
    """The data of a setting in words."""
    file = [Path(data["path"]).name] if data["kind"] == "choices" else []
    return data.get("dataset") or ", ".join([data["kind"], *file, *data.get("packages", [])])


def _describe(network: Mapping[str, Any]) -> str:
    """A network in words."""
    if network["kind"] == "mlp":
        return f"MLP, {network['depth']} layers of {network['width']}, from scratch"
    if network["kind"] == "wrn":
        return f"WRN{network['depth']}-{network['widen']}, {network['base']} channels, from scratch"
    small, adapter = network.get("small"), network.get("adapter")
    name = f"{small['family']}, {small['layers']} layers of {small['width']}" if small else network["model"]
    return f"{name}, " + (f"LoRA of rank {adapter['rank']}" if adapter else "all weights tuned")
