"""Everything that a config fetches, made in a folder: tables, corpora, checkpoints, and files that are put by hand."""

import io
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pandas as pd
import yaml

from memaudit.common import seeds
from memaudit.common.checksums import sha256
from memaudit.common.io import read_json, replacing_folder
from memaudit.data.table_sources import fetch
from memaudit.models import language_model_costs
from memaudit.rehearsal.small_tabpfn import SMALL
from memaudit.rehearsal.stand_in_tables import arff_of, openml_description, shape_of, synthetic
from memaudit.rehearsal.stand_in_texts import corpus, words, write_cifar10, write_questions

SECTIONS = ("data", "lira", "attacks", "tabpate", "iclmem", "ltmia", "predict")
CATALOGUES = ("datasets", "models", "language_models")
ROWS = 100  # of a table whose number of rows the catalogue does not state
SEED = 1


def used(config: Mapping[str, Any]) -> dict[str, list[str]]:
    """Return the entries of the catalogues that the studies of a config name, by catalogue."""
    settings = config["predict"]["settings"]
    cases = {name: settings[name] for name in config["predict"]["cases"]}
    sections = config | {"predict": config["predict"] | {"settings": cases}}
    texts = {text for section in SECTIONS for text in _texts(sections[section])}
    return {catalogue: [name for name in config[catalogue] if name in texts] for catalogue in CATALOGUES}


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, Mapping):
        value = [one for key, one in value.items() if key != "kind"]  # `kind: cifar10` is no name of the catalogue
    if isinstance(value, list):
        for one in value:
            yield from _texts(one)
    elif isinstance(value, str):
        yield value


def make(config: Mapping[str, Any], stated: Mapping[str, Any], public: Path, folder: Path, url: str) -> dict[str, Any]:
    """Make all stand-ins of a config in a folder, which is kept if it is there; return the overlay with their sources.

    stated: `stand_ins` of config/rehearsal.yaml; public: folder config/public; url: where `stand_in_server` serves the
    folder. Its `by_hand` holds the files that are put by hand.
    """
    names = used(config)
    if not folder.exists():
        with replacing_folder(folder) as made:
            _make_texts(config, names, stated["documents"], made)
            _make_tables(config, names["datasets"], stated["tables"], public, made, url)
            _make_models(config, names, stated["tabicl"], made)
            _make_questions(config, stated["questions"], made / "by_hand")
    return {
        "datasets": {name: _source(config["datasets"][name], name, url) for name in names["datasets"]},
        "predict": {"settings": dict(_by_hand(config, folder / "by_hand"))},
        **_network_sizes(config, names, folder / "hub" / "models", stated["tabicl"]),
    }


def _source(entry: Mapping[str, Any], name: str, url: str) -> dict[str, Any]:
    """What differs in an entry of the catalogue: an address on the stand-in server, and no checksum."""
    changed = {"sha256": None} if entry.get("sha256") else {}
    if entry["source"] in ("shipped", "sklearn"):
        return changed | {"source": "url", "url": f"{url}/files/tables/{_part(entry, name)}"}
    if entry["source"] == "url":
        _, _, member = entry["url"].partition("#")
        return changed | {"url": f"{url}/files/{_file(entry['url'])}{f'#{member}' if member else ''}"}
    return changed


def _part(entry: Mapping[str, Any], name: str) -> str:
    """File of some rows of a table that is here, in the format that it has here: types and texts are read alike."""
    return f"{name}.csv" if entry["source"] == "shipped" else f"{name}.parquet"


def _file(url: str) -> str:
    """Path of a plain address's file: its host and path."""
    parts = urlsplit(url)
    return f"{parts.netloc}{parts.path}"


def _make_tables(
    config: Mapping[str, Any],
    names: Sequence[str],
    stated: Mapping[str, Any],
    public: Path,
    folder: Path,
    url: str,
) -> None:
    """Tables as their sources give them; of those that are shipped some rows, the others are synthetic."""
    for name in names:
        entry = config["datasets"][name]
        rng, rows = seeds.generator(SEED, "stand-in", name), entry.get("rows") or ROWS
        if entry["source"] in ("shipped", "sklearn"):
            file = folder / "files" / "tables" / _part(entry, name)
            file.parent.mkdir(parents=True, exist_ok=True)
            fetch(entry | {"sha256": None}, file, folder)
            table = pd.read_parquet(file).drop_duplicates()
            table = table.sample(min(rows, len(table)), random_state=rng)
            (table.to_csv if file.suffix == ".csv" else table.to_parquet)(file, index=False)
        elif entry["source"] == "openml" and (folder / _arff(entry)).exists():
            continue  # two entries of one table
        elif entry["source"] in ("openml", "url"):
            path = public / f"{name}.yaml"
            facts = yaml.safe_load(path.read_text(encoding="utf-8")) if path.exists() else None
            shape = shape_of(name, entry, facts, stated.get(name, {}))
            table = synthetic(shape, rows, rng)
            if entry["source"] == "openml":
                _write_openml(entry, name, arff_of(table, shape), folder, url)
            else:
                _write_url(entry, table, folder)


def _write_openml(entry: Mapping[str, Any], name: str, content: str, folder: Path, url: str) -> None:
    """An ARFF file and the description that points to it."""
    file = _arff(entry)
    description = openml_description(entry, name, content, f"{url}/{file}")
    for place, text in ((folder / file, content), (folder / "openml" / f"{entry['id']}.xml", description)):
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text, encoding="utf-8")


