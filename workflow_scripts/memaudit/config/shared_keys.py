"""Keys that all studies share: the run, its seed, the data, and the catalogues of data sets and models."""

from typing import Annotated, Any, Literal

from pydantic import Field, StringConstraints

from memaudit.common.cell_notations import MISSING
from memaudit.config.field_types import Count, Fraction, ImportPath, Name, Positive, Repo, Section, Sha256

PREDICTORS = {"classification": "classifier", "regression": "regressor"}  # what a model of a task is called


class Limits(Section):
    """How far a split may stray before the run stops."""

    tvd: Fraction = Field(0.05, description="total variation distance between the sides' class shares")
    ks: Fraction = Field(0.05, description="Kolmogorov-Smirnov statistic between the sides' targets (regression)")
    wasserstein: Fraction = Field(0.05, description="Wasserstein distance of the targets, in standard deviations")
    p_value: Fraction = Field(0.001, description="smallest p-value of the KS and the covariate test")
    reason: str | None = Field(None, description="why this data set needs other limits; required where they are wider")


class Dataset(Section):
    """One entry of the catalogue of data sets."""

    source: Literal["shipped", "sklearn", "openml", "file", "url", "hub", "package"] = Field(
        description="where it comes from: resources/tables of this project, inside scikit-learn, OpenML, a local file, "
        "a URL, a hub, an installed package"
    )
    kind: Literal["table", "text"] = Field("table", description="rows with a target, or documents")
    name: str | None = Field(None, description="name at the source (shipped, sklearn, openml, hub)")
    id: Count | None = Field(None, description="OpenML's data set id")
    version: Count | None = Field(None, description="OpenML's version")
    package: str | None = Field(None, description="installed package whose documentation or code is the corpus")
    path: str | None = Field(
        None, description="local CSV or Parquet file; of texts also .txt, .tsv, .jsonl, or a folder of .txt"
    )
    url: str | None = Field(None, description="address of a CSV or Parquet file, or `archive.zip#member`")
    sha256: Sha256 | None = Field(
        None, description="checksum of the file; a URL without one is trusted once, and its checksum recorded"
    )
    delimiter: str | None = Field(None, description="of a CSV file; detected in its header if not given")
    encoding: str | None = Field(None, description="of a CSV file; UTF-8 if not given")
    subset: str | None = Field(None, description="configuration of a hub data set")
    split: str | None = Field(None, description="split of a hub data set; train if not given")
    content: Literal["text", "code"] = Field(
        "text",
        description="what a corpus holds; of a package: docstrings, or code without comments, docstrings and strings "
        "of several lines or over 40 characters (other code is taken as it is)",
    )
    text_columns: list[str] = Field(["text"], description="columns of a corpus whose cells are joined to a text")
    characters: Count | None = Field(None, description="of a corpus, after which reading stops")
    document_start: str | None = Field(
        None,
        description="of a corpus of a file or hub: regular expression of rows or lines that begin a document, without "
        "blanks around them; the rows up to the next are one. null: each row is a document",
    )
    document_characters: Count | None = Field(
        None, description="of a corpus: of a longer document a random excerpt of that length is read"
    )
    target: str | None = Field(None, description="column to predict")
    task: Literal["classification", "regression", "language"] = Field(description="what is predicted")
    public: str | None = Field(
        None, description="public facts for private releases; config/public/<name>.yaml if not given"
    )
    licence: str = Field(description="licence of the data, or `unknown`")
    rows: Count | None = Field(None, description="rows before deduplication, where known")
    classes: Count | None = Field(None, description="classes of the target, where known")
    columns: Count | None = Field(None, description="features before encoding, where known (for `snakemake plan`)")
    group: str | None = Field(None, description="column of the person or household that replaces the row as the unit")
    drop: list[str] = Field([], description="columns that are not features")
    missing: list[str] = Field(list(MISSING), description="marks of missing values beside the empty cell")
    missing_target: Literal["error", "drop"] = Field("error", description="records without a target")
    types: dict[str, Literal["numeric", "categorical", "text", "date"]] = Field(
        {}, description="types to use instead of the detected ones"
    )
    decimal: Literal[".", ","] | None = Field(
        None,
        description="decimal sign of a file's numbers, where they can be read in two ways; of a release, that "
        "of all its numbers",
    )
    dates: Literal["dmy", "mdy", "ymd"] | None = Field(
        None, description="order of day, month and year of a file's dates, where they can be read in two ways"
    )
    max_records: Count | None = Field(None, description="take a stratified sample of that many records")
    balance: bool = Field(False, description="take equally many records of each class")
    limits: Limits = Field(Limits(), description="limits of the split checks")
    note: str | None = Field(None, description="anything a reader should know")


