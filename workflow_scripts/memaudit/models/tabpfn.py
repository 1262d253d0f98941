"""TabPFN (Hollmann et al. 2025), v2 to v3.5: attention between cells, rows and columns. One raw view, fp32."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from copy import copy
from functools import partial
from pathlib import Path
from typing import Any, Literal

import torch
from tabpfn.preprocessing.torch.torch_standard_scaler import TorchStandardScaler
from torch import Tensor, nn

from memaudit.common.errors import AuditError
from memaudit.models.anonymous_keys import BLOCK, THRESHOLD, answering, change_of
from memaudit.models.context_attention import Reduce, in_parts, mean_over_heads, mean_values, reduced
from memaudit.models.model_protocol import Limits, Mode
from memaudit.models.predictive_distributions import Binned
from memaudit.models.tabpfn_checkpoint import Opened, open_checkpoint

# Scales a group of columns by how many of them vary, over context and queries together.
COUPLED = ("v2", "v2.5", "v2.6")
CONSTANT = 1e-5  # the package's half width of a constant target's distribution, relative above 1

Predict = Callable[[Tensor, Tensor, Tensor], Tensor]


class TabPFNBranch:
    """`raw` mode of TabPFN: the module itself, one view, no fingerprint, shuffles or ensemble. A `Network`.

    Every answer is that of the package's estimator with this context and this query alone. Rows and tables of a batch
    would be coupled as follows:

    - The estimator drops columns that are constant in the context; a column's number then decides its group, so tables
      that keep different numbers of columns cannot share a batch. They are computed separately.
    - v2, v2.5 and v2.6 scale a group of columns by how many of them vary once missing cells have become the mean, over
      context and queries together. The context determines that, except for a column with missing cells and one value
      in the context: there another query can change an answer. Queries of such a table share a batch only if they
      differ from the context in the same columns.
    - v3 and v3.5 have no coupling: all their statistics are the context's.

    Ordinal codes are numbers: no version's module receives which columns are categorical. A missing cell becomes the
    context's mean, with an indicator. On a GPU v2 draws other column embeddings than on a CPU, as in the package.
    """

    mode: Mode = "raw"
    reads_text, alone, orderless, counting = False, True, True, False
    scales = True  # cells by their context
    anonymity = 1
    keys: Callable[..., Tensor] | None = None  # change of the logits of queries, as by other keys

    def __init__(self, opened: Opened, task: Literal["classification", "regression"], device: str):
        self.module = opened.module.to(device)
        self.bars = opened.bars.to(device) if opened.bars else None
        self.version = opened.version
        self.limits: Limits = opened.limits
        self.task: Literal["classification", "regression"] = task
        self.device = device

    @classmethod
    def load(
        cls, weights: Path, card: Mapping[str, Any], device: str, schema: Mapping[str, Any] | None = None
    ) -> "TabPFNBranch":
        """See TabularModel. The folder holds one checkpoint in the package's format, .ckpt or .safetensors."""
        if card["options"]:
            raise AuditError(f"options: TabPFN has none, so not {', '.join(sorted(card['options']))}; remove them")
        return cls(open_checkpoint(weights, card["task"], card["version"]), card["task"], device)

    def scale(self, x: Tensor, reference_x: Tensor) -> Tensor:
        """See Network. A missing cell stays missing; without scaling the network reads it as 0, with the indicator."""
        x, reference_x = x.to(self.device).float(), reference_x.to(self.device).float()
        kept = _kept(reference_x[None])[0]
        x, reference_x = x[:, kept], reference_x[:, kept]
        scaler = TorchStandardScaler()
        imputed = torch.where(reference_x.isnan(), reference_x.nanmean(0), reference_x)
        return scaler.transform(x, scaler.fit(imputed))

    def without_scaling(self) -> "TabPFNBranch":
        """See Network. From v3 on: earlier modules remove constant columns and scale by the number of the others.

        The ranks that v3.5 embeds beside the cells stay those of the context.
        """
        if self.version in COUPLED:
            raise AuditError(
                f"TabPFN {self.version} cannot be used without its scaling: its module removes the columns that are "
                "constant in a table; choose tabicl, or tabpfn v3 or v3.5"
            )
        network = copy(self)
        network.scales = False
        network.module = copy(self.module)
        network.module.standard_scaler = _Identity()
        return network

    def forward(self, context_x: Tensor, context_y: Tensor, query_x: Tensor) -> Tensor:
        """See Network. Logits are indexed by class code, as in `logits`; a regression head has the K bars' logits."""

        def predict(*table: Tensor) -> Tensor:
            return self._run(*table)["standard"].transpose(0, 1)

        outputs = self._answers(context_x, context_y, query_x, predict)
        if self.task == "regression":
            return outputs
        present, rank = _present(context_y.to(self.device), outputs.shape[-1])
        rank = rank.clamp(0, outputs.shape[-1] - 1)[:, None].expand(-1, outputs.shape[1], -1)
        return torch.where(present[:, None], outputs.gather(2, rank), -torch.inf)

    def loss(self, outputs: Tensor, context_y: Tensor, query_y: Tensor) -> Tensor:
        """See Network. Cross-entropy over the classes of the context, in nats; infinite for a class that it lacks.

        Regression: negative log density of the bars, in nats, of targets in deviations of the context's.
        """
        query_y = query_y.to(self.device)
        if self.task == "classification":
            return nn.functional.cross_entropy(outputs.transpose(1, 2), query_y, reduction="none")
        mean, deviation = target_scale(context_y.to(self.device))
        return self.bars(outputs, ((query_y - mean) / deviation).float())

    def logits(self, context_x: Tensor, context_y: Tensor, query_x: Tensor) -> Tensor:
        """See TabularModel. Raises AuditError for a context of more classes than the head has."""
        return self.forward(context_x, context_y, query_x)

    def distribution(self, context_x: Tensor, context_y: Tensor, query_x: Tensor) -> Binned:
        """See TabularModel."""
        mean, deviation = (part[..., None] for part in target_scale(context_y.to(self.device)))
        outputs = self.forward(context_x, context_y, query_x)
        return Binned.from_bars(outputs, self.bars.borders).scaled(deviation, mean)

    def attention(self, context_x: Tensor, context_y: Tensor, query_x: Tensor) -> Tensor:
        """See Network. Of the last attention between rows; up to v2.6 that of the target column."""
        return self.in_context_attention(context_x, context_y, query_x, [-1])[:, :, 0]

    def in_context_attention(
        self,
        context_x: Tensor,
        context_y: Tensor,
        query_x: Tensor,
        blocks: Sequence[int] | None = None,
        reduce: Reduce = mean_over_heads,
    ) -> Tensor:
        """See ReadsContext. Of the attention between rows; up to v2.6 that of the target column.

        v2.5 and v2.6 prepend rows of their own to the context: the rest of the attention is scaled to sum to 1, in the
        mean over heads.
        """
        layers = self._layers()
        chosen = layers if blocks is None else [layers[place] for place in blocks]

        def predict(context: Tensor, targets: Tensor, query: Tensor) -> Tensor:
            def of_context(weights: Tensor) -> Tensor:
                weights = weights[..., -context.shape[1] :]
                return reduce(weights / weights.mean(1, keepdim=True).sum(-1, keepdim=True), targets)

            def weigh(layer: nn.Module, inputs: tuple[Tensor, ...]) -> Tensor:
                q, k, _ = _projected(layer, _of_target(inputs[0], len(context)), query.shape[1])
                defended = self.keys and layer is layers[BLOCK]
                return in_parts(q, k, of_context, partial(self.keys, rows=context.shape[1]) if defended else None)

            return reduced(chosen, lambda: self._run(context, targets, query), weigh)

        return self._answers(context_x, context_y, query_x, predict)

    def _run(self, context_x: Tensor, targets: Tensor, query_x: Tensor) -> dict[str, Tensor]:
        """The module's outputs for tables that may share a batch, with the row axis before the table axis."""
        x, y = torch.cat([context_x, query_x], 1).transpose(0, 1), targets.T.contiguous()
        kind = "multiclass" if self.task == "classification" else "regression"

        def outputs() -> dict[str, Tensor]:
            return self.module(x.contiguous(), y, only_return_standard_out=False, task_type=kind)

        def answer(layer: nn.Module, inputs: tuple[Tensor, ...], output: tuple[Tensor, Any]) -> tuple[Tensor, Any]:
            tables, rows, queries = len(context_x), context_x.shape[1], query_x.shape[1]
            q, k, v = _projected(layer, _of_target(inputs[0], tables), queries)
            changed = output[0].clone()
            read = in_parts(q, k, mean_values(v), partial(self.keys, rows=rows))
            _of_target(changed, tables)[:, -queries:] = layer.out_projection(read)
            return changed, *output[1:]

        if self.keys is None:
            return outputs()
        with answering(self._layers()[BLOCK], answer):
            return outputs()

    def with_anonymous_keys(self, k: int, threshold: float = THRESHOLD) -> "TabPFNBranch":
        """See HidesRows. Up to v2.6 the keys of the target column alone, which are those whose attention is read."""
        network = copy(self)
        network.anonymity, network.keys = k, change_of(k, threshold)
        return network

    def _layers(self) -> list[nn.Module]:
        """Attention between rows of every block."""
        if self.version in COUPLED:
            return [block.per_column_attention_between_cells for block in self.module.blocks]
        return [block.icl_attention for block in self.module.icl_blocks]

    def _answers(self, context_x: Tensor, context_y: Tensor, query_x: Tensor, predict: Predict) -> Tensor:
        """predict(context (b, n, k), targets (b, n), query (b, q, k)) of all tables and queries, each alone."""
        context_x, query_x = context_x.to(self.device).float(), query_x.to(self.device).float()
        targets = self._targets(context_y.to(self.device))
        kept = _kept(context_x) if self.scales else torch.ones_like(context_x[:, 0], dtype=torch.bool)
        columns = torch.argsort((~kept).int(), dim=1, stable=True)
        parts = []
        for tables, queries in self._groups(context_x, query_x, kept):
            chosen = columns[tables, None, : kept[tables[0]].sum()]
            context, query = (
                rows.gather(2, chosen.expand(-1, rows.shape[1], -1))
                for rows in (context_x[tables], query_x[tables][:, queries])
            )
            parts.append((tables[:, None], queries, predict(context, targets[tables], query)))
        answers = parts[0][2].new_zeros(*query_x.shape[:2], *parts[0][2].shape[2:])
        for tables, queries, part in parts:
            answers[tables, queries] = part
        return answers

    def _groups(self, context_x: Tensor, query_x: Tensor, kept: Tensor) -> Iterator[tuple[Tensor, Tensor]]:
        """Tables and their queries that do not change each other's answers in one batch."""
        # Another query matters only where it gives a second value to a column that has one.
        apart = _second_value(context_x, query_x) & kept[:, None]
        coupled = apart.flatten(1).any(1) & (self.version in COUPLED and query_x.shape[1] > 1)
        widths = kept.sum(1)
        everyone = torch.arange(query_x.shape[1], device=query_x.device)
        for width in widths[~coupled].unique():
            yield ((widths == width) & ~coupled).nonzero()[:, 0], everyone
        for table in coupled.nonzero()[:, 0]:
            pattern = apart[table].unique(dim=0, return_inverse=True)[1]
            for number in pattern.unique():
                yield table[None], (pattern == number).nonzero()[:, 0]

    def _targets(self, context_y: Tensor) -> Tensor:
        """Targets (B, n) as the module reads them: in deviations, or classes that are numbered 0 .. K-1 per table."""
        if self.task == "regression":
            mean, deviation = target_scale(context_y)
            return ((context_y - mean) / deviation).float()
        present, rank = _present(context_y)
        if (most := int(present.sum(1).max())) > self.limits.classes:
            raise AuditError(
                f"a context of {most} classes: this TabPFN has {self.limits.classes}; choose a table with fewer"
            )
        return rank.gather(1, context_y).float()


