"""Memorization of texts by fine-tuned language models: corpora, base models, and targets whose members are known
(paper: Learning the Signature of Memorization in Autoregressive Language Models, Sections 3 and 4, Appendices B and C).

INPUT   installed packages, local files or a hub; config/language_models.yaml
OUTPUT  <results>/data/ltmia/documents/{dataset}.parquet     documents of a corpus (0600, in a folder of 0700)
        <results>/data/ltmia/texts.parquet, tokenizer.json   texts by what becomes of them
        <results>/models/ltmia/{model}/                      base models, as `transformers` opens them
        <results>/signals/ltmia/{model}/{shard}.npy          features of each text's tokens under targets and base
        <results>/signals/ltmia/{model}/{shard}.parquet      baselines' scores of the same texts
"""

LTMIA = STUDIES["ltmia"]


localrules:
    ltmia_fetch_corpus,
    ltmia_fetch_model,


rule ltmia_fetch_corpus:
    input:
        LTMIA.corpus_file,
    output:
        documents="<results>/data/ltmia/documents/{dataset}.parquet",
        facts="<results>/data/ltmia/documents/{dataset}.json",
        sidecar="<results>/provenance/ltmia_fetch_corpus/{dataset}.json",
    log:
        "<results>/logs/ltmia_fetch_corpus/{dataset}.log",
    conda:
        "../../envs/tabular.yaml"
    resources:
        mem_mb=grows(4000),
        runtime="2h",
    params:
        code=digest("ltmia_fetch_corpus", env="tabular"),
        seed=config["seed"],
        entry=LTMIA.source,
    script:
        "../../workflow_scripts/ltmia/fetch_corpus.py"


rule ltmia_fetch_model:
    output:
        fetched=directory("<results>/models/ltmia/{model}/fetched"),
        sidecar="<results>/provenance/ltmia_fetch_model/{model}.json",
    log:
        "<results>/logs/ltmia_fetch_model/{model}.log",
    wildcard_constraints:
        model="|".join(config["language_models"]),
    conda:
        "../../envs/tabular.yaml"
    resources:
        mem_mb=1000,
        runtime="4h",
    params:
        code=digest("ltmia_fetch_model", env="tabular"),
        hub=LTMIA.hub,
    script:
        "../../workflow_scripts/ltmia/fetch_model.py"


rule ltmia_prepare_corpora:
    input:
        documents=expand("<results>/data/ltmia/documents/{dataset}.parquet", dataset=LTMIA.corpora),
        key="<results>/data/id.key",
    output:
        texts="<results>/data/ltmia/texts.parquet",
        tokenizer="<results>/data/ltmia/tokenizer.json",
        config="<results>/data/ltmia/tokenizer_config.json",
        results="<results>/scores/ltmia/corpora.parquet",
        sidecar="<results>/provenance/ltmia_prepare_corpora.json",
    log:
        "<results>/logs/ltmia_prepare_corpora.log",
    benchmark:
        "<results>/benchmarks/ltmia_prepare_corpora.jsonl"
    conda:
        "../../envs/tabular.yaml"
    resources:
        mem_mb=grows(4000, LTMIA.corpora_memory),
        runtime="4h",
    params:
        code=digest("ltmia_prepare_corpora", env="tabular"),
        seed=config["seed"],
        datasets=LTMIA.corpora,
        shifted=LTMIA.shifted,
        texts=LTMIA.texts(),
    script:
        "../../workflow_scripts/ltmia/prepare_corpora.py"


rule ltmia_prepare_model:
    input:
        texts=LTMIA.made_here("<results>/data/ltmia/texts.parquet"),
        tokenizer=LTMIA.made_here("<results>/data/ltmia/tokenizer.json"),
        config=LTMIA.made_here("<results>/data/ltmia/tokenizer_config.json"),
        fetched=LTMIA.fetched,
    output:
        "<results>/models/ltmia/{model}/config.json",
        "<results>/models/ltmia/{model}/model.safetensors",
        "<results>/models/ltmia/{model}/tokenizer.json",
        "<results>/models/ltmia/{model}/tokenizer_config.json",
        "<results>/models/ltmia/{model}/training.json",
        sidecar="<results>/provenance/ltmia_prepare_model/{model}.json",
    log:
        "<results>/logs/ltmia_prepare_model/{model}.log",
    benchmark:
        "<results>/benchmarks/ltmia_prepare_model/{model}.jsonl"
    wildcard_constraints:
        model="|".join(config["language_models"]),
    conda:
        "../../envs/tabular.yaml"
    resources:
        mem_mb=grows(LTMIA.beside, LTMIA.base_memory),
        runtime="12h",
        gpu=1,
    params:
        code=digest("ltmia_prepare_model", env="tabular"),
        seed=config["seed"],
        length=LTMIA.config["texts"]["length"],
        entry=LTMIA.model_entry,
        training=LTMIA.config["pretraining"],
    script:
        "../../workflow_scripts/ltmia/prepare_model.py"


rule ltmia_finetune_targets:
    input:
        texts="<results>/data/ltmia/texts.parquet",
        base="<results>/models/ltmia/{model}/config.json",
        weights="<results>/models/ltmia/{model}/model.safetensors",
        tokenizer="<results>/models/ltmia/{model}/tokenizer.json",
        tokens="<results>/models/ltmia/{model}/tokenizer_config.json",
    output:
        "<results>/signals/ltmia/{model}/{shard}.npy",
        "<results>/signals/ltmia/{model}/{shard}.parquet",
        "<results>/signals/ltmia/{model}/{shard}.json",
        sidecar="<results>/provenance/ltmia_finetune_targets/{model}/{shard}.json",
    log:
        "<results>/logs/ltmia_finetune_targets/{model}/{shard}.log",
    benchmark:
        "<results>/benchmarks/ltmia_finetune_targets/{model}/{shard}.jsonl"
    wildcard_constraints:
        model="|".join(config["language_models"]),
    conda:
        "../../envs/tabular.yaml"
    resources:
        mem_mb=grows(LTMIA.beside, LTMIA.target_memory),
        runtime="24h",
        gpu=1,
    params:
        code=digest("ltmia_finetune_targets", env="tabular"),
        seed=config["seed"],
        length=LTMIA.config["texts"]["length"],
        targets=LTMIA.targets_of_shard,
        fixed=list(LTMIA.shifted),
        tunings=LTMIA.config["tunings"],
        judged=LTMIA.judged_of_shard,
        baselines=LTMIA.config["baselines"],
    script:
        "../../workflow_scripts/ltmia/finetune_targets.py"
