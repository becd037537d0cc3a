# The whole developer interface. Each target makes what it needs.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
AGENTS := tests/agents
RECORDED := $(AGENTS)/recording
NEWEST := build/newest-agents
PIP := $(BIN)/python -m pip --quiet --disable-pip-version-check

.PHONY: demo test test-agents test-newest fixtures check docs bench soak fuzz lock clean

$(VENV)/.installed: requirements/dev.txt pyproject.toml
	@command -v $(PYTHON) > /dev/null || { echo "$(PYTHON) is not there; say which Python with: make PYTHON=python3.12 ..."; exit 2; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "nightschool needs Python 3.11 or newer, and $(PYTHON) is `$(PYTHON) -V 2>&1`; say which with: make PYTHON=python3.12 ..."; exit 2; }
	@$(PYTHON) -c 'import ensurepip, venv' 2> /dev/null || { echo "$(PYTHON) has no venv; on Debian: apt-get install python3-venv"; exit 2; }
	@echo "installing into $(VENV) ..."
	@$(PYTHON) -m venv $(VENV)
	@$(PIP) install -r requirements/dev.txt
	@$(PIP) install --no-deps --no-build-isolation -e .
	@touch $@

demo: $(VENV)/.installed
	$(BIN)/nightschool demo

test: $(VENV)/.installed
	$(BIN)/pytest -n 2 --dist worksteal -m "not agents"

test-agents: $(VENV)/.installed $(AGENTS)/node_modules/.installed
	$(BIN)/pytest -m agents tests/agents

$(AGENTS)/node_modules/.installed: $(AGENTS)/package.json $(AGENTS)/package-lock.json
	@command -v npm > /dev/null && command -v tmux > /dev/null || { echo "the agents need node, npm and tmux; on Debian: apt-get install nodejs npm tmux"; exit 2; }
	npm ci --prefix $(AGENTS) --ignore-scripts --no-audit --no-fund --silent
	node $(AGENTS)/install-agents.mjs
	@touch $@

# The same tests with the newest agents that npm serves, and every scene of the recordings. It tells; it never
# blocks.
test-newest: $(VENV)/.installed
	@rm -rf $(NEWEST) && mkdir -p $(NEWEST)
	@node -p "Object.keys(require('./$(RECORDED)/package.json').dependencies).map((name) => name + '@latest').join(' ')" \
		| (cd $(NEWEST) && xargs npm install --prefix . --ignore-scripts --no-audit --no-fund --silent)
	@node $(AGENTS)/install-agents.mjs $(NEWEST) && cd $(NEWEST) && npm ls --depth 0
	@AGENT_MODULES=$(abspath $(NEWEST))/node_modules AGENT_SCENES=all $(BIN)/pytest -m agents tests/agents \
		|| echo "the newest agents are not understood yet: see above (nothing is blocked by it)"

# The recordings in tests/fixtures anew, with the pinned agents: make fixtures [ONLY="pi codex/stopped"]
ONLY ?=
fixtures: $(VENV)/.installed $(RECORDED)/node_modules/.installed
	AGENT_MODULES=$(abspath $(RECORDED))/node_modules PYTHONPATH=tests $(BIN)/python -m agents.remake_fixtures $(ONLY)

# Not `npm ci`: some registries lack packages of other systems that this lock would have to name.
$(RECORDED)/node_modules/.installed: $(RECORDED)/package.json $(RECORDED)/package-lock.json
	npm install --prefix $(RECORDED) --ignore-scripts --no-save --no-audit --no-fund --silent
	node $(AGENTS)/install-agents.mjs $(RECORDED)
	@touch $@

check: $(VENV)/.installed
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

# Help texts, settings and exit codes into docs/, from the code.
docs: $(VENV)/.installed
	$(BIN)/python docs/generate.py

bench: $(VENV)/.installed
	@for file in bench/bench_*.py; do echo "== $$file"; $(BIN)/python $$file || exit 1; done

# Many seeded cases of kills, fuzz, redaction, gate and memory blocks: make soak [PART=kills] [SEED=7] [SHARE=20]
PART ?= all
SEED ?= 1
SHARE ?= 1
soak: $(VENV)/.installed
	@PYTHONPATH=tests $(BIN)/python -m soak --part $(PART) --seed $(SEED) --share $(SHARE)

# The part of the soak that is led by coverage. Atheris is no dependency; it runs on Linux.
RUNS ?= 20000
ATHERIS := build/atheris
fuzz: $(VENV)/.installed
	@test -d $(ATHERIS) || $(PIP) install --target $(ATHERIS) atheris
	@PYTHONPATH=tests:$(ATHERIS) $(BIN)/python bench/fuzz_atheris.py -runs=$(RUNS) -max_len=65536 -rss_limit_mb=0

lock: $(VENV)/.installed
	@$(PIP) install uv
	$(BIN)/uv pip compile --universal --quiet --no-header --python-version 3.11 --no-emit-index-url --no-annotate requirements/dev.in pyproject.toml --all-extras -o requirements/dev.txt

clean:
	rm -rf $(VENV) $(AGENTS)/node_modules build
