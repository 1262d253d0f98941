"""The scripts of the learned attack on language models, from documents to verdicts on a pair of one's own."""

import shutil
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
import torch
from conftest import load_script
from scipy.special import expit

from memaudit import seeds, tidy
from memaudit.attacks.learned_classifier import load, odds_of_rows
from memaudit.errors import AuditError
from memaudit.io import read_json, read_table
from memaudit.models.language_models import (
    FILES,
    build,
    encode,
    logits,
    open_model,
    open_tokenizer,
    train_tokenizer,
    write_tokenizer,
)
from memaudit.models.language_training import Run, Settings
from memaudit.statistics.roc import auc
from memaudit.studies.ltmia.model_pair_queries import BASELINES, ask, encode_for, open_pair
from memaudit.studies.ltmia.target_combinations import error_rates, open_combinations, portions
from memaudit.studies.ltmia.transfer_bootstrap import of_these
from memaudit.workflow.job import Paths

pytestmark = pytest.mark.usefixtures("one_thread")

LENGTH = 24
CORPORA = ["letters", "digits", "signs"]
LEARNT = [["gpt2", "letters", "full"], ["gpt2", "digits", "full"]]
HELD_OUT = [["gpt2", "signs", "full"]]
UNTRAINED = ["gpt2", "signs", "untrained"]
ENTRY = {"model_type": "gpt2", "config": {"n_embd": 48, "n_layer": 1, "n_head": 2}, "hub": None, "path": None}
PARTS = {"member": 40, "nonmember": 40, "selection": 10, "pretraining": 60}
CUT = {"vocabulary": 400, "unit": "tokens", "size": LENGTH, "least": 12, "pretraining_share": 0.3, "likeness": 0.25}
PREPARE = {"seed": 1, "datasets": CORPORA, "replicates": 20, "texts": CUT | {"parts": PARTS}}
PREPARE |= {"shifted": {"moved": {"members": "signs", "nonmembers": "letters"}}}
FULL = {"epochs": 8, "batch": 8, "learning_rate": 1e-2, "lora": None, "privacy": None}
TUNE = {"seed": 1, "length": LENGTH, "fixed": [], "tunings": {"full": FULL, "untrained": FULL | {"epochs": 0}}}
TUNE |= {"targets": [*([corpus, "full"] for corpus in CORPORA), UNTRAINED[1:]]}
TRAIN = {"seed": 1, "training": LEARNT, "validation": 0.2, "test": 0.2, "arm": "paper"}
TRAIN |= {"architecture": {"width": 16, "heads": 2, "feedforward": 16, "hidden": None}}
TRAIN |= {"fitting": {"epochs": 3, "batch": 32, "patience": None}}
JUDGE = {"seed": 1, "replicates": 40, "fpr": [0.1], "training": LEARNT, "held_out": HELD_OUT}
JUDGE |= {"controls": {"untrained": [UNTRAINED]}, "families": {"gpt2": "transformer"}, "samples": 20}
JUDGE |= {"contents": dict.fromkeys(CORPORA, "text"), "ways": {"full": "full", "untrained": "full"}}
JUDGE |= {"classifiers": ["transformer", "logistic"]}
JUDGE |= {"published": [{"table": "Table 1", "family": "mean", "attack": "lt_mia", "metric": "auc", "printed": 0.945}]}


def call(name, inputs, outputs, folder, params, **wildcards):
    """Run a script's main; inputs and outputs: paths, or name=path."""
    job = {"input": Paths(list(map(str, inputs))), "output": Paths(list(map(str, outputs))), "threads": 1}
    job |= {"params": SimpleNamespace(**params), "wildcards": SimpleNamespace(**wildcards), "resources": {}}
    script, scratch = load_script(name), SimpleNamespace(folder=folder, part=lambda name, compute: compute())
    return script.main(SimpleNamespace(**job), *([scratch] if hasattr(script, "resumable") else []))