def _arff(entry: Mapping[str, Any]) -> str:
    return f"files/openml/{entry['id']}.arff"


def _write_url(entry: Mapping[str, Any], table: pd.DataFrame, folder: Path) -> None:
    """A file of an address, or a member of its archive; other tables may have members there, too."""
    address, _, member = entry["url"].partition("#")
    path = folder / "files" / _file(address)
    path.parent.mkdir(parents=True, exist_ok=True)
    content = io.BytesIO()
    if (member or address).endswith(".parquet"):
        table.to_parquet(content, index=False)
    else:
        table.to_csv(content, index=False, sep=entry.get("delimiter") or ",")
    if not member:
        path.write_bytes(content.getvalue())
        return
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr(member, content.getvalue())


def _make_texts(config: Mapping[str, Any], names: Mapping[str, Sequence[str]], documents: int, folder: Path) -> None:
    """Text data sets of the hub, each in the Parquet copy that the hub makes of it."""
    for name in names["datasets"]:
        entry = config["datasets"][name]
        if entry["source"] == "hub":
            table = corpus(entry, documents, seeds.generator(SEED, "stand-in", name))
            subset, split = entry.get("subset") or "default", entry.get("split") or "train"
            file = folder / "hub" / "datasets" / entry["name"] / subset / split / "0000.parquet"
            file.parent.mkdir(parents=True)
            table.to_parquet(file, index=False)


def _make_models(
    config: Mapping[str, Any], names: Mapping[str, Sequence[str]], tabicl: Mapping[str, Any], folder: Path
) -> None:
    """Repositories of models. Their tokenizers are trained on random words and on the templates' own."""
    # A rehearsal that goes on where it ended makes none: torch and transformers take seconds.
    from memaudit.rehearsal.stand_in_models import write_language_model, write_model

    rng = seeds.generator(SEED, "stand-in", "tokenizer")
    templates = ["Question: the answer is A. B. C. D.\nAnswer: not wrong, The age is 39. yes no good bad"] * 40
    texts = [*templates, *(" ".join(words(rng, 40)) for _ in range(60))]
    root = folder / "hub" / "models"
    for place, name in enumerate(names["models"]):
        entry = config["models"][name]
        if entry.get("hub"):
            write_model(entry, root / entry["hub"]["repo"], texts, place, tabicl)
    for place, name in enumerate(names["language_models"]):
        hub = config["language_models"][name].get("hub")
        if hub and not (root / hub["repo"]).exists():
            write_language_model(root / hub["repo"], hub["repo"], texts, None, place)


def _network_sizes(
    config: Mapping[str, Any], names: Mapping[str, Sequence[str]], root: Path, tabicl: Mapping[str, Any]
) -> dict[str, Any]:
    """Sizes of the networks of a hub by catalogue, for the plan: weights of language models, arguments of others."""
    found: dict[str, Any] = {"models": {}, "language_models": {}}
    for catalogue, entries in found.items():
        for name in names[catalogue]:
            entry = config[catalogue][name]
            hub = entry.get("hub")
            if hub and (file := root / hub["repo"] / "config.json").exists():
                entries[name] = {"parameters": language_model_costs.weights(read_json(file))}
            elif hub and catalogue == "models":
                small = SMALL[entry["version"]] if entry["family"] == "tabpfn" else tabicl
                entries[name] = {"architecture": dict(small)}
    return found


def _make_questions(config: Mapping[str, Any], count: int, folder: Path) -> None:
    """Files that study predict wants put by hand, of few records."""
    folder.mkdir()
    for name in config["predict"]["cases"]:
        data, rng = config["predict"]["settings"][name]["data"], seeds.generator(SEED, "stand-in", name)
        if data["kind"] == "choices":
            write_questions(data, folder / Path(data["path"]).name, count, rng)
        elif data["kind"] == "cifar10":
            write_cifar10(folder / Path(data["path"]).name, count, rng)


def _by_hand(config: Mapping[str, Any], folder: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """Settings whose file is put by hand, with the path and checksum of the stand-in."""
    for name in config["predict"]["cases"]:
        data = config["predict"]["settings"][name]["data"]
        if "path" in data:
            file = folder / Path(data["path"]).name
            yield name, {"data": {"path": str(file.resolve()), "sha256": sha256(file)}}


def environment(folder: Path, url: str) -> dict[str, str]:
    """Return variables by which the libraries take the stand-in for their servers, with caches of its own.

    huggingface_hub reads HF_ENDPOINT and HF_HOME; openml reads the server from the file `config` in its folder below
    XDG_CONFIG_HOME, and OPENML_CACHE_DIR. XDG_STATE_HOME keeps the user's ledger of releases free of the rehearsal.
    """
    for place in (folder / "config", folder / "config" / "openml"):
        place.mkdir(parents=True, exist_ok=True)
    (folder / "config" / "openml" / "config").write_text(f"server = {url}/api/v1/xml\n", encoding="utf-8")
    return {
        "HF_ENDPOINT": url,
        "HF_HOME": str(folder / "cache" / "hub"),
        "XDG_CONFIG_HOME": str(folder / "config"),
        "OPENML_CACHE_DIR": str(folder / "cache" / "openml"),
        "XDG_STATE_HOME": str(folder / "state"),
    }
