"""The arms of the section `tabpate`: each method and its settings."""

from typing import Annotated, Any, Literal

from pydantic import Field

from memaudit.config.field_types import Count, Fraction, Name, Positive, Section
from memaudit.config.release_section import Mechanism


class Arm(Section):
    """What the arms of every method have."""

    datasets: list[Name] | None = Field(
        None, description="those of tabpate/datasets that have the arm; null: all of them, []: the arm is left out"
    )
    epsilons: list[Positive] | None = Field(None, description="epsilons that it has; null: all of tabpate/epsilons")
    held_out: bool = Field(False, description="without the records that are public for PromptPATE: the same 70 %")
    tuned: Name | None = Field(
        None, description="arm of the file tabpate/tuned whose settings at each epsilon replace these; null: none"
    )
    chosen_on: list[Name] = Field(
        [], description="tables on which the method's form was chosen: no utility is measured there"
    )
    by_dataset: dict[Name, dict[str, Any]] = Field({}, description="settings that a table has instead, by table")


class TabPate(Arm):
    """TabPATE: queries from public bounds or noisy moments, labels by noisy votes or by group."""

    method: Literal["tabpate"]
    settings: Mechanism


class Moments(Section):
    """Records drawn from noisy moments of each class, which is their label."""

    queries: Count = Field(description="records of the context")
    narrowed: bool = Field(True, description="half of the budget narrows the public bounds first")
    equal_classes: bool = Field(False, description="equal numbers of records of each class, at no cost")


class ClassMoments(Arm):
    """Moments of each class: not in the paper, no teacher is queried; number targets have parts of their range."""

    method: Literal["class-moments"]
    settings: Moments


class Tuning(Section):
    """Several alphas are released and one is chosen by its losses; one budget pays for all (privacy/tuned_alpha.py)."""

    teachers: Annotated[int, Field(ge=2)] = Field(description="disjoint parts of the private records")
    queries: Count = Field(description="most records that each candidate labels")
    candidates: list[Annotated[float, Field(ge=0, lt=1)]] = Field(
        min_length=2,
        description="alphas to choose from; each has an equal part of the budget, of which its alpha is for moments",
    )
    share: Fraction = Field(description="share of the budget for the choice")
    prior: Literal["uniform", "gaussian"] = Field("uniform", description="where queries come from if alpha is 0")
    by_class: bool = Field(False, description="moments of each class, not of all records together")
    narrowed: bool = Field(False, description="half of alpha narrows the public bounds first")
    threshold: Positive | None = Field(None, description="votes that a query needs to be answered; null: none")
    sigma1: Positive | None = Field(None, description="noise of that check, in votes")
    sigma2: Positive | None = Field(None, description="noise of each class's votes; null: all queries fit the budget")


class TunedTabPate(Arm):
    """TabPATE whose alpha is chosen on the private records, at a price."""

    method: Literal["tabpate-tuned"]
    settings: Tuning


class Voting(Section):
    """Confident-GNMax on queries that are there."""

    teachers: Annotated[int, Field(ge=2)] = Field(description="disjoint parts of the private records")
    queries: Count = Field(description="most public records that are labelled")
    threshold: Positive | None = Field(None, description="votes that a query needs to be answered; null: none")
    sigma1: Positive | None = Field(None, description="noise of that check, in votes")
    sigma2: Positive | None = Field(None, description="noise of each class's votes; null: all queries fit the budget")
    accounting: Literal["as_published", "joint"] = Field("joint", description="as in the paper, or with all of delta")


class PromptPate(Arm):
    """PromptPATE (Duan et al. 2023): public records of the same distribution are labelled."""

    method: Literal["prompt-pate"]
    settings: Voting


class Asking(Section):
    """Noisy votes on each query at hand, which share the budget."""

    teachers: Annotated[int, Field(ge=2)] = Field(description="disjoint parts of the private records")


class QueryTime(Arm):
    """Query-Time: sample and aggregate; nothing is released but answers."""

    method: Literal["query-time"]
    settings: Asking


class Prototyping(Section):
    """Noisy means of the parts of each class."""

    prototypes: Annotated[int, Field(ge=2)] = Field(description="records of the context, all classes together")
    intervals: Annotated[int, Field(ge=2)] = Field(10, description="equal parts of a number target's range, as classes")


class Prototypes(Arm):
    """DP-TabICL (Carey et al. 2024), central variant."""

    method: Literal["dp-tabicl"]
    settings: Prototyping


class Training(Section):
    """DP-SGD; what is left out is as in memaudit/privacy/dp_network.py."""

    steps: Count = Field(100, description="steps of training")
    batch: Count = Field(256, description="expected number of units in a step")
    clip: Positive = Field(1.0, description="largest norm of a unit's gradient")
    learning_rate: Positive = Field(0.1, description="largest learning rate of the schedule")


class Network(Arm):
    """RealMLP trained with DP-SGD."""

    method: Literal["dp-sgd"]
    settings: Training


class Descent(Section):
    """Gradient descent with noise on all records (memaudit/privacy/noisy_descent.py)."""

    steps: Count = Field(100, description="steps of descent, each a noisy sum of gradients")
    clip: Positive = Field(1.0, description="largest norm of a record's gradient")
    learning_rate: Positive = Field(1.0, description="of the mean gradient, times 4 for classes and 0.5 for numbers")
    penalty: Annotated[float, Field(ge=0)] = Field(1e-3, description="L2 penalty on the weights")


class Regression(Arm):
    """Private logistic regression for classes, linear regression for numbers: the simple baseline."""

    method: Literal["dp-linear"]
    settings: Descent


class Synthesis(Section):
    """A synthesizer of categorical tables, on bins whose edges are released with noise."""

    bins: Annotated[int, Field(ge=2)] = Field(description="most bins of a number")
    bins_share: Fraction = Field(0.1, description="share of the budget, in rho, for the edges of the bins")
    columns: Count = Field(description="columns that are modelled; the others are drawn uniformly")
    iterations: Count = Field(description="iterations of each fit of the graphical model")
    rounds: Count = Field(16, description="AIM's rounds for each column")
    rows: Count = Field(description="synthetic records")


class Synthesizer(Arm):
    """AIM or MST (McKenna et al. 2022, 2021)."""

    method: Literal["aim", "mst"]
    settings: Synthesis


Method = Annotated[
    TabPate | ClassMoments | TunedTabPate | PromptPate | QueryTime | Prototypes | Network | Regression | Synthesizer,
    Field(discriminator="method"),
]
