# memaudit: two commands are enough, `make demo` and `make test`.
PYTHON ?= python3
BIN := .venv/bin
, := ,
export PYTHONPATH :=
RUN ?= demo
.DEFAULT_GOAL := help
.PHONY: help demo test test-long test-slurm soak test-wheel test-browser plan rehearse costs bench coverage attention calibration release-audit private_gain mechanism_costs own_rates gpu pretrain envs envs-check lock docs site publish rejudge recommended verify clean

help: ## list the targets
	@grep -hE '^[a-zA-Z.-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 12

.venv: .venv/installed ## the environment: every package at the version that requirements.lock pins, and memaudit itself
.venv/installed: .venv/complete
	@.venv/bin/pip install --quiet --disable-pip-version-check --no-deps --editable . >.venv/editable.log 2>&1 || { \
	  grep -m1 '^ERROR' .venv/editable.log >&2; \
	  echo "memaudit: the project cannot be installed into .venv, see .venv/editable.log; fix the cause and run again" >&2; exit 1; }
	@touch $@
.venv-synth: .venv-synth/complete ## the environment of the AIM and MST synthesizers, which need an older NumPy
.venv-deployed: .venv-deployed/complete ## the environment of TabDPT and Mitra, which need an older huggingface_hub and pandas
.venv-site: .venv-site/complete
.venv-engines: .venv-engines/complete ## .venv with the executors of profiles/cluster-generic and profiles/kubernetes, for their tests
.venv-engines/complete: .venv/installed pyproject.toml
	@echo "memaudit: making .venv-engines from the extras of pyproject.toml"
	@rm -rf .venv-engines && $(BIN)/python -m venv .venv-engines
	@$(BIN)/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))' >$$(echo .venv-engines/lib/*/site-packages)/environment.pth
	@.venv-engines/bin/pip install --quiet --disable-pip-version-check --editable ".[cluster-generic,kubernetes]" >.venv-engines/install.log 2>&1 || { \
	  grep -m1 '^ERROR' .venv-engines/install.log >&2; rm -rf .venv-engines; \
	  echo "memaudit: a package of the extras cannot be installed; check the network or the package index and run again" >&2; exit 1; }
	@touch $@
# The sizes stand in docs/install.md, too.
SIZE_.venv := 2.5 GB; a few minutes$(,) more on a slow network or a busy machine
SIZE_.venv-synth := 0.7 GB; a minute$(,) more on a slow network or a busy machine
SIZE_.venv-deployed := 1.9 GB; a few minutes$(,) more on a slow network or a busy machine
SIZE_.venv-site := 0.2 GB; seconds
.venv/complete: requirements.lock
.venv-synth/complete: requirements-synth.lock
.venv-deployed/complete: requirements-deployed.lock
.venv-site/complete: docs/requirements.lock
.venv/complete .venv-synth/complete .venv-deployed/complete .venv-site/complete:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || { \
	  echo "memaudit needs Python 3.11 or newer, and $(PYTHON) is $$($(PYTHON) --version 2>&1); try: make PYTHON=python3.11 $(MAKECMDGOALS)" >&2; exit 1; }
	@echo "memaudit: making $(@D) from $< ($(SIZE_$(@D))); nothing is printed until it is done"
	@rm -rf $(@D) && $(PYTHON) -m venv $(@D) >/dev/null 2>&1 || { rm -rf $(@D); \
	  echo "memaudit: $(PYTHON) cannot make a virtual environment; install its venv module (Debian: python3-venv)" >&2; exit 1; }
	@$(@D)/bin/pip install --quiet --disable-pip-version-check --requirement $< >$(@D)/install.log 2>&1 || { \
	  grep -m1 '^ERROR' $(@D)/install.log >&2; rm -rf $(@D); \
	  echo "memaudit: a package of $< cannot be installed; check the network or the package index and run again" >&2; exit 1; }
	@touch $@

demo: .venv .venv-synth ## run the default workflow on embedded data and print its headline numbers
	@echo "memaudit: running config/config.yaml (results/demo); a second run does nothing"
	@if $(BIN)/snakemake --cores all --dry-run 2>&1 | grep -q '^Nothing to be done'; \
	then $(BIN)/python workflow_scripts/maintenance/print_headlines.py --params '{"run": "results/demo"}'; \
	else $(BIN)/python workflow_scripts/maintenance/run_forked.py --params '{"arguments": "--cores all --quiet rules progress"}'; fi

test: .venv .venv-synth ## lint, format check and the tests; 20 to 40 minutes on two cores
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/snakefmt --check Snakefile rules
	$(BIN)/snakemake --lint
	$(BIN)/python -m pytest -n auto --dist loadgroup tests

