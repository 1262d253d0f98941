"""TabICL (Qu et al. 2025, 2026): column embedding, row interaction, in-context learning. One raw view, fp32."""

import math
import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from copy import copy
from functools import partial
from pathlib import Path
from typing import Any, Literal

import torch
from torch import Tensor, nn

from memaudit.common.errors import AuditError
from memaudit.models.anonymous_keys import BLOCK, THRESHOLD, answering, change_of
from memaudit.models.context_attention import Reduce, in_parts, mean_over_heads, mean_values, reduced
from memaudit.models.context_scaling import package_view, standardize, target_scale
from memaudit.models.merged_rows import counted, merged
from memaudit.models.model_files import UNREADABLE, reason, the_file
from memaudit.models.model_protocol import Limits, Mode
from memaudit.models.predictive_distributions import Binned
from memaudit.models.tabicl_network import TabICL

# v1 embeds columns without their target; v1.1 differs only in its weights, so only the file's name distinguishes it.
TARGET_AWARE = {"v1": False, "v1.1": False, "v2": True}
NAMED = re.compile(r"-(v\d(?:\.\d)?)-\d{8}")  # in the name of every published file


class TabICLBranch:
    """`raw` mode of TabICL v1 and v2: the module itself, one view, no shuffles, no ensemble. A `Network`.

    Queries do not attend to each other. TabICL reads ordinal codes as numbers. A context may have at most `max_classes`
    classes: the package's hierarchy of classes, which calls the module several times, is not part of this mode.
    """

    mode: Mode = "raw"
    reads_text, alone, orderless = False, True, True
    scales = True  # cells by their context
    anonymity = 1
    keys: Callable[..., Tensor] | None = None  # change of the logits of queries, as by other keys

    def __init__(self, module: TabICL, device: str, clip: float | None = None):
        """clip: of the scaling of our own checkpoints; None: the package's scaling."""
        # In train() the package's module is a plain differentiable forward pass in the dtype of its weights; in eval()
        # a manager batches, offloads and casts to bf16. The two agree without dropout.
        self.module = _without_reserved_columns(module.to(device).train())
        self.device = device
        self.clip = clip
        self.limits = Limits(rows=None, features=None, classes=module.max_classes)
        self.task: Literal["classification", "regression"] = "classification" if module.max_classes else "regression"

    @classmethod
    def load(
        cls, weights: Path, card: Mapping[str, Any], device: str, schema: Mapping[str, Any] | None = None
    ) -> "TabICLBranch":
        """See TabularModel. The folder holds one checkpoint in the package's format: `config` and `state_dict`."""
        return cls.of_file(the_file(weights), card, device)

    @classmethod
    def of_file(cls, file: Path, card: Mapping[str, Any], device: str) -> "TabICLBranch":
        """Open a checkpoint file; card: its task, version and options."""
        if unknown := set(card["options"]) - {"clip"}:
            raise AuditError(f"options: TabICL has no {', '.join(sorted(unknown))}; it has clip")
        clip = card["options"].get("clip")
        if clip is not None and not (type(clip) in (int, float) and 0 < clip < math.inf):
            raise AuditError(f"options: clip is {clip!r}; set a number above 0, in deviations")
        branch = cls(_module(file), device, clip)
        if branch.task != card["task"]:
            raise AuditError(f"{file}: a TabICL for {branch.task}, not for {card['task']}; change the model's `task`")
        _check_version(file, branch.module, card["version"])
        return branch

    def scale(self, x: Tensor, reference_x: Tensor) -> Tensor:
        """See Network. With the clip of our own checkpoints no column is left out: constant ones are 0."""
        reference_x, x = reference_x[None].to(self.device), x[None].to(self.device)
        if self.clip is not None:
            return standardize(reference_x.double(), x.double(), self.clip)[1][0].float()
        _, cells, kept = package_view(reference_x, x)
        return cells[0][:, kept[0]]

    def without_scaling(self) -> "TabICLBranch":
        """See Network."""
        network = copy(self)
        network.scales = False
        return network

    @property
    def counting(self) -> bool:
        """See Network. Scaling of cells reads a row once, and keys are those of single rows."""
        return not self.scales and self.keys is None

    def forward(self, context_x: Tensor, context_y: Tensor, query_x: Tensor, counts: Tensor | None = None) -> Tensor:
        """See Network. Logits are indexed by class code, as in `logits`; a regression head has K quantiles.

        The quantiles are of the levels 1/(K+1) .. K/(K+1), in deviations of the context's targets, and may cross.
        """
        predict = self._run if self.keys else self._run_merged
        if counts is not None:
            if not self.counting:
                raise AuditError(
                    "a network that scales by its context, or hides rows, takes no counts; repeat the rows"
                )
            predict = partial(self._run_counted, counts.to(self.device))
        outputs = self._answers(context_x, context_y, query_x, predict, counts)
        if self.task == "regression":
            return outputs
        present = _present(context_y)
        logits = outputs.new_full((*outputs.shape[:2], max(self.limits.classes, present.shape[1])), -torch.inf)
        for classes in present.unique(dim=0):
            known = torch.nonzero(classes)[:, 0].to(self.device)
            tables = torch.nonzero((present == classes).all(1))[:, 0].to(self.device)
            logits[tables[:, None], :, known] = outputs[tables, :, : len(known)].transpose(1, 2)
        return logits

    def loss(self, outputs: Tensor, context_y: Tensor, query_y: Tensor) -> Tensor:
        """See Network. Cross-entropy over the classes of the context, in nats; infinite for a class that it lacks.

        Regression: mean pinball loss over the quantiles, in deviations of the context's targets.
        """
        query_y = query_y.to(self.device)
        if self.task == "classification":
            return nn.functional.cross_entropy(outputs.transpose(1, 2), query_y, reduction="none")
        mean, deviation = (part.to(self.device) for part in target_scale(context_y))
        return pinball(outputs, (query_y - mean) / deviation).mean(-1)

    def logits(self, context_x: Tensor, context_y: Tensor, query_x: Tensor, counts: Tensor | None = None) -> Tensor:
        """See TabularModel. Raises AuditError for a context of more classes than the head has."""
        return self.forward(context_x, context_y, query_x, counts)

    def distribution(
        self, context_x: Tensor, context_y: Tensor, query_x: Tensor, counts: Tensor | None = None
    ) -> Binned:
        """See TabularModel."""
        mean, deviation = (part.to(self.device)[..., None] for part in target_scale(context_y, counts))
        return Binned.from_quantiles(self.forward(context_x, context_y, query_x, counts)).scaled(deviation, mean)

    def attention(self, context_x: Tensor, context_y: Tensor, query_x: Tensor) -> Tensor:
        """See Network. Of the last block of in-context learning."""
        return self.in_context_attention(context_x, context_y, query_x, [-1])[:, :, 0]

    def in_context_attention(
        self,
        context_x: Tensor,
        context_y: Tensor,
        query_x: Tensor,
        blocks: Sequence[int] | None = None,
        reduce: Reduce = mean_over_heads,
    ) -> Tensor:
        """See ReadsContext."""
        layers = self._layers()
        chosen = layers if blocks is None else [layers[place] for place in blocks]

        def predict(x: Tensor, y: Tensor) -> Tensor:
            def weigh(layer: nn.Module, inputs: tuple[Tensor, ...]) -> Tensor:
                q, k, _ = _projected(layer, inputs, y.shape[1])
                return in_parts(q, k, lambda weights: reduce(weights, y), self.keys if layer is layers[BLOCK] else None)

            return reduced(chosen, lambda: self._run(x, y), weigh)

        return self._answers(context_x, context_y, query_x, predict)

    def with_anonymous_keys(self, k: int, threshold: float = THRESHOLD) -> "TabICLBranch":
        """See HidesRows."""
        network = copy(self)
        network.anonymity, network.keys = k, change_of(k, threshold)
        return network

    def _layers(self) -> list[nn.Module]:
        """Attention of every block of in-context learning."""
        return [block.attn for block in self.module.icl_predictor.tf_icl.blocks]

    def _run(self, x: Tensor, y: Tensor) -> Tensor:
        """The module's outputs for rows x (b, n + m, columns) and targets y (b, n)."""
        if self.keys is None:
            return self.module(x, y)

        def answer(layer: nn.Module, inputs: tuple[Tensor, ...], output: Tensor) -> Tensor:
            q, k, v = _projected(layer, inputs, n := y.shape[1])
            return torch.cat([output[:, :n], layer.out_proj(in_parts(q, k, mean_values(v), self.keys))], 1)

        with answering(self._layers()[BLOCK], answer):
            return self.module(x, y)

    def _run_merged(self, x: Tensor, y: Tensor) -> Tensor:
        """As `_run`, with equal neighbouring context rows computed once."""
        if (tables := merged(x, y)) is None:
            return self._run(x, y)
        with self._weighing(tables.weights, [y.shape[1]] * len(y)):
            return self._run(tables.x, tables.y)

    def _run_counted(self, counts: Tensor, x: Tensor, y: Tensor) -> Tensor:
        """As `_run`, with every context row standing as often as counts (b, n) say."""
        rows, order = counts.sum(1).sort(stable=True)
        with self._weighing(counts[order].to(x.dtype).log(), rows.tolist()):
            return self._run(x[order], y[order])[order.argsort()]

    def _weighing(self, weights: Tensor, rows: Sequence[int]) -> AbstractContextManager[None]:
        """All attention on context rows weighs them, see `counted`."""
        blocks = self.module.col_embedder.tf_col.blocks
        return counted([*(block.multihead_attn1.attn for block in blocks), *self._layers()], weights, rows)

    def _answers(
        self,
        context_x: Tensor,
        context_y: Tensor,
        query_x: Tensor,
        predict: Callable[[Tensor, Tensor], Tensor],
        counts: Tensor | None = None,
    ) -> Tensor:
        """predict(x (b, n + m, columns), y (b, n)) of all tables, scaled; tables with the same kept columns at once."""
        context_x, query_x = context_x.to(self.device), query_x.to(self.device)
        y = self._targets(context_y, counts).to(self.device)
        if not self.scales:
            return predict(torch.cat([context_x, query_x], 1).float(), y)
        if self.clip is not None:
            return predict(torch.cat(standardize(context_x.double(), query_x.double(), self.clip), 1).float(), y)
        *parts, kept = package_view(context_x, query_x)
        x = torch.cat(parts, 1)
        patterns, group = torch.unique(kept, dim=0, return_inverse=True)
        members = [torch.nonzero(group == number)[:, 0] for number in range(len(patterns))]
        answers = [predict(x[at][..., columns], y[at]) for at, columns in zip(members, patterns, strict=True)]
        return torch.cat(answers)[torch.cat(members).argsort()]

    def _targets(self, context_y: Tensor, counts: Tensor | None) -> Tensor:
        """Targets (B, n) as the module reads them: in deviations, or classes that are numbered 0 .. K-1 per table."""
        if self.task == "regression":
            mean, deviation = target_scale(context_y, counts)
            return ((context_y - mean) / deviation).float()
        codes = (_present(context_y).cumsum(1) - 1).gather(1, context_y.long())
        if codes.max() >= self.limits.classes:
            raise AuditError(
                f"a context of {int(codes.max()) + 1} classes: this TabICL has {self.limits.classes} in raw mode; "
                "choose a table with fewer, or mode as_deployed"
            )
        return codes.float()