class _Identity(TorchStandardScaler):
    """The modules' scaler, with statistics that change nothing."""

    def fit(self, x: Tensor) -> dict[str, Tensor]:
        return {"mean": torch.zeros_like(x[0]), "std": torch.ones_like(x[0])}


def target_scale(context_y: Tensor) -> tuple[Tensor, Tensor]:
    """Return mean and standard deviation (B, 1) of numbers (B, n), float64, as the package standardises targets.

    The package predicts a constant target without its module; here it has a deviation of CONSTANT.
    """
    y = context_y.double()
    mean, deviation = y.mean(1, keepdim=True), y.std(1, correction=0, keepdim=True)
    constant = (y == y[:, :1]).all(1, keepdim=True)
    return torch.where(constant, y[:, :1], mean), torch.where(constant, CONSTANT * mean.abs().clamp(min=1), deviation)


def _present(context_y: Tensor, least: int = 1) -> tuple[Tensor, Tensor]:
    """Mask (B, C >= least) of the classes in each context (B, n), and their number among these, from 0."""
    most = max(least, int(context_y.max()) + 1)
    present = torch.zeros(len(context_y), most, dtype=torch.bool, device=context_y.device)
    present.scatter_(1, context_y, True)
    return present, present.cumsum(1) - 1


def _kept(context_x: Tensor) -> Tensor:
    """The columns (B, d) that vary in the context (B, n, d), missing counted as a value, but not alone.

    As the package's RemoveConstantFeaturesStep. Raises AuditError, as it does, if a table has none.
    """
    kept = (context_x != context_x[:, :1]).any(1) & ~context_x.isnan().all(1)
    if not kept.any(1).all():
        raise AuditError("a context in which every column is constant: TabPFN cannot predict from it; choose more rows")
    return kept