test-long: .venv .venv-synth ## tests that run audits, releases and other workflows of their own, or simulate for long; 15 to 30 minutes on two cores
	$(BIN)/python -m pytest -n auto --dist loadgroup -m long tests

test-slurm: .venv ## run the workflow on a private Slurm of two nodes; installs Debian's slurm-wlm and munge (ten minutes)
	@tests/install.sh slurm
	$(BIN)/python -m pytest -m slurm tests/slurm

soak: .venv ## run the workflow on such a Slurm for MINUTES (120) while controllers, nodes, disks and clocks fail; writes results/bench/soak.json; STUDY="lira attacks"
	@tests/install.sh slurm
	$(BIN)/python -m pytest -m soak -s tests/slurm/test_soak.py
	@$(BIN)/python -m memaudit.report.docs_pages

test-wheel: .venv ## install the wheel in an empty environment, with its packages from the index, and run it (minutes)
	$(BIN)/python -m pytest -m wheel tests/workflow/test_wheel.py

test-browser: .venv ## look at the report of a smoke run in a headless Chromium; SCREENSHOTS=folder keeps the pictures
	@tests/install.sh browser
	$(BIN)/python -m pytest -m browser tests/browser $(if $(SCREENSHOTS),--screenshots $(SCREENSHOTS))

# The manipulations of the default run, for a bench's params.
SUITE = $(shell $(BIN)/python -c 'import json, yaml; print(json.dumps(yaml.safe_load(open("config/config.yaml"))["iclmem"]["manipulations"]))')
BENCH = $(BIN)/python workflow_scripts/bench/$(1).py --output results/bench/$(1).json --params '$(2)'

plan: .venv ## what a run costs and whether this machine can do it; CONFIG="config/paper.yaml mine.yaml"
	@$(BIN)/python -m memaudit plan $(if $(CONFIG),--configfile $(CONFIG))

rehearse: .venv .venv-synth ## run config/paper.yaml with its counts made smaller, on local stand-ins of all that it fetches (goes on where it ended); STUDY="lira predict", CORES=2, WARM=1 imports once
	@TQDM_DISABLE=1 OMP_NUM_THREADS=1 $(BIN)/python workflow_scripts/maintenance/rehearse.py \
	  --params '{"config": "config/paper.yaml"$(,) "rules": "config/rehearsal.yaml"$(,) "folder": "$(or $(OUT),results/rehearsal)"$(,) "studies": "$(STUDY)"$(,) "cores": $(or $(CORES),2)$(,) "warm": $(if $(WARM),true,false)$(,) "card": "results/bench/rehearsal.json"}'

costs: .venv ## measure what the jobs of results/demo, run by `snakemake --cores 1`, have cost: results/bench/unit_costs.json, for `snakemake plan`, and its errors for docs/performance.md
	$(BIN)/snakemake --cores 1 costs
	@$(BIN)/python -m memaudit.report.docs_pages

bench: .venv ## time each hot path against the naive way; writes results/bench/*.json (half an hour); PSMI=folder of psmi 0.2.0
	$(call BENCH,plan_workflow,{"runs": 3})
	$(call BENCH,audit_table,{"rows": 1000$(,) "cores": 2})
	$(call BENCH,query_shadows,{"models": 64})
	$(call BENCH,probe_contexts,{"queries": 100$(,) "features": 8$(,) "sample": 300$(,) "runs": 3$(,) "manipulations": $(SUITE)})
	$(call BENCH,scale_engine,{"runs": 3$(,) "top": 1})
	$(call BENCH,finetune_step,{"steps": 30$(,) "context": 412$(,) "queries": 50$(,) "epochs": 500$(,) "runs": 3$(,) "wide": {"steps": 5$(,) "context": 512$(,) "queries": 512$(,) "probed": 50}$(,) "manipulations": $(SUITE)})
	$(call BENCH,attack_contexts,{"sets": 4$(,) "targets": 12$(,) "timed": 5$(,) "runs": 2})
	$(call BENCH,query_teachers,{"teachers": 100$(,) "queries": 5000$(,) "timed": 5$(,) "accounted": 100000})
	$(call BENCH,extract_features,{"vocabulary": 50257$(,) "texts": 16$(,) "tokens": 128$(,) "plain_texts": 2})
	$(call BENCH,compute_psmi,{"records": 2000$(,) "features": 768$(,) "directions": 2000$(,) "classes": 4$(,) "runs": 5$(,) "package": $(if $(PSMI),"$(PSMI)",null)$(,) "scratch": "results/bench"$(,) "large": {"records": 100000$(,) "features": 4096$(,) "directions": 64}})
	$(call BENCH,train_ensembles,{"models": 64$(,) "records": 600$(,) "batch": 32$(,) "epochs": 3$(,) "scratch": "results/bench"})
	$(call BENCH,evaluate_grid,{"models": 4096$(,) "records": 10000$(,) "loop_records": 200})
	$(call BENCH,resample_curves,{"targets": 48$(,) "records": 1200$(,) "memorized": 0.06$(,) "replicates": 400})
	$(call BENCH,randomise_membership,{"models": 256$(,) "records": 1000$(,) "draws": 999$(,) "plain_draws": 20})
	$(call BENCH,deduplicate,{"rows": 10000000$(,) "peer_rows": 1000000$(,) "scratch": "results/bench"})