def _present(context_y: Tensor) -> Tensor:
    """Whether a class is in a context, (B, C), for class codes (B, n) below C."""
    return (context_y[..., None] == torch.arange(int(context_y.max()) + 1, device=context_y.device)).any(1)


def pinball(quantiles: Tensor, y: Tensor) -> Tensor:
    """Pinball loss (B, m, K) of quantiles (B, m, K) at the levels 1/(K+1) .. K/(K+1) for the numbers y (B, m)."""
    levels = torch.linspace(0, 1, quantiles.shape[-1] + 2, device=quantiles.device)[1:-1]
    error = y[..., None] - quantiles
    return torch.maximum(levels * error, (levels - 1) * error)


def _module(file: Path) -> TabICL:
    """Read a checkpoint, tensors and plain values only. Raises AuditError if it is no TabICL."""
    try:
        content = torch.load(file, map_location="cpu", weights_only=True)
        module = TabICL(**{**content["config"], "dropout": 0.0})
        module.load_state_dict(content["state_dict"])
    except UNREADABLE as error:
        raise AuditError(
            f"{file}: not a TabICL checkpoint ({reason(error)}); give one of the package tabicl"
        ) from error
    return module.float()


def _without_reserved_columns(module: TabICL) -> TabICL:
    """Return the module without the computation of columns that it reserves and overwrites later.

    With a target-aware embedding the package fills these columns with targets and computes them in full. The answers
    are the same to the bit, and small tables take up to half the time.
    """
    reserved, module.col_embedder.reserve_cls_tokens = module.col_embedder.reserve_cls_tokens, 0
    module.col_embedder.register_forward_hook(partial(_with_reserved, reserved))
    return module