def documents(name, count=120, length=60):
    draw, sign = seeds.generator(2, name), name[0]
    return [" ".join(f"{sign}{word}" for word in draw.integers(3000, size=length)) for _ in range(count)]


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """The whole way on three corpora: one base, four targets, classifiers, and what is found."""
    torch.set_num_threads(1)
    at = tmp_path_factory.mktemp("ltmia")
    (at / "id.key").write_bytes(b"demo")
    for name in CORPORA:
        pd.DataFrame({"text": documents(name)}).to_csv(at / f"{name}.csv", index=False)
        entry = {"source": "file", "path": str(at / f"{name}.csv"), "text_columns": ["text"], "characters": None}
        outputs = [f"documents={at}/{name}.parquet", f"facts={at}/{name}.json"]
        call("ltmia_fetch_corpus", [], outputs, at, {"seed": 1, "entry": entry}, dataset=name)
    outputs = [f"texts={at}/texts.parquet", f"tokenizer={at}/tokenizer.json", f"config={at}/tokenizer_config.json"]
    inputs = [f"key={at}/id.key", *(f"documents={at}/{name}.parquet" for name in CORPORA)]
    call("ltmia_prepare_corpora", inputs, [*outputs, f"results={at}/corpora.parquet"], at, PREPARE)
    training = {"epochs": 4, "batch": 16, "learning_rate": 5e-3, "warmup": 0.1}
    params = {"seed": 1, "length": LENGTH, "entry": ENTRY, "training": training}
    inputs, outputs = [f"texts={at}/texts.parquet", f"tokenizer={at}/tokenizer.json"], [*FILES, "training.json"]
    call("ltmia_prepare_model", inputs, [at / "base" / name for name in outputs], at, params, model="gpt2")
    finetune(at, at, TUNE)
    asked = [f"rows={at}/0.npy", f"scores={at}/0.parquet"]
    for name, kind in (("transformer", "transformer"), ("logistic", "logistic")):
        outputs = [f"weights={at}/{name}.safetensors", f"card={at}/{name}.json", f"scores={at}/{name}.parquet"]
        params = TRAIN | {"architecture": TRAIN["architecture"] | {"kind": kind}}
        call("ltmia_train_attack", asked, outputs, at, params, classifier=name)
    params = TRAIN | {"samples": 20, "combinations": [1, 2], "draws": 2, "held_out": HELD_OUT}
    call("ltmia_measure_diversity", asked, [at / "diversity.parquet"], at, params)
    own = [f"weights={at}/transformer.safetensors", f"card={at}/transformer.json", *asked]
    params = {"seed": 1, "combinations": HELD_OUT, "repeats": 2, "texts": 60}
    call("ltmia_permute_features", own, [at / "permuted.parquet"], at, params)
    inputs = [f"targets={at}/0.parquet", f"facts={at}/0.json", f"corpora={at}/corpora.parquet"]
    inputs += [f"classifiers={at}/{name}.parquet" for name in JUDGE["classifiers"]]
    inputs += [f"diversity={at}/diversity.parquet", f"permuted={at}/permuted.parquet"]
    call("ltmia_judge_attacks", inputs, [f"results={at}/results.parquet", f"roc={at}/roc.parquet"], at, JUDGE)
    return at


def finetune(at, folder, params):
    inputs = [f"texts={at}/texts.parquet", f"base={at}/base/config.json"]
    outputs = [folder / f"0.{kind}" for kind in ("npy", "parquet", "json")]
    call("ltmia_finetune_targets", inputs, outputs, folder, params, model="gpt2")


@pytest.fixture(scope="module")
def pair(made, tmp_path_factory):
    """A target that the workflow did not make, beside its base, and who its members are."""
    folder, member = tmp_path_factory.mktemp("own") / "letters", np.arange(60) % 2 == 0
    texts = documents("letters", 60, 12)
    ids, mask = encode(open_tokenizer(made / "base"), texts, LENGTH)
    training = (ids[member], mask[member])
    settings = Settings(epochs=10, batch=8, learning_rate=1e-2)
    target = Run(open_model(made / "base"), training, None, settings, 1, folder / "state").train()
    target.save_pretrained(folder)
    open_tokenizer(made / "base").save_pretrained(folder)
    return folder, texts, member