gpu: .venv ## measure a GPU (40 minutes at most; goes on where it ended) for docs/performance.md; PARAMS='{"force": true}' anew
	@$(BIN)/python workflow_scripts/bench/measure_gpu.py --output $(or $(OUT),results/bench) --params '$(or $(PARAMS),{})'; code=$$?; \
	if ls results/bench/gpu_*.json >/dev/null 2>&1; then $(BIN)/python -m memaudit.report.docs_pages || exit; fi; exit $$code

pretrain: .venv ## train the small models of resources/ again (hours); TABLES=folder of NAME.csv.gz for their benchmark
	$(BIN)/snakemake --cores 1 $(if $(TABLES),--config pretrain='{"tables": "$(abspath $(TABLES))"}') -- pretrain
	cp -R results/demo/pretrained/tabicl-small* results/demo/pretrained/text-small resources/

coverage: .venv ## simulate every printed interval and test with known truth for docs/coverage.md (37 CPU minutes; goes on where it ended)
	@TQDM_DISABLE=1 OMP_NUM_THREADS=1 $(BIN)/python workflow_scripts/maintenance/measure_coverage.py \
	  --output results/bench/coverage.json --params '$(or $(PARAMS),{"simulations": 500$(,) "seed": 3})'
	@$(BIN)/python -m memaudit.report.docs_pages

attention: .venv ## compare statistics of attention, and sizes of key groups, on scikit-learn's tables (minutes)
	@$(BIN)/python workflow_scripts/maintenance/choose_attention_signal.py
	@$(BIN)/python workflow_scripts/maintenance/choose_key_groups.py

tune_tabpate: .venv .venv-synth ## tune settings of private contexts per epsilon on public tables: config/tabpate_settings.json (goes on where it ended)
	@TQDM_DISABLE=1 OMP_NUM_THREADS=1 $(BIN)/python workflow_scripts/maintenance/tune_tabpate.py \
	  --output $(or $(OUT),config/tabpate_settings.json) \
	  --params '$(or $(PARAMS),{"epsilons": [1.0$(,) 10.0]$(,) "delta": 1e-5$(,) "records": 1000$(,) "repeats": 5})'
	@$(BIN)/python -m memaudit.report.docs_pages

calibration: .venv ## repeat audits where the truth is known for docs/calibration.md (17 CPU minutes; goes on where it ended)
	@TQDM_DISABLE=1 OMP_NUM_THREADS=1 $(BIN)/python workflow_scripts/maintenance/measure_calibration.py \
	  --output results/bench/audit_calibration.json --params '$(or $(PARAMS),{"seed": 1})'
	@$(BIN)/python -m memaudit.report.docs_pages

release-audit: .venv ## audit private releases end to end, as released and broken, for docs/release-audit.md (11 minutes; goes on where it ended)
	@OMP_NUM_THREADS=1 $(BIN)/python workflow_scripts/maintenance/audit_release.py \
	  --output results/bench/release_audit.json --params '$(or $(PARAMS),{"runs": 12000$(,) "canaries": 5000})'
	@$(BIN)/python -m memaudit.report.docs_pages

private_gain: .venv ## the share of the non-private gain that private contexts keep, by records, for docs/private-gain.md (17 CPU minutes; goes on where it ended); TABLES=folder of NAME.csv.gz
	@TQDM_DISABLE=1 OMP_NUM_THREADS=1 $(BIN)/python workflow_scripts/maintenance/measure_private_gain.py \
	  --output results/bench/private_gain.json \
	  --params '$(or $(PARAMS),{"tables": "$(abspath $(or $(TABLES),$(error name the folder of the public tables: make private_gain TABLES=folder)))"})'
	@$(BIN)/python -m memaudit.report.docs_pages

mechanism_costs: .venv ## labels and choices that other privacy accounts would buy, for docs/mechanism-costs.md (3 CPU minutes); TABLES=folder of NAME.csv.gz
	@TQDM_DISABLE=1 OMP_NUM_THREADS=1 $(BIN)/python workflow_scripts/maintenance/measure_mechanism_costs.py \
	  --output results/bench/mechanism_costs.json \
	  --params '$(or $(PARAMS),{"tables": "$(abspath $(or $(TABLES),$(error name the folder of the public tables: make mechanism_costs TABLES=folder)))"})'
	@$(BIN)/python -m memaudit.report.docs_pages

