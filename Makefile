# memaudit: two commands are enough, `make demo` and `make test`.
PYTHON ?= python3
BIN := .venv/bin
, := ,
export PYTHONPATH :=
.DEFAULT_GOAL := help
.PHONY: help demo test bench pretrain envs lock docs clean

help: ## list the targets
	@grep -hE '^[a-zA-Z.-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 12

.venv: .venv/complete ## the environment: every package at the version that requirements.lock pins
.venv/complete: requirements.lock
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || { \
	  echo "memaudit needs Python 3.11 or newer, and $(PYTHON) is $$($(PYTHON) --version 2>&1); try: make PYTHON=python3.11 $(MAKECMDGOALS)" >&2; exit 1; }
	@echo "memaudit: making .venv from requirements.lock (about 2 GB; a minute or two)"
	@rm -rf .venv && $(PYTHON) -m venv .venv >/dev/null 2>&1 || { rm -rf .venv; \
	  echo "memaudit: $(PYTHON) cannot make a virtual environment; install its venv module (Debian: python3-venv)" >&2; exit 1; }
	@$(BIN)/pip install --quiet --disable-pip-version-check --requirement requirements.lock >.venv/install.log 2>&1 || { \
	  grep -m1 '^ERROR' .venv/install.log >&2; rm -rf .venv; \
	  echo "memaudit: a package of requirements.lock cannot be had; mend the network or the index and run again" >&2; exit 1; }
	@touch .venv/complete

demo: .venv ## run the default workflow on embedded data and print its headline numbers
	@echo "memaudit: running config/config.yaml (results/demo); a second run does nothing"
	@$(BIN)/snakemake --cores all
	@$(BIN)/python workflow_scripts/headline.py --params '{"run": "results/demo"}'

test: .venv ## lint, format check and all tests
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/snakefmt --check Snakefile rules
	$(BIN)/snakemake --lint
	$(BIN)/python -m pytest -n auto --dist loadgroup tests

BENCH = $(BIN)/python workflow_scripts/bench_$(1).py --output results/bench/$(1).json --params '$(2)'

bench: .venv ## time each hot path against the naive way; writes results/bench/*.json (half an hour)
	$(call BENCH,plan_workflow,{"runs": 3})
	$(call BENCH,query_shadows,{"models": 64})
	$(call BENCH,evaluate_grid,{"models": 4096$(,) "records": 10000$(,) "loop_records": 200})
	$(call BENCH,deduplicate,{"rows": 10000000$(,) "peer_rows": 1000000$(,) "scratch": "results/bench"})

pretrain: .venv ## train resources/tabicl-small again (hours); TABLES=folder of NAME.csv.gz for its benchmark
	$(BIN)/snakemake --cores 1 $(if $(TABLES),--config pretrain='{"tables": "$(abspath $(TABLES))"}') -- pretrain
	cp results/demo/pretrained/tabicl-small/* resources/tabicl-small/

envs: .venv ## write envs/*.yaml from requirements.lock
	@PYTHONPATH=workflow_scripts $(BIN)/python -m memaudit.environments

docs: .venv ## write config/schema.json and config/README.md
	@PYTHONPATH=workflow_scripts $(BIN)/python -m memaudit.config.reference

lock: ## resolve requirements.in into requirements.lock (needs the package index)
	rm -rf .venv-lock && $(PYTHON) -m venv .venv-lock && .venv-lock/bin/pip install --quiet --requirement requirements.in
	.venv-lock/bin/pip freeze --exclude pip --exclude setuptools | sed 's/+cpu$$//' > requirements.lock
	rm -rf .venv-lock

clean: ## say what can be removed, remove nothing
	@echo "These can be made again and are safe to remove (results of your own tables are yours to judge):"; \
	for path in .venv .snakemake .pytest_cache .ruff_cache results/demo results/smoke; do [ -e $$path ] && du -sh $$path; done; \
	echo "Remove them with: rm -rf .venv .snakemake .pytest_cache .ruff_cache results/demo results/smoke"