@pytest.fixture(scope="module")
def asked(made):
    return open_combinations([made / "0.npy"], [made / "0.parquet"])


@pytest.fixture(scope="module")
def results(made):
    return tidy.expand(read_table(made / "results.parquet"))


def test_every_corpus_has_its_parts_and_a_gate(made):
    texts, rows = read_table(made / "texts.parquet"), tidy.expand(read_table(made / "corpora.parquet"))
    for name in CORPORA:
        own = rows[rows["dataset"] == name].set_index("metric")
        assert texts[texts["dataset"] == name]["part"].value_counts().to_dict() == PARTS
        blind = own.loc["blind auc"]
        assert own.loc["fit for attacks", "estimate"] == (blind["low"] <= 0.5)
        assert own.loc["texts without copies", "estimate"] >= sum(PARTS.values())
    own = texts[texts["dataset"] != "moved"]
    assert not own["id"].duplicated().any()
    of, first = own["dataset"] + own["document"], own["part"] == "pretraining"
    assert first.any()
    assert not set(of[first]) & set(of[~first])


def test_a_corpus_with_non_members_from_elsewhere_is_found_unfit(made):
    texts, rows = read_table(made / "texts.parquet"), tidy.expand(read_table(made / "corpora.parquet"))
    own = rows[rows["dataset"] == "moved"].set_index("metric")["estimate"]
    assert own["blind auc"] > 0.9
    assert own["fit for attacks"] == 0
    moved = texts[texts["dataset"] == "moved"]
    for part, sign in (("nonmember", "l"), ("member", "s"), ("selection", "s")):
        letters = moved["text"][moved["part"] == part].str.replace(r"[\d\s]", "", regex=True)
        assert set("".join(letters)) == {sign}


def test_the_base_learns_and_the_targets_memorize_their_own_members(made, asked):
    losses = read_json(made / "base/training.json")["losses"]
    assert losses["after"] < losses["before"] - 1
    facts = read_json(made / "0.json")
    for name in [*LEARNT, *HELD_OUT]:
        scores, _ = asked[tuple(name)]
        assert scores["id"].tolist() == sorted(scores["id"])
        assert scores["member"].sum() == len(scores) / 2 == 40
        assert auc(scores["ref_loss"].to_numpy(), scores["member"].to_numpy()) > 0.8
        told = facts[" ".join(name)]
        assert told["best"] == int(np.argmin([entry["selection"] for entry in told["history"]]))


def test_members_are_dealt_anew_for_each_target_or_as_the_corpus_has_them(made, asked, tmp_path):
    finetune(made, tmp_path, TUNE | {"fixed": ["letters"], "targets": [["letters", "full"]]})
    fixed = read_table(tmp_path / "0.parquet")
    texts = read_table(made / "texts.parquet")
    part = texts[texts["dataset"] == "letters"].set_index("id")["part"]
    assert (fixed["member"].to_numpy() == (part.loc[fixed["id"]] == "member").to_numpy()).all()
    dealt = asked["gpt2", "letters", "full"][0]
    assert dealt["id"].tolist() == fixed["id"].tolist()
    assert dealt["member"].tolist() != fixed["member"].tolist()
    assert asked["gpt2", "signs", "full"][0]["member"].tolist() != asked[tuple(UNTRAINED)][0]["member"].tolist()


def test_targets_do_not_depend_on_the_jobs_that_they_share(made, asked, tmp_path):
    finetune(made, tmp_path, TUNE | {"targets": [["signs", "full"]]})
    alone, rows = open_combinations([tmp_path / "0.npy"], [tmp_path / "0.parquet"])["gpt2", "signs", "full"]
    pd.testing.assert_frame_equal(alone, asked["gpt2", "signs", "full"][0])
    assert rows.tobytes() == asked["gpt2", "signs", "full"][1].tobytes()