class Hub(Section):
    """A file on a model hub, or a whole repository."""

    repo: Repo = Field(description="owner/name")
    file: str | None = Field(None, description="file in the repository; family `text` takes all of its model's files")
    folder: str | None = Field(
        None,
        description="folder in the repository (`.` is all of it), of the families `mitra` and `tabfm`",
    )
    revision: str = Field("main", description="commit, tag or branch")


class Model(Section):
    """One entry of the catalogue of models."""

    family: Literal["tabicl", "tabpfn", "tabdpt", "mitra", "sdm", "tabfm", "contexttab", "text", "estimator"] = Field(
        description="architecture; `sdm`: networks of structured-data-models; `text`: a language model that reads "
        "rows; `estimator`: one like scikit-learn's"
    )
    task: Literal["classification", "regression"] = Field("classification", description="what it predicts")
    mode: Literal["raw", "as_deployed"] = Field(
        "raw", description="one view and nothing drawn, or the package's own estimator with its defaults"
    )
    version: str | None = Field(None, description="of the architecture, like v2.5; other checkpoints are refused")
    path: str | None = Field(
        None,
        description="local checkpoint or, for `text`, `mitra` and `tabfm`, folder: of the working "
        "folder, or else of the project's",
    )
    hub: Hub | None = Field(None, description="checkpoint on a hub, fetched by the fetch rule alone")
    estimator: ImportPath | None = Field(None, description="import path of an estimator's class; code that will run")
    params: dict[str, Any] = Field({}, description="arguments of the estimator")
    options: dict[str, bool | int | float | str] = Field({}, description="settings of the family; see docs/models.md")
    tokens: Count | None = Field(
        None, description="tokens that a language model takes at most, where they are known before it is fetched"
    )
    parameters: Positive | None = Field(
        None, description="weights of a language model, for `snakemake plan`; null: by the config.json in its folder"
    )
    architecture: dict[str, int | str] = Field(
        {},
        description="arguments of tabicl.TabICL that decide its cost, or of a language model `hidden_size` and "
        "`num_hidden_layers`, which decide the size of its hidden states, for `snakemake plan`; {}: those of the "
        "model.json beside the checkpoint, or of config.json, else of the published TabICL",
    )
    sha256: Sha256 | None = Field(None, description="checksum of the checkpoint")
    licence: str = Field(description="licence of the weights")
    terms: str | None = Field(
        None, description="where the terms of gated weights can be read: they need a line in accept_licences"
    )


class LanguageModel(Section):
    """A causal language model of `transformers`: built from a class and trained here, or one that is there."""

    model_type: str | None = Field(None, description="its type in transformers, to build it with fresh weights")
    config: dict[str, Any] = Field({}, description="arguments of the type's config class that differ from its defaults")
    family: str = Field(
        "transformer", description="how tokens meet: transformer for softmax attention, or another name"
    )
    hub: Hub | None = Field(None, description="a repository with safetensors and a tokenizer")
    path: str | None = Field(None, description="a folder with them, of the working folder or else of the project's")
    parameters: Positive | None = Field(
        None, description="number of weights, for `snakemake plan`; null: by `config`, or the config.json in the folder"
    )
    licence: str = Field("none: made here", description="licence of the weights")
    terms: str | None = Field(None, description="where the terms of gated weights are accepted; they need HF_TOKEN")


class Split(Section):
    """Disjoint members and non-members of a table, stratified by the target."""

    members: Fraction | Count = Field(description="share or number of records that may be in a training set or context")
    nonmembers: Fraction | Count = Field(description="share or number of records that never are")


class Data(Section):
    """Which tables are prepared and checked, and how."""

    datasets: list[Name] = Field(min_length=1, description="tables that the data checks report on")
    public_id_key: Annotated[str, StringConstraints(min_length=1, max_length=64)] | None = Field(
        description="key of the record ids; null draws a secret one per run (results/<run>/data/id.key, mode 0600)"
    )
    openml_cache: str | None = Field(description="cache folder of the openml package; null takes the package's own")
    duplicates: Literal["drop", "keep"] = Field(description="records that are equal in every column")
    conflicts: Literal["drop_both", "keep_first", "keep"] = Field(description="equal features, different target")
    splits: dict[Name, Split] = Field(min_length=1, description="named splits")


class SharedKeys(Section):
    """What the checks of every section may look up beside the section itself."""

    run: Name = Field(description="name of the run; results stand in results/<run>/")
    seed: Annotated[int, Field(ge=0)] = Field(description="master seed; every random stream derives from it and a name")
    data: Data
    datasets: dict[Name, Dataset] = Field(description="catalogue of data sets (config/datasets.yaml)")
    models: dict[Name, Model] = Field(description="catalogue of models (config/models.yaml)")
    language_models: dict[Name, LanguageModel] = Field(
        description="catalogue of language models (config/language_models.yaml)"
    )
    memory_mb: Count = Field(
        description="MiB that a forward pass of a tabular model may hold beside its weights; no answer depends on it"
    )
    accept_licences: list[Name] = Field(description="models with `terms` that you have read and accepted")
