"""Make the base model of a family's targets: pre-train a language model, or take a fetched one or that of a folder.

python workflow_scripts/ltmia/prepare_model.py --input texts=texts.parquet tokenizer=tokenizer.json \
    --output base/config.json base/model.safetensors base/tokenizer.json base/tokenizer_config.json \
    base/training.json --wildcards '{"model": "gpt2"}' --params '{"seed": 1, "length": 64,
        "entry": {"model_type": "gpt2", "config": {"n_embd": 128, "n_layer": 2, "n_head": 4}, "hub": null,
        "path": null}, "training": {"epochs": 1, "batch": 32, "learning_rate": 3e-3, "warmup": 0.1}}'

texts: their pre-training part trains a model that is made here. The outputs form a folder that `transformers` opens. A
killed job resumes from its state. fetched: the folder of a hub's model, by `ltmia_fetch_model`.
"""

from pathlib import Path

from memaudit.common.hub_address import hub_address
from memaudit.common.io import write_json
from memaudit.models.language_models import open_model, open_tokenizer, write_model
from memaudit.models.model_folder import set_up
from memaudit.studies.ltmia.base_models import pretrained
from memaudit.workflow.job import run
from memaudit.workflow.scratch import resumable


def main(job, scratch):
    params, name = job.params, job.wildcards.model
    hub, path = params.entry["hub"], params.entry["path"]
    folder = job.input.fetched if hub else path
    device = set_up(job.threads)
    if folder:
        facts = {"origin": hub_address(hub) if hub else path}
        model, tokenizer = open_model(folder), open_tokenizer(folder)
    else:
        tokenizer_folder, state = Path(job.input.tokenizer).parent, scratch.folder / "training.state"
        model, tokenizer, facts = pretrained(name, params, job.input.texts, tokenizer_folder, state, device)
    write_model(model, tokenizer, job.output[:4])
    write_json(facts | {"parameters": model.num_parameters()}, job.output[4])
    print(f"{name}: {facts}", flush=True)
    return {"seed": params.seed, "device": device, "dtype": "float32", "origin": facts["origin"]}


if __name__ == "__main__":
    run(resumable(main), globals())
