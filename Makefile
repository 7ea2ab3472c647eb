# What a person or a machine does with this project. `make run` is all a new machine needs.
SHELL := /bin/bash
.DEFAULT_GOAL := help
VENV := .venv
PY := $(VENV)/bin/python
PYTHON ?= $(firstword $(foreach p,python3.11 python3.12 python3.13 python3,$(if $(shell command -v $(p)),$(p))))
RUNTIME := $(VENV)/.installed
DEVELOP := $(VENV)/.installed-dev
CONFIG ?= config/browser.toml
# Workers of the fast tests: one a core, at most four. None: make fast WORKERS=
WORKERS ?= -n auto --maxprocesses 4 --dist loadgroup --no-loadscope-reorder
# Those of the tests with models, a file each: every one loads the models.
SOUNDERS ?= -n auto --maxprocesses 2 --dist loadfile

.PHONY: help run speaker test fast check fmt bench long models install install-dev pins

help: ## these lines
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:[^#]*## /\t/' | expand -t 14

run: models ## install what is missing, fetch the models, open the door for browsers
	@$(VENV)/bin/voiceagent serve --config $(CONFIG) $(if $(PORT),--port $(PORT))

speaker: models ## the agent at this machine's microphone and loudspeaker
	@$(PY) -m pip install --disable-pip-version-check -q -c constraints.txt -e '.[piper,speaker]'
	@$(VENV)/bin/voiceagent speaker --config config/speaker.toml

test: $(DEVELOP) models ## every test that ends within 25 minutes
	@$(VENV)/bin/voiceagent models pull voice-encoder
	$(PY) -m pytest tests/unit tests/scenario -q $(WORKERS) -m "not long"
	$(PY) -m pytest tests/sound -q $(SOUNDERS) -m "not long"
	$(PY) -m pytest tests/wire -m "not long"

fast: $(DEVELOP) ## tests without models, sockets or real time
	$(PY) -m pytest tests/unit tests/scenario -q $(WORKERS) -m "not long"

check: $(DEVELOP) ## format, lint, types, layers, sizes
	$(VENV)/bin/ruff format --check .
	$(VENV)/bin/ruff check .
	$(VENV)/bin/mypy
	$(VENV)/bin/lint-imports --no-logo
	$(PY) tools/check_size.py
	$(VENV)/bin/hadolint Dockerfile

fmt: $(DEVELOP) ## put the code into shape
	$(VENV)/bin/ruff check --fix-only --quiet .
	$(VENV)/bin/ruff format .

bench: $(DEVELOP) models ## measure what the README quotes, and turns beside the peers (about half an hour)
	@for script in benchmarks/*.py; do echo "== $$script"; $(PY) $$script || exit 1; done

long: $(DEVELOP) models ## soaks and floods
	$(PY) -m pytest -m long

models: $(RUNTIME) ## fetch the models that are missing or damaged
	@$(VENV)/bin/voiceagent models pull || { echo "Next step: $(VENV)/bin/voiceagent doctor says what is missing; then run make again."; exit 1; }

install: $(RUNTIME) ## what `make run` needs

install-dev: $(DEVELOP) ## what `make test` and `make check` need

pins: ## write constraints.txt from what is installed
	$(PY) tools/pins.py

$(VENV)/bin/python:
	@test -n "$(PYTHON)" || { echo "No Python found. Next step: install Python 3.11 or newer (Debian: apt-get install python3 python3-venv)."; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "$(PYTHON) is older than 3.11. Next step: make run PYTHON=/path/to/a/newer/python3"; exit 1; }
	@echo "Making a virtual environment in $(VENV)"
	@$(PYTHON) -m venv $(VENV) || { rm -rf $(VENV); echo "Next step: install Python's venv module (Debian: apt-get install python3-venv), then run make again."; exit 1; }
	@$(PY) -m pip install --quiet --upgrade 'pip>=24.1' -c constraints.txt || { rm -rf $(VENV); echo "Next step: see that pip reaches a package index (pip config list), then run make again."; exit 1; }

$(RUNTIME): pyproject.toml constraints.txt | $(VENV)/bin/python
	@echo "Installing voiceagent (about 600 MB; a minute or two)"
	@$(PY) -m pip install --disable-pip-version-check -c constraints.txt -e '.[piper]' || { echo "Next step: see that pip reaches a package index (pip config list) and that the disk has 1 GB free, then run make again."; exit 1; }
	@touch $@

$(DEVELOP): $(RUNTIME)
	@$(PY) -m pip install --disable-pip-version-check -q -c constraints.txt -e '.[piper,dev]' || { echo "Next step: see that pip reaches a package index (pip config list), then run make again."; exit 1; }
	@touch $@