def test_features_and_scores_are_those_of_the_pair(made, pair):
    """Of the base and itself: the comparison is nothing; of another: the scores of the attack are those of `ask`."""
    folder, texts, _ = pair
    few = [texts[7], texts[50]]
    found = ask(open_pair(folder, made / "base", LENGTH), *encode_for(folder, made / "base", few, LENGTH), few)
    other = ask(open_pair(folder, made / "base", LENGTH), *encode_for(folder, made / "base", texts, LENGTH), texts)
    np.testing.assert_array_equal(found["row"]["mask"], other["row"]["mask"][[7, 50]])
    np.testing.assert_allclose(found["scores"], other["scores"][[7, 50]], rtol=1e-4, atol=1e-5)


def test_portions_are_of_texts_in_all_combinations_alike(asked):
    ids = asked["gpt2", "letters", "full"][0]["id"].tolist()
    found = portions(ids, 0.2, 0.2)
    assert [ids[at] for at in found.values()] == [
        [one for one in ids if low <= int(one[:8], 16) / 16**8 < high] for low, high in ((0, 0.2), (0.2, 0.4), (0.4, 1))
    ]
    alone = ids[::2]
    assert set(alone[portions(alone, 0.2, 0.2)["test"]]) <= set(ids[found["test"]])
    with pytest.raises(AuditError, match="not in the order of their ids"):
        portions(ids[::-1], 0.2, 0.2)


def test_the_classifier_is_tested_on_texts_that_it_has_not_seen(made, asked):
    tested = read_table(made / "transformer.parquet")
    classifier = load(made / "transformer.safetensors", made / "transformer.json")
    for name in LEARNT:
        own, (table, rows) = tested[of_these(tested, [name])], asked[tuple(name)]
        places = portions(table["id"], 0.2, 0.2)
        assert own["id"].tolist() == table["id"][places["test"]].tolist()
        np.testing.assert_allclose(own["score"], odds_of_rows(classifier, rows[places["test"]]))
        for portion in ("training", "validation"):
            assert classifier.facts[portion][" ".join(name)] == len(table["id"][places[portion]])
    assert of_these(tested, HELD_OUT).sum() == 80


def test_diversity_holds_the_number_of_texts(made):
    drawn = read_table(made / "diversity.parquet")
    assert drawn.groupby(["combinations", "draw"]).ngroups == 4
    learnt = drawn[
        [name in map(tuple, LEARNT) for name in drawn[["model", "dataset", "tuning"]].itertuples(index=False)]
    ]
    assert learnt.groupby(["combinations", "draw"])["dataset"].nunique().tolist() == [1, 1, 2, 2]
    script = load_script("ltmia_measure_diversity")
    few = SimpleNamespace(**TRAIN, samples=1000)
    table = {("a", "b", "full"): open_combinations([made / "0.npy"], [made / "0.parquet"])["gpt2", "letters", "full"]}
    with pytest.raises(AuditError, match=r"ltmia/diversity/samples: a b full has .* 500 are wanted"):
        script.fitted(few, table, np.random.default_rng(0), "cpu")


def test_an_untrained_target_gives_one_half_exactly_and_shuffled_membership_nearly(results):
    untrained = results[(results["role"] == "untrained") & (results["metric"] == "auc")].set_index("attack")
    for attack in ("lt_mia", "ref_loss", "ez", "ez_published"):
        assert untrained.loc[attack, ["estimate", "low", "high"]].tolist() == [0.5, 0.5, 0.5], attack
    assert abs(untrained.loc["loss", "estimate"] - 0.5) < 0.15
    shuffled = results[(results["control"] == "shuffled membership") & (results["metric"] == "auc")]
    assert ((shuffled["low"] <= 0.5) & (shuffled["high"] >= 0.5)).sum() >= len(shuffled) - 1


