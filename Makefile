# The whole developer interface. Each target makes what it needs.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
AGENTS := tests/agents

.PHONY: demo test test-agents test-newest check bench soak lock clean

$(VENV)/.installed: requirements/dev.txt pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "nightschool needs Python 3.11 or newer; say which with: make PYTHON=python3.12 ..."; exit 2; }
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -r requirements/dev.txt
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
	@touch $@

demo: $(VENV)/.installed
	$(BIN)/nightschool demo

test: $(VENV)/.installed
	$(BIN)/pytest -n 2 --dist worksteal -m "not agents"

test-agents: $(VENV)/.installed $(AGENTS)/node_modules/.installed
	$(BIN)/pytest -m agents tests/agents

$(AGENTS)/node_modules/.installed: $(AGENTS)/package.json $(AGENTS)/package-lock.json
	cd $(AGENTS) && npm ci --no-audit --no-fund
	cd $(AGENTS) && node install-agents.mjs
	@touch $@

check: $(VENV)/.installed
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

bench: $(VENV)/.installed
	@for file in bench/bench_*.py; do echo "== $$file"; $(BIN)/python $$file || exit 1; done

lock: $(VENV)/.installed
	$(BIN)/python -m pip install --quiet uv
	$(BIN)/uv pip compile --universal --quiet --no-header --python-version 3.11 --no-emit-index-url --no-annotate requirements/dev.in pyproject.toml --all-extras -o requirements/dev.txt

clean:
	rm -rf $(VENV) $(AGENTS)/node_modules