def _second_value(context_x: Tensor, query_x: Tensor) -> Tensor:
    """Cells (B, m, d) of queries, not missing, that differ from the one value that their column has in the context."""
    missing = context_x.isnan()
    low, high = (context_x.masked_fill(missing, bound) for bound in (torch.inf, -torch.inf))
    low, high = low.amin(1, keepdim=True), high.amax(1, keepdim=True)
    return (low == high) & (query_x != low) & ~query_x.isnan()


def _of_target(rows: Tensor, tables: int) -> Tensor:
    """The view (B, R, e) of the last column, the target's, of rows (B columns, R, e); B = `tables`."""
    return rows.unflatten(0, (tables, -1))[:, -1]


def _projected(layer: nn.Module, rows: Tensor, queries: int) -> tuple[Tensor, Tensor, Tensor]:
    """Queries (B, heads, m, e) of the last m = `queries` rows of (B, R, e); keys, values (B, heads, R - m, e).

    As the layer computes them: up to v2.6, and in some of v3, a query reads fewer heads of keys than it has itself.
    """
    q = layer.q_projection(rows[:, -queries:]).unflatten(-1, (-1, layer.head_dim))
    k, v = (
        projection(rows[:, :-queries]).unflatten(-1, (-1, layer.head_dim))[
            :, :, : getattr(layer, "num_kv_heads_test", 1)
        ]
        for projection in (layer.k_projection, layer.v_projection)
    )
    if hasattr(layer, "q_norm"):
        q, k = layer.q_norm(q), layer.k_norm(k)
    if getattr(layer, "softmax_scaling_layer", None) is not None:
        q = layer.softmax_scaling_layer(q, k.shape[1])
    k, v = (part.repeat_interleave(q.shape[2] // part.shape[2], 2).transpose(1, 2) for part in (k, v))
    return q.transpose(1, 2), k, v