def test_what_is_judged_are_the_scores_of_all_attacks_on_the_same_texts(made, asked, results):
    table, _ = asked["gpt2", "signs", "full"]
    known = read_table(made / "transformer.parquet")
    learned = known["score"][of_these(known, HELD_OUT)].to_numpy()
    member = table["member"].to_numpy()
    rows = results[(results["role"] == "held out") & results["model"].notna() & (results["metric"] == "auc")]
    found = rows.set_index("attack")["estimate"]
    for name in BASELINES:
        assert found[name] == pytest.approx(auc(table[name].to_numpy(), member)), name
    assert found["lt_mia"] == pytest.approx(auc(learned, member))
    lead = results[(results["attack"] == "lt_mia - ez") & (results["metric"] == "auc difference")]
    np.testing.assert_allclose(lead["estimate"], found["lt_mia"] - found["ez"])
    printed = results[results["source"] == "paper"]
    assert printed["estimate"].tolist() == [0.945]


def verdicts_on(made, pair, folder, target=None):
    own, texts, _ = pair
    pd.DataFrame({"said": [*texts, " ".join(texts)]}).to_csv(folder / "mine.csv", index=False)
    inputs = [f"target={target or own}", f"base={made}/base/config.json", f"texts={folder}/mine.csv"]
    inputs += [f"weights={made}/transformer.safetensors", f"card={made}/transformer.json"]
    params = {"columns": ["said"], "held_out": HELD_OUT}
    outputs = [folder / "out" / "verdicts.csv"]
    call("ltmia_attack_texts", [*inputs, f"held_out={made}/transformer.parquet"], outputs, folder, params)
    return pd.read_csv(outputs[0])


def test_verdicts_on_a_pair_that_was_made_elsewhere(made, pair, tmp_path):
    table, member = verdicts_on(made, pair, tmp_path), pair[2]
    assert table["text"].tolist() == list(range(1, 62))
    assert table["cut"].iloc[60]
    assert table["tokens"].iloc[60] == LENGTH
    assert auc(table["ref_loss"].to_numpy()[:60], member) > 0.9
    known = read_table(made / "transformer.parquet")
    wanted = error_rates(table["score"].to_numpy(), known[of_these(known, HELD_OUT)])
    for name in wanted:
        np.testing.assert_allclose(table[name], wanted[name])
    np.testing.assert_allclose(table["probability"], expit(table["score"]))
    assert (table["score"] != 0).all()


def test_where_target_is_base_every_text_has_even_odds(made, pair, tmp_path, capfd):
    table = verdicts_on(made, pair, tmp_path, made / "base")
    assert (table["probability"] == 0.5).all()
    assert "says the same of every text as its base" in capfd.readouterr().err


def test_error_rates_are_shares_of_held_out_texts_and_never_zero():
    held_out = pd.DataFrame(
        {
            **{"model": ["a"] * 5 + ["b"] * 3, "dataset": "texts", "tuning": "full"},
            "member": [True, True, False, False, False, True, False, False],
            "score": [3.0, 1.0, 2.0, 0.0, -1.0, 5.0, 4.0, 0.0],
        }
    )
    found = error_rates(np.array([2.0, 4.5]), held_out)
    assert found["false_positive_rate"].tolist() == pytest.approx([(2 / 4 + 2 / 3) / 2, (1 / 4 + 1 / 3) / 2])
    assert found["worst_false_positive_rate"].tolist() == pytest.approx([2 / 3, 1 / 3])
    assert found["true_positive_rate"].tolist() == pytest.approx([(1 / 2 + 1) / 2, (0 + 1) / 2])
    with pytest.raises(AuditError, match="members or non-members alone"):
        error_rates(np.array([0.0]), held_out[held_out["member"]])
    with pytest.raises(AuditError, match="no held-out combination"):
        error_rates(np.array([0.0]), held_out[:0])


TEXTS = ["l12 l7 l99", "l1 l2 l3 l4 l5 l6 l7"]


def copied(pair, tmp_path, change):
    """The target, changed: its folder."""
    folder = tmp_path / "changed"
    shutil.copytree(pair[0], folder)
    change(folder)
    return folder