envs: .venv ## write envs/*.yaml from the locks
	@$(BIN)/python -m memaudit.workflow.environments

envs-check: .venv ## install each environment of envs/ afresh and import what its rules import (minutes)
	@$(BIN)/python -m memaudit.workflow.environments --check

docs: .venv ## write config/README.md, config/schema.json (for editors, not in git), and the generated pages of docs/
	@$(BIN)/python -m memaudit.config.key_reference
	@$(BIN)/python -m memaudit.report.docs_pages

site: .venv-site ## build docs/ as a site in results/site; a dead link fails it
	@NO_MKDOCS_2_WARNING=1 .venv-site/bin/mkdocs build --strict --quiet
	@echo "memaudit: results/site/index.html"

publish: .venv ## take the numbers of docs/results.md and docs/results/ from a finished run: RUN=demo (the default), or another one of config/published_runs.yaml
	@$(BIN)/python workflow_scripts/maintenance/publish_results.py --input runs=config/published_runs.yaml \
	  --output run=docs/results/$(RUN).json results=docs/results/$(RUN).parquet --params '{"run": "$(RUN)"}'
	@$(MAKE) --no-print-directory docs

rejudge: .venv ## judge published runs again by the present claims and predicates, from the results kept beside them
	@set -e; for kept in docs/results/*.parquet; do \
	  $(BIN)/python workflow_scripts/maintenance/rejudge_published.py --input run=$${kept%.parquet}.json results=$$kept \
	    claims=config/claims.yaml --output $${kept%.parquet}.json; done
	@$(MAKE) --no-print-directory docs

OWN_RATES = results/own_rates/signals/predict
own_rates: .venv ## hold the rates that predict_own states against fresh models of config/own_rates.yaml, for docs/own-rates.md (six minutes)
	$(BIN)/snakemake --cores all $(foreach case,fresh other,$(OWN_RATES)/credit_$(case)/scores.nc \
	  $(foreach shard,0 1 2 3,$(OWN_RATES)/credit_$(case)/$(shard).signals.nc)) --configfile config/own_rates.yaml
	@$(BIN)/python workflow_scripts/maintenance/check_recommended.py --output results/bench/own_rates.json \
	  --input recommended=resources/recommended.json $(foreach case,fresh other,records=$(OWN_RATES)/credit_$(case)/records.nc \
	  scores=$(OWN_RATES)/credit_$(case)/scores.nc $(foreach shard,0 1 2 3,signals=$(OWN_RATES)/credit_$(case)/$(shard).signals.nc)) \
	  --params '{"seed": 1, "memorized": 4.0, "replicates": 400}'
	@$(BIN)/python -m memaudit.report.docs_pages

recommended: .venv ## ship what a finished run of study predict recommends, for own records: resources/recommended.json; RUN=predict
	@$(BIN)/python workflow_scripts/maintenance/ship_recommended.py --input results/$(RUN)/scores/predict/recommended.json \
	  --output resources/recommended.json

verify: .venv ## check an archived run: make verify ARCHIVE=demo.tar.gz
	@$(BIN)/python workflow_scripts/provenance/verify_archive.py --input $(or $(ARCHIVE),$(error name the file: make verify ARCHIVE=demo.tar.gz))

lock: ## resolve requirements*.in into their locks; UPGRADE=1 moves present pins too (needs the package index)
	@set -e; for name in requirements requirements-synth requirements-deployed docs/requirements; do \
	  rm -rf .venv-lock; $(PYTHON) -m venv .venv-lock; \
	  .venv-lock/bin/pip install --quiet --requirement $$name.in $(if $(UPGRADE),,--constraint $$name.lock); \
	  .venv-lock/bin/pip freeze --exclude pip --exclude setuptools | sed 's/+cpu$$//' > $$name.lock; \
	  rm -rf .venv-lock; done

clean: ## say what can be removed, remove nothing
	@echo "These can be made again and are safe to remove (results of your own tables are yours to judge):"; \
	for path in .venv .venv-synth .venv-deployed .venv-site .venv-engines .venv-snakedeploy .venv-rocrate .snakemake .pytest_cache .ruff_cache results/demo results/smoke results/rehearsal results/site; do [ -e $$path ] && du -sh $$path; done; \
	echo "Remove them with: rm -rf .venv .venv-synth .venv-deployed .venv-site .venv-engines .venv-snakedeploy .venv-rocrate .snakemake .pytest_cache .ruff_cache results/demo results/smoke results/rehearsal results/site"
