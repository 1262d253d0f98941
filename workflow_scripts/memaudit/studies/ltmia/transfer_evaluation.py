"""Results of the study of a learned attack that transfers (LT-MIA, Sections 4 and 5), from scores of all attacks."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from memaudit import seeds, tidy
from memaudit.errors import AuditError
from memaudit.studies.ltmia import transfer_bootstrap as transfer
from memaudit.studies.ltmia.transfer_bootstrap import COMBINATION, STUDY, Draws, Judged, of_these

Rows = Iterator[dict[str, Any]]

ATTACK = "lt_mia"
TRANSFORMER, FULL = "transformer", "full"
ROUGH_FPR = [0.1]  # of what has few non-members, where AUC is what counts
SIMILAR = 2.0  # factor between the sizes of models that are called similar
THIRDS = ("low", "middle", "high")


class Study:
    """Scores of texts, and what is known of their combinations.

    scores: columns model, dataset, tuning, id, member, and one for each attack; training, held_out, controls: names
    [model, dataset, tuning] of combinations; families: of models; contents: text or code, of corpora; ways: full, lora,
    private or untrained, of tunings; unfit: corpora whose members can be told without a model; sizes: parameters of
    models.
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
        unfit: Sequence[str],
        sizes: Mapping[str, int],
        fpr: Sequence[float],
        replicates: int,
        seed: int,
    ) -> None:
        self.scores = scores.assign(
            family=scores["model"].map(families),
            content=scores["dataset"].map(contents),
            way=scores["tuning"].map(ways),
            fit=np.where(scores["dataset"].isin(unfit), "no", "yes"),
        )
        self.learnt = {contents[dataset] for _, dataset, _ in training}
        self.controls, self.sizes, self.fpr, self.replicates, self.seed = controls, sizes, fpr, replicates, seed
        self.held_out = self.scores[of_these(self.scores, held_out) & (self.scores["fit"] == "yes")]
        if self.held_out.empty:
            raise AuditError("ltmia/held_out: no corpus passes the blind check; nothing can be said of an attack there")

    def attacks(self, names: Sequence[str]) -> Rows:
        """Every attack on every combination, its means, its lead, and the controls."""
        kept = ["family", "content", "way", "fit"]
        everything = self.scores[[*COMBINATION, "id", "member", *kept, *names]]
        found = transfer.judged(everything, names, self.fpr, self._rng("attacks"), self.replicates)
        held = self._places(found, self.held_out)
        yield from transfer.combination_rows(found.of(held), source="here", role="held out")
        for name, combinations in self.controls.items():
            chosen = of_these(found.keys, combinations)
            yield from transfer.combination_rows(found.of(chosen), source="here", role=name)
        yield from self._families(found.of(held))
        yield from self._contrasts(found, held)
        yield from self._shuffled(names)
        yield from self._likelihoods(found.of(held), names)

    def _families(self, held: Judged) -> Rows:
        """Means by family and over families (Tables 1 and 2), and the attack's lead over each other."""
        for family in [*dict.fromkeys(held.keys["family"]), "mean"]:
            own = held if family == "mean" else held.of((held.keys["family"] == family).to_numpy())
            draws = self._draws(own, family)
            keys = {"source": "here", "role": "held out", "family": family}
            yield from transfer.mean_rows(own, draws, **keys)
            yield from transfer.difference_rows(own, draws, ATTACK, **keys)
            for dataset in dict.fromkeys(own.keys["dataset"]) if family != "mean" else []:
                part = own.of((own.keys["dataset"] == dataset).to_numpy())
                yield from transfer.mean_rows(part, self._draws(part, family, dataset), **keys, dataset=dataset)

    def _contrasts(self, found: Judged, held: np.ndarray) -> Rows:
        """Groups of combinations against each other: content, architecture, size, adapters."""
        keys = found.keys
        other = held & (keys["family"] != TRANSFORMER).to_numpy()
        plain = held & (keys["family"] == TRANSFORMER).to_numpy()
        full = (keys["way"] == FULL).to_numpy()
        size = keys["model"].map(self.sizes).to_numpy()
        near = np.zeros(len(keys), bool)
        if other.any():
            near = (size >= size[other].min() / SIMILAR) & (size <= size[other].max() * SIMILAR)
        groups = {
            "text less code": [held & (keys["content"] == content).to_numpy() for content in ("text", "code")],
            "other families less transformers": [other, plain],
            "other families less transformers of their size": [other & full, plain & full & near],
        }
        for content, chosen in zip(("text", "code"), groups["text less code"], strict=True):
            if chosen.any():
                own = found.of(chosen)
                # The paper's question: code, of a classifier that learnt from text alone.
                after_text = ["code after text alone"] if (content, self.learnt) == ("code", {"text"}) else []
                for name in [content, *after_text]:
                    yield from transfer.mean_rows(own, self._draws(own, content), source="here", control=name)
        for name, (one, less) in groups.items():
            if one.any() and less.any():
                pair = found.of(one), found.of(less)
                draws = tuple(self._draws(part, name, number) for number, part in enumerate(pair))
                yield from transfer.contrast_rows(*pair, draws, source="here", control=name)
        yield from self._adapters(found)

    def _adapters(self, found: Judged) -> Rows:
        """Full against low-rank and private fine-tuning of the same models on the same corpora."""
        every = found.keys.reset_index().set_index(["model", "dataset"])
        for way in ("lora", "private"):
            pairs = every[every["way"] == way].join(every[every["way"] == FULL], suffixes=("", " full"), how="inner")
            if len(pairs):
                full, own = (
                    found.of(np.isin(np.arange(len(found.keys)), pairs[name])) for name in ("index full", "index")
                )
                draws = self._draws(own, way)
                yield from transfer.contrast_rows(
                    full, own, (draws, draws), source="here", control=f"full less {way} tuning"
                )

    def _shuffled(self, names: Sequence[str]) -> Rows:
        """The same scores where membership is dealt to other texts: no attack may find anything."""
        shuffled = self.held_out[[*COMBINATION, "id", "member", "family", *names]].copy()
        for name, own in shuffled.groupby(COMBINATION, sort=False):
            rng = seeds.generator(self.seed, STUDY, *name, "shuffled")
            shuffled.loc[own.index, "member"] = rng.permutation(own["member"].to_numpy())
        found = transfer.judged(shuffled, names, self.fpr, self._rng("shuffled"), self.replicates)
        yield from transfer.mean_rows(
            found, self._draws(found, "shuffled"), source="here", control="shuffled membership"
        )

    def _likelihoods(self, held: Judged, names: Sequence[str]) -> Rows:
        """AUC by how likely the reference finds the texts: thirds of each combination, and over combinations."""
        own = self.held_out
        likelihood = own["loss"] - own["ref_loss"]
        share = likelihood.groupby([own[name] for name in COMBINATION]).rank(pct=True, method="first")
        place = np.ceil(share.to_numpy() * 3 - 1e-9).astype(int) - 1
        for number, third in enumerate(THIRDS):
            part = own[place == number][[*COMBINATION, "id", "member", "family", *names]]
            found = transfer.judged(part, names, ROUGH_FPR, self._rng("likelihood", third), self.replicates)
            keys = {"source": "here", "control": f"{third} third of reference likelihood"}
            yield from transfer.mean_rows(found, self._draws(found, third), **keys)
        means = likelihood.groupby([own[name] for name in COMBINATION], sort=False).mean()
        order = means.loc[list(held.keys[COMBINATION].itertuples(index=False, name=None))].to_numpy()
        for name in names:
            if len(order) > 2 and np.ptp(order) and np.ptp(held.observed[name][:, 0]):
                control = "AUC against mean reference likelihood"
                yield transfer.likelihood_row(held, order, name, source="here", control=control)

    def classifiers(self, tested: pd.DataFrame, names: Sequence[str]) -> Rows:
        """Table 11: every classifier on held-out combinations, and on new texts (`tested`) of those it learnt from."""
        for records, table in (("training", tested), ("held out", self.held_out)):
            fprs = self.fpr if records == "held out" else ROUGH_FPR
            whole = table[[*COMBINATION, "id", "member", *names]].assign(family="one")
            found = transfer.judged(whole, names, fprs, self._rng("classifiers", records), self.replicates)
            draws = self._draws(found, "classifiers", records)
            for name in names:
                keys = {"source": "here", "classifier": name, "records": records}
                values = draws.mean(found.observed[name]), draws.means(found.samples[name])
                yield from transfer.rows_of(found, keys, *values, found.texts.sum(), "texts and combinations")

    def diversity(self, drawn: pd.DataFrame, training: Sequence[Sequence[str]], samples: int) -> Rows:
        """Table 12: by the number of combinations that a classifier learnt from, on new texts of them and elsewhere."""
        for count, of_count in drawn.groupby("combinations"):
            learnt = of_these(of_count, training)
            for records, table in (("training", of_count[learnt]), ("held out", self._held(of_count))):
                parts = []
                fprs = self.fpr if records == "held out" else ROUGH_FPR
                for draw, of_draw in table.groupby("draw"):
                    # The texts are resampled alike in all draws and numbers.
                    rng = self._rng("diversity", records)
                    own = of_draw[[*COMBINATION, "id", "member", "score"]].assign(family="one")
                    found = transfer.judged(own, ["score"], fprs, rng, self.replicates)
                    draws = self._draws(found, "diversity", records, draw)
                    parts.append((draws.mean(found.observed["score"]), draws.means(found.samples["score"])))
                keys = {"source": "here", "combinations": count, "samples": samples, "records": records}
                values = transfer.averaged(parts)
                resampled = f"texts and combinations, mean of {len(parts)} draws"
                yield from transfer.rows_of(found, keys, *values, found.texts.sum(), resampled)

    def importance(self, permuted: pd.DataFrame, families: Mapping[str, str]) -> Rows:
        """Figure 3: AUC that is lost when a group of features is dealt to other texts, by family."""
        permuted = self._held(permuted).assign(family=permuted["model"].map(families))
        named = permuted["permuted"] + " " + permuted["repeat"].astype(str)
        wide = permuted.assign(named=named).pivot(
            index=[*COMBINATION, "family", "id", "member"], columns="named", values="score"
        )
        columns = list(wide)
        found = transfer.judged(wide.reset_index(), columns, ROUGH_FPR, self._rng("importance"), self.replicates)
        seen = set(found.keys["family"])
        for family in [*(name for name in dict.fromkeys(families.values()) if name in seen), "mean"]:
            own = found if family == "mean" else found.of((found.keys["family"] == family).to_numpy())
            draws = self._draws(own, "importance", family)
            whole = draws.mean(own.observed["none 0"]), draws.means(own.samples["none 0"])
            for group in sorted({name.rsplit(" ", 1)[0] for name in columns} - {"none"}):
                repeats = [name for name in columns if name.rsplit(" ", 1)[0] == group]
                parts = [(draws.mean(own.observed[name]), draws.means(own.samples[name])) for name in repeats]
                observed, samples = transfer.averaged(parts)
                yield transfer.drop_row(
                    whole[0][0] - observed[0],
                    (whole[1] - samples)[:, 0],
                    int(own.texts.sum()),
                    source="here",
                    family=family,
                    features=group,
                )

    def curves(self, names: Sequence[str], fprs: np.ndarray) -> Rows:
        """ROC curves of attacks, means over the combinations of a family."""
        table = self.held_out[[*COMBINATION, "id", "member", "family", *names]]
        found = transfer.judged(table, names, fprs, self._rng("curves"), self.replicates)
        for family in dict.fromkeys(found.keys["family"]):
            own = found.of((found.keys["family"] == family).to_numpy())
            draws = self._draws(own, "curves", family)
            for name in names:
                observed, samples = draws.mean(own.observed[name]), draws.means(own.samples[name])
                keys = {"source": "here", "dataset": family, "attack": name}
                yield from transfer.curve_rows(fprs, observed[1:], samples[:, 1:], int(own.texts.sum()), keys)

    def _held(self, table: pd.DataFrame) -> pd.DataFrame:
        return table[of_these(table, self.held_out[COMBINATION].drop_duplicates().values.tolist())]

    def _places(self, found: Judged, table: pd.DataFrame) -> np.ndarray:
        return of_these(found.keys, table[COMBINATION].drop_duplicates().values.tolist())

    def _draws(self, found: Judged, *name: str | int) -> Draws:
        families = found.keys["family"]
        return Draws.of(families, self.replicates, self._rng("combinations", *name))

    def _rng(self, *name: str | int) -> np.random.Generator:
        return seeds.generator(self.seed, STUDY, "intervals", *name)


def published_rows(metric: str, printed: float | Mapping[str, float], **keys: Any) -> Rows:
    """What the paper prints: one number, or one for each attack."""
    for attack, value in printed.items() if isinstance(printed, Mapping) else [(None, printed)]:
        own = {"source": "paper", **keys} | ({"attack": attack} if attack else {})
        yield tidy.row(STUDY, own, metric, value, method="as printed")