def resize(folder):
    model = open_model(folder)
    torch.manual_seed(0)
    model.resize_token_embeddings(417)
    model.save_pretrained(folder)


def test_a_resized_vocabulary_is_cut_to_the_tokens_that_both_know(made, pair, tmp_path):
    larger = copied(pair, tmp_path, resize)
    encoded = encode_for(larger, made / "base", TEXTS, LENGTH)
    plain, resized = (ask(open_pair(target, made / "base", LENGTH), *encoded, TEXTS) for target in (pair[0], larger))
    np.testing.assert_allclose(resized["scores"], plain["scores"], rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(
        resized["row"]["values"].astype(float), plain["row"]["values"].astype(float), rtol=2e-3, atol=1e-3
    )


def test_tokenizers_that_differ_are_refused_and_a_missing_one_is_the_bases(made, pair, tmp_path):
    other = train_tokenizer(documents("digits"), 400)
    folder = copied(pair, tmp_path, lambda folder: write_tokenizer(other, [folder / name for name in FILES[2:]]))
    with pytest.raises(AuditError, match=r"its tokenizer and that of .* cut text 1 differently"):
        encode_for(folder, made / "base", TEXTS, LENGTH)
    for name in FILES[2:]:
        (folder / name).unlink()
    wanted = encode(open_tokenizer(made / "base"), TEXTS, LENGTH)
    assert all(map(np.array_equal, encode_for(folder, made / "base", TEXTS, LENGTH), wanted))


def test_models_that_are_no_pair_are_refused(made, pair, tmp_path):
    other = {"hidden_size": 32, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 32}
    build({"model_type": "gpt_neox", "config": other}, 400, LENGTH, 1).save_pretrained(tmp_path)
    with pytest.raises(
        AuditError, match=r"is a gpt_neox, .* a gpt2; give the model that the target was fine-tuned from"
    ):
        open_pair(tmp_path, made / "base", LENGTH)
    with pytest.raises(AuditError, match=f"takes {LENGTH} tokens, not {LENGTH + 1}"):
        open_pair(pair[0], made / "base", LENGTH + 1)


def test_a_fine_tuning_that_changes_nothing_is_named(made, tmp_path):
    frozen = {"full": FULL | {"epochs": 1, "learning_rate": 1e-30, "weight_decay": 0.0}}
    with pytest.raises(AuditError, match="gpt2 on letters, full: target and base say the same of every text"):
        finetune(made, tmp_path, TUNE | {"tunings": frozen, "targets": [["letters", "full"]]})


def test_logits_that_half_precision_breaks_are_named_with_their_texts(made, pair):
    both = open_pair(pair[0], made / "base", LENGTH, dtype=torch.bfloat16)
    encoded = encode_for(pair[0], made / "base", TEXTS, LENGTH)
    assert np.isfinite(ask(both, *encoded, TEXTS)["scores"]).all()
    both.target.transformer.ln_f.weight.data *= 3e38
    with pytest.raises(
        AuditError, match=r"of texts 1 to 2: .* the target model's logits .* not all finite \(bfloat16\)"
    ):
        ask(both, *encoded, TEXTS)


def test_what_is_said_of_a_text_does_not_depend_on_its_neighbours(made, pair):
    both = open_pair(pair[0], made / "base", LENGTH)
    texts = [*TEXTS, *documents("letters", 4, 12)]
    encoded = encode_for(pair[0], made / "base", texts, LENGTH)
    whole = ask(both, *encoded, texts)
    single = ask(both, *encoded, texts, memory=0)  # one text at a time
    np.testing.assert_allclose(whole["scores"], single["scores"], rtol=1e-4, atol=1e-5)
    assert (whole["row"]["mask"] == single["row"]["mask"]).all()


def test_a_folder_is_the_whole_model(made):
    assert {path.name for path in Path(made / "base").iterdir()} == {*FILES, "training.json"}
    ids = torch.arange(1, 9)[None]
    with torch.inference_mode():
        assert logits(open_model(made / "base"), ids).shape == (1, 8, len(open_tokenizer(made / "base")))
