"""Curves of the strongest score in an audit's summary: points of the ROC, and bins of the scores. No row is in them."""

import pandas as pd
from pydantic import BaseModel, ConfigDict, Field


class Curve(BaseModel):
    """A model without unknown keys."""

    model_config = ConfigDict(extra="forbid")


class RocPoint(Curve):
    """TPR at one FPR with its 95 % interval."""

    fpr: float
    tpr: float
    low: float
    high: float


class ScoreBin(Curve):
    """Shares of the answers about members and about non-members whose score lies in a bin."""

    low: float
    high: float
    members: float
    nonmembers: float


class Histogram(Curve):
    """Scores of members and non-members, made normal by their rank among all."""

    bins: list[ScoreBin]
    threshold: float = Field(description="score above which the strict share of the non-members lies")
    members: int = Field(description="answers about records that are in the context")
    nonmembers: int = Field(description="answers about records that are not")


class Curves(Curve):
    """ROC and scores of the headline's score for accusations."""

    roc: list[RocPoint] = Field(description="at FPRs that two answers about non-members lie above, at least")
    distinct: int = Field(description="different values of the score")
    scores: Histogram | None = Field(description="null: of too few different values")


def curves(headline: pd.DataFrame) -> Curves | None:
    """The curves in the rows of the headline, keys as columns; None for results of an earlier version."""
    of = {name: headline[headline["metric"] == name] for name in ("roc tpr", "distinct scores", "scores in bin")}
    if of["distinct scores"].empty:
        return None
    points = of["roc tpr"].sort_values("roc fpr") if len(of["roc tpr"]) else of["roc tpr"]
    return Curves(
        roc=[
            RocPoint(fpr=one["roc fpr"], tpr=one["estimate"], low=one["low"], high=one["high"])
            for one in points.to_dict("records")
        ],
        distinct=int(of["distinct scores"]["estimate"].iloc[0]),
        scores=_histogram(headline, of["scores in bin"]) if len(of["scores in bin"]) else None,
    )


def _histogram(headline: pd.DataFrame, bins: pd.DataFrame) -> Histogram:
    sides = {side: rows.sort_values("bin") for side, rows in bins.groupby("side")}
    lefts = sides["members"]["bin"].to_numpy(float)
    width = (lefts[-1] - lefts[0]) / (len(lefts) - 1)
    shares = zip(lefts, sides["members"]["estimate"], sides["non-members"]["estimate"], strict=True)
    return Histogram(
        bins=[
            ScoreBin(low=left, high=left + width, members=inside, nonmembers=outside)
            for left, inside, outside in shares
        ],
        threshold=headline.loc[headline["metric"] == "score threshold", "estimate"].iloc[0],
        members=int(sides["members"]["n"].iloc[0]),
        nonmembers=int(sides["non-members"]["n"].iloc[0]),
    )
