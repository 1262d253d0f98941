"""How large the jobs of the study predict are: passes of shadow models, hidden states, projections, bootstraps."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from memaudit.models import language_model_costs
from memaudit.workflow.job_costs import Size, size

if TYPE_CHECKING:
    from memaudit.workflow.studies.predict_lookups import Predict, Setting

# Projections that PSMI holds at once (memaudit/attacks/psmi.py).
PROJECTIONS = 2**25
STATE = 12  # bytes a weight of the state of a training: it, and its two moments
NUMBER = 4  # bytes of a loss, a gap or a number of a hidden state
# Records of data that are no table.
KNOWN_RECORDS = {"cifar10": 60000, "digits": 1797}


class PredictSizes:
    """Sizes of the jobs of a study, by setting."""

    def __init__(self, study: "Predict"):
        self.study = study

    def records(self, setting: "Setting") -> int:
        """Records of a setting, canaries among them."""
        data, limit = setting["data"], setting["max_records"]
        known = data.get("rows") or (KNOWN_RECORDS | {"docstrings": limit}).get(data["kind"])
        rows = known or self.study.run.table_size(data["dataset"])["rows"]
        return min(filter(None, (rows, limit))) + setting["canaries"]

    def operations(self, setting: "Setting") -> float:
        """Floating-point operations of one record's forward pass, roughly: two for each use of a weight."""
        network, data = setting["network"], setting["data"]
        columns = self.study.run.table_size(data["dataset"])["columns"] if data["kind"] == "table" else 0
        if network["kind"] == "mlp":
            return 2 * network["width"] * (columns + (network["depth"] - 1) * network["width"])
        if network["kind"] == "wrn":
            _, height, width = network["shape"]
            widest = network["base"] * network["widen"]
            return 2 * network["depth"] * 9 * widest**2 * height * width
        if network["kind"] == "in_context":
            together, model = setting["training"]["batch"], self.study.run.passes(network["model"])
            return model.operations(network["context"], together, columns) / together
        if data["kind"] == "choices":
            tokens = data["tokens"]
        else:
            tokens = 1 + (data["questions"]["features"] if data["kind"] == "table" else data["words"])
        return language_model_costs.operations(self.weights(network), tokens)

    def weights(self, network: Mapping[str, Any]) -> float:
        """Weights of a language model; of a small one without its embeddings."""
        if small := network["small"]:
            return small["layers"] * small["width"] * (4 * small["width"] + 3 * small["inner"])
        return self.study.run.weights("models", network["model"])

    def prepare(self, setting: "Setting") -> Size:
        small, work = setting["network"].get("small"), 0
        if small:
            work = 3 * small["pretraining"]["steps"] * small["pretraining"]["batch"] * self.operations(setting)
        return size(work, self.records(setting) * setting["models"])

    def train(self, setting: "Setting", shard: int = 0) -> Size:
        """A training step on a record costs three forward passes; each model trains on half of the records.

        Written are losses, gaps and the hidden states of the targets among the shard's models, of which there is a
        second copy until the job ends, beside the state of a model: adapters, and networks trained from scratch, are
        left out.
        """
        pairs = min(setting["shard"], setting["models"]) * self.records(setting)
        passes = pairs * (1.5 * setting["training"]["epochs"] + _checkpoints(setting))
        answers = pairs * _checkpoints(setting)
        network, memory, state = setting["network"], 0.0, 0.0
        if network["kind"] == "text":
            memory = language_model_costs.memory_bytes(self.weights(network), not network["adapter"])
            # While a state is written the former one is there.
            state = 0.0 if network["adapter"] else 2 * STATE * self.weights(network)
        targets = min(max(setting["targets"] - shard * setting["shard"], 0), setting["shard"])
        states = targets * self.records(setting) * _checkpoints(setting) * self.states(network)
        written = 2 * answers + states
        return size(passes * self.operations(setting), written, answers, memory, state=state + NUMBER * written)

    def layers(self, network: Mapping[str, Any]) -> int:
        """Layers with hidden states; 0 where they are not known."""
        if network["kind"] == "mlp":
            return network["depth"]
        if network["kind"] == "wrn":
            return 3 * (network["depth"] // 6)
        if small := network.get("small"):
            return small["layers"]
        return self.study.run.layers(network["model"])

    def states(self, network: Mapping[str, Any]) -> int:
        """Numbers in the hidden states of one record, in all layers; 0 where they are not known."""
        if network["kind"] == "mlp":
            return network["width"] * network["depth"]
        if network["kind"] == "wrn":
            return network["base"] * network["widen"] * 7 * (network["depth"] // 6)
        if small := network.get("small"):
            return small["width"] * small["layers"]
        return self.study.run.states(network["model"])

    def score(self, setting: "Setting") -> Size:
        """Projections: directions times records; one block of those of one is held.

        They are of every target's last layer at each checkpoint, of every layer where training is interrupted, and of
        what the network reads.
        """
        records, directions = self.records(setting), self.study.config["scoring"]["directions"]
        each = _checkpoints(setting) + self.layers(setting["network"])
        projections = records * setting["targets"] * (each + 1) * directions
        written = records * setting["targets"] * each
        return size(projections, written, min(records * directions, PROJECTIONS))

    def judge(self, setting: "Setting") -> Size:
        """Replicates of every target's scores, at each checkpoint and of each layer; answers of all models are held."""
        records, checkpoints = self.records(setting), _checkpoints(setting)
        judged = records * (checkpoints + self.layers(setting["network"]))
        entries = records * checkpoints
        return size(judged * self.study.config["replicates"] * setting["targets"], entries, entries * setting["models"])

    def learn(self) -> Size:
        """Bootstrap of every predictor of all settings, which are in memory one by one."""
        sizes = [self.judge(setting) for setting in self.study.settings.values()]
        own = [self.records(setting) * setting["targets"] for setting in self.study.settings.values()]
        return size(sum(own) * self.study.config["replicates"], sum(own), max(one.held for one in sizes))

    def theorem(self) -> Size:
        theorem = self.study.config["theorem"]
        projections = theorem["records"] * theorem["directions"]
        simulations = theorem["repeats"] * len(theorem["rates"]) * len(theorem["separations"])
        return size(projections * simulations, held=min(projections, PROJECTIONS))


def _checkpoints(setting: "Setting") -> int:
    """Checkpoints of a training, the untrained model among them."""
    training = setting["training"]
    return round(training["until"] / training["every"]) + 1 + training["later"]