def _with_reserved(reserved: int, _module: nn.Module, _inputs: tuple[Tensor, ...], cells: Tensor) -> Tensor:
    """Embedded cells behind the reserved columns, which are zero here. No lambda, so that a model can be pickled."""
    return nn.functional.pad(cells, (0, 0, reserved, 0))


def _check_version(file: Path, module: TabICL, version: str | None) -> None:
    """Raise AuditError for an unknown version, or one that architecture or file name contradict; None: any version."""
    if version is None:
        return
    if version not in TARGET_AWARE:
        raise AuditError(f"version: there is no TabICL {version}; set one of {', '.join(TARGET_AWARE)}, or nothing")
    match = NAMED.search(file.name)
    actual = match[1] if match else version
    if module.col_target_aware != TARGET_AWARE[version]:
        actual = "v2" if module.col_target_aware else "v1"
    if actual != version:
        raise AuditError(f"{file}: a TabICL {actual}, but the card says {version}; change the model's `version`")


def _projected(layer: nn.Module, inputs: tuple[Tensor, ...], context: int) -> tuple[Tensor, Tensor, Tensor]:
    """Queries (B, heads, m, e), keys and values (B, heads, n, e) of the layer.

    inputs: rows (B, n + m, e), of which the first n = `context` are left out of the queries, and the context rows as
    keys and as values (B, n, e).
    """
    rows, keys, values = inputs
    parts = nn.functional._in_projection_packed(
        rows[:, context:], keys, values, layer.in_proj_weight, layer.in_proj_bias
    )
    q, k, v = (part.unflatten(-1, (layer.num_heads, -1)).transpose(1, 2) for part in parts)
    return (q if layer.ssmax_layer is None else layer.ssmax_layer(q, k.shape[-2])), k, v
