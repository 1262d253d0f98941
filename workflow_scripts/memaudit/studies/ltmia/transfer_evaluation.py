"""Results of the study LT-MIA from the scores of all attacks (Sections 4 and 5, Tables 1, 2, 11, 12, Figure 3).

Methods of `Study` yield tidy rows.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from memaudit.common import seeds, tidy
from memaudit.common.errors import AuditError
from memaudit.statistics.crossed_intervals import averaged
from memaudit.studies.ltmia import paired_contrasts
from memaudit.studies.ltmia import transfer_bootstrap as transfer
from memaudit.studies.ltmia.transfer_bootstrap import (
    COMBINATION,
    STUDY,
    AttackMetrics,
    is_combination,
)

Rows = Iterator[dict[str, Any]]

ATTACK = "lt_mia"
EZ = "ez"
STRONGEST = ("ez_published", EZ)  # the strongest baseline of the paper, and as corrected here
NULL = "shuffled "  # columns of scores of classifiers that were trained on shuffled labels
TRANSFORMER, FULL = "transformer", "full"
KEY = [*COMBINATION, "id"]
SIMILAR = 2.0  # largest factor between the sizes of similar models
THIRDS = ("low", "middle", "high")


class Study:
    """Scores of texts, and the properties of their combinations.

    scores: columns model, dataset, tuning, id, member, and one for each attack; training, held_out, controls: names
    [model, dataset, tuning] of combinations; families: of models; contents: text or code, of corpora; ways: full, lora,
    private or untrained, of tunings; unfit: names of combinations whose membership a classifier of texts alone
    predicts; sizes: parameters of models.
    """

    def __init__(
        self,
        scores: pd.DataFrame,
        *,
        training: Sequence[Sequence[str]],
        held_out: Sequence[Sequence[str]],
        controls: Mapping[str, Sequence[Sequence[str]]],
        families: Mapping[str, str],
        contents: Mapping[str, str],
        ways: Mapping[str, str],
        unfit: Sequence[Sequence[str]],
        sizes: Mapping[str, int],
        fpr: Sequence[float],
        replicates: int,
        seed: int,
    ) -> None:
        self.scores = scores.assign(
            family=scores["model"].map(families),
            content=scores["dataset"].map(contents),
            way=scores["tuning"].map(ways),
            fit=np.where(is_combination(scores, unfit), "no", "yes"),
        )
        self.training_contents = {contents[dataset] for _, dataset, _ in training}
        self.controls, self.sizes, self.fpr, self.replicates, self.seed = controls, sizes, fpr, replicates, seed
        self.held_out = self.scores[is_combination(self.scores, held_out) & (self.scores["fit"] == "yes")]
        if self.held_out.empty:
            raise AuditError("ltmia/held_out: no target passes the blind check; name another corpus")

    def attacks(self, names: Sequence[str]) -> Rows:
        """Metrics of every attack: by combination, their means, differences from the learned attack, and controls."""
        properties = ["family", "content", "way", "fit"]
        table = self.scores[[*COMBINATION, "id", "member", *properties, *with_seeds(self.scores, names)]]
        metrics = transfer.attack_metrics(table, names, self.fpr, self._rng("attacks"), self.replicates)
        held_out = self._is_held_out(metrics.keys)
        yield from transfer.combination_rows(metrics.of(held_out), source="here", role="held out")
        for name, combinations in self.controls.items():
            chosen = is_combination(metrics.keys, combinations)
            yield from transfer.combination_rows(metrics.of(chosen), source="here", role=name)
        yield from self._families(metrics.of(held_out))
        yield from self._contrasts(metrics, held_out)
        yield from self._likelihoods(metrics.of(held_out), names)

    def _families(self, held_out: AttackMetrics) -> Rows:
        """Means by family and over families (Tables 1 and 2), and the attack's difference from each other."""
        for family in [*dict.fromkeys(held_out.keys["family"]), "mean"]:
            own = held_out if family == "mean" else held_out.of((held_out.keys["family"] == family).to_numpy())
            keys = {"source": "here", "role": "held out", "family": family}
            yield from transfer.mean_rows(own, **keys)
            yield from transfer.difference_rows(own, ATTACK, **keys)
            yield from transfer.best_other_rows(own, ATTACK, **keys)
            rivals = [name for name in STRONGEST if name in own.observed and ATTACK in own.observed]
            yield from paired_contrasts.ratio_rows(own, ATTACK, rivals, self._fewest_nonmembers(), **keys)
            for dataset in dict.fromkeys(own.keys["dataset"]) if family != "mean" else []:
                part = own.of((own.keys["dataset"] == dataset).to_numpy())
                yield from transfer.mean_rows(part, **keys, dataset=dataset)

    def _contrasts(self, metrics: AttackMetrics, held_out: np.ndarray) -> Rows:
        """Differences between groups of combinations: content, architecture, size, adapters."""
        keys = metrics.keys
        other = held_out & (keys["family"] != TRANSFORMER).to_numpy()
        plain = held_out & (keys["family"] == TRANSFORMER).to_numpy()
        full = (keys["way"] == FULL).to_numpy()
        size = keys["model"].map(self.sizes).to_numpy()
        similar = np.zeros(len(keys), bool)
        if other.any():
            similar = (size >= size[other].min() / SIMILAR) & (size <= size[other].max() * SIMILAR)
        groups = {
            "text less code": [held_out & (keys["content"] == content).to_numpy() for content in ("text", "code")],
            "other families less transformers": [other, plain],
            "other families less transformers of their size": [other & full, plain & full & similar],
        }
        for content, chosen in zip(("text", "code"), groups["text less code"], strict=True):
            if chosen.any():
                own = metrics.of(chosen)
                # The paper's claim is about code and a classifier that was trained on text only.
                after_text = (
                    ["code after text alone"] if (content, self.training_contents) == ("code", {"text"}) else []
                )
                for name in [content, *after_text]:
                    yield from transfer.mean_rows(own, source="here", control=name)
        for name, (one, other) in groups.items():
            if one.any() and other.any():
                yield from transfer.contrast_rows(metrics.of(one), metrics.of(other), source="here", control=name)
        yield from self._adapters(metrics)

    def _adapters(self, metrics: AttackMetrics) -> Rows:
        """Full minus low-rank and private fine-tuning of the same models on the same corpora."""
        every = metrics.keys.reset_index().set_index(["model", "dataset"])
        for way in ("lora", "private"):
            pairs = every[every["way"] == way].join(every[every["way"] == FULL], suffixes=("", " full"), how="inner")
            if len(pairs):
                full, own = (
                    metrics.of(np.isin(np.arange(len(metrics.keys)), pairs[name])) for name in ("index full", "index")
                )
                yield from transfer.contrast_rows(full, own, source="here", control=f"full less {way} tuning")

    def shuffled_training(self) -> Rows:
        """The null of the attack: mean AUC on held-out combinations of classifiers of shuffled labels."""
        names = [str(name) for name in self.held_out if str(name).startswith(NULL)]
        if names:
            table = self.held_out[[*COMBINATION, "id", "member", "family", *names]]
            metrics = transfer.attack_metrics(table, names, [], self._rng("shuffled training"), 2)
            areas = np.array([metrics.means(name)[0].observed for name in names])
            yield from transfer.null_rows(areas, int(metrics.texts.sum()), ATTACK)

    def _likelihoods(self, held_out: AttackMetrics, names: Sequence[str]) -> Rows:
        """AUC by the reference's likelihood of the texts: thirds of each combination, and over combinations."""
        own = self.held_out
        likelihood = own["loss"] - own["ref_loss"]
        share = likelihood.groupby([own[name] for name in COMBINATION]).rank(pct=True, method="first")
        place = np.ceil(share.to_numpy() * 3 - 1e-9).astype(int) - 1
        for number, third in enumerate(THIRDS):
            part = own[place == number][[*COMBINATION, "id", "member", "family", *names]]
            metrics = transfer.attack_metrics(part, names, [], self._rng("likelihood", third), self.replicates)
            keys = {"source": "here", "control": f"{third} third of reference likelihood"}
            yield from transfer.mean_rows(metrics, **keys)
        means = likelihood.groupby([own[name] for name in COMBINATION], sort=False).mean()
        mean_likelihoods = means.loc[list(held_out.keys[COMBINATION].itertuples(index=False, name=None))].to_numpy()
        for name in names:
            if len(mean_likelihoods) > 2 and np.ptp(mean_likelihoods) and np.ptp(held_out.observed[name][:, 0]):
                control = "AUC against mean reference likelihood"
                yield transfer.likelihood_row(held_out, mean_likelihoods, name, source="here", control=control)

    def classifiers(self, tested: pd.DataFrame, names: Sequence[str]) -> Rows:
        """Table 11: every classifier on held-out combinations, and on new texts (`tested`) of the training ones."""
        for records, table in (("training", tested), ("held out", self.held_out)):
            whole = table[[*COMBINATION, "id", "member", *with_seeds(table, names)]].assign(family="one")
            fprs, missing = self._resolved(whole)
            metrics = transfer.attack_metrics(whole, names, fprs, self._rng("classifiers", records), self.replicates)
            aucs = {}
            for name in names:
                keys = {"source": "here", "classifier": name, "records": records}
                found = metrics.means(name)
                yield from transfer.metric_rows(metrics, keys, found)
                yield from transfer.too_few_rows(keys, missing, whole)
                aucs[name] = found[0]
            yield from paired_contrasts.classifier_rows(aucs, records)

    def diversity(self, drawn: pd.DataFrame, training: Sequence[Sequence[str]], size: int) -> Rows:
        """Table 12: by the number of training combinations, on new texts of these and on held-out combinations.

        Rows of a strength have the number of its combinations at the key `each`, and nothing at `combinations`.
        """
        aucs = {}
        for (strength, count), own in drawn.groupby(["strength", "combinations"]):
            keys = {"strength": strength, "each": count} if strength else {"combinations": count, "samples": size}
            chosen = {"training": is_combination(own, training), "held out": self._is_held_out(own)}
            for records, rows in chosen.items():
                found = yield from self._drawn(own[rows], {"source": "here", **keys, "records": records})
                if not strength:
                    aucs[count, records] = found
        yield from paired_contrasts.diversity_rows(aucs, size)

    def _drawn(self, drawn: pd.DataFrame, keys: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
        """Means over draws of combinations: a classifier's metrics, EZ-MIA's AUC, their difference; returns the AUC."""
        scores, rivals = [], []
        fprs, missing = self._resolved(drawn.drop_duplicates(KEY))
        for _, of_draw in drawn.groupby("draw"):
            # One stream: texts are resampled alike in all draws and numbers of combinations.
            rng = self._rng("diversity", keys["records"])
            own = of_draw[[*COMBINATION, "id", "member", "score", EZ]].assign(family="one")
            metrics = transfer.attack_metrics(own, ["score", EZ], fprs, rng, self.replicates)
            scores.append(metrics.means("score"))
            rivals.append(metrics.means(EZ)[0])
        found = [averaged(list(of_metric)) for of_metric in zip(*scores, strict=True)]
        yield from transfer.metric_rows(metrics, keys, found)
        yield from transfer.too_few_rows(keys, missing, drawn)
        gap = averaged([one[0] - other for one, other in zip(scores, rivals, strict=True)])
        low, high = (rival := averaged(rivals)).interval(0, 1)
        facts = {"low": low, "high": high, "n": rival.texts, "method": rival.method, "null": 0.5}
        yield tidy.row(STUDY, keys, f"{EZ} auc", rival.observed, **facts)
        yield paired_contrasts.contrast_row(f"lead over {EZ}", gap, **keys)
        return found[0]

    def importance(self, permuted: pd.DataFrame, families: Mapping[str, str]) -> Rows:
        """Figure 3: AUC lost when a group of features is permuted among texts, by family."""
        permuted = permuted[self._is_held_out(permuted)].assign(family=permuted["model"].map(families))
        named = permuted["permuted"] + " " + permuted["repeat"].astype(str)
        wide = permuted.assign(named=named).pivot(
            index=[*COMBINATION, "family", "id", "member"], columns="named", values="score"
        )
        columns = list(wide)
        metrics = transfer.attack_metrics(wide.reset_index(), columns, [], self._rng("importance"), self.replicates)
        families_found = set(metrics.keys["family"])
        for family in [*(name for name in dict.fromkeys(families.values()) if name in families_found), "mean"]:
            own = metrics if family == "mean" else metrics.of((metrics.keys["family"] == family).to_numpy())
            lost = {}
            for group in sorted({name.rsplit(" ", 1)[0] for name in columns} - {"none"}):
                repeats = [name for name in columns if name.rsplit(" ", 1)[0] == group]
                lost[group] = averaged([own.means("none 0")[0] - own.means(name)[0] for name in repeats])
                yield transfer.drop_row(lost[group], source="here", family=family, features=group)
            yield from paired_contrasts.importance_rows(lost, family)

    def curves(self, names: Sequence[str], fprs: np.ndarray) -> Rows:
        """ROC curves of attacks, means over the combinations of a family."""
        table = self.held_out[[*COMBINATION, "id", "member", "family", *names]]
        metrics = transfer.attack_metrics(table, names, fprs, self._rng("curves"), self.replicates)
        for family in dict.fromkeys(metrics.keys["family"]):
            own = metrics.of((metrics.keys["family"] == family).to_numpy())
            for name in names:
                keys = {"source": "here", "dataset": family, "attack": name}
                yield from transfer.curve_rows(fprs, own.means(name)[1:], keys)

    def _resolved(self, table: pd.DataFrame) -> tuple[list[float], list[float]]:
        """False positive rates for which every combination has 1 / FPR non-members, and those for which one has not."""
        outside = ~table["member"].astype(bool)
        fewest = int(outside.groupby([table[key] for key in COMBINATION]).sum().min()) if len(table) else 0
        enough = [fewest * fpr >= 1 - 1e-9 for fpr in self.fpr]
        return tuple(
            [fpr for fpr, is_enough in zip(self.fpr, enough, strict=True) if is_enough == wanted]
            for wanted in (True, False)
        )

    def _is_held_out(self, table: pd.DataFrame) -> np.ndarray:
        """Whether each row (row,) belongs to a held-out combination that passes the blind check."""
        return is_combination(table, self.held_out[COMBINATION].drop_duplicates().values.tolist())

    def _fewest_nonmembers(self) -> int:
        """Non-members of the held-out combination that has the fewest."""
        outside = ~self.held_out["member"].astype(bool)
        return int(outside.groupby([self.held_out[key] for key in COMBINATION]).sum().min())

    def _rng(self, *name: str | int) -> np.random.Generator:
        return seeds.generator(self.seed, STUDY, "intervals", *name)


def with_seeds(scores: pd.DataFrame, names: Sequence[str]) -> list[str]:
    """Columns of these attacks' scores, and of those by each seed of a classifier."""
    return [column for name in names for column in (name, *transfer.seed_columns(scores, name))]
