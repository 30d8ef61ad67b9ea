# `make` lists what there is to make. Everything happens in .venv, which is set up on first use.
PYTHON ?= python3
MINUTES ?= 20
BIN := .venv/bin
READY := .venv/ready
SIDE_BY_SIDE := -n 2 --dist worksteal --durations 20 --durations-min 10

.DEFAULT_GOAL := help
.PHONY: help app demo test test-all attack check bench docs gallery screenshots findings map format clean

help: ## list the targets
	@sed -n 's/^\([a-z-]*\):.*## /  make \1 : /p' $(MAKEFILE_LIST) | awk -F ' : ' '{ printf "%-18s %s\n", $$1, $$2 }'

demo: $(READY) ## read the automaton out of a trained network, draw it to pda.svg and check it on 21 million words
	@$(BIN)/extract-pda models/zoo/nnpda-palindrome.pt --max-length 15 --out pda.dot --out pda.svg

app: $(READY) ## open the page in the browser, on http://127.0.0.1:8050
	@$(BIN)/stacklens app

test: $(READY) ## run the tests but the slow ones
	@OMP_NUM_THREADS=1 $(BIN)/python -m pytest $(SIDE_BY_SIDE) -m "not slow"

test-all: $(READY) ## run all tests, as CI does: wheel, site, notebooks, most of the browser's and every network too
	@OMP_NUM_THREADS=1 $(BIN)/python -m pytest $(SIDE_BY_SIDE)

attack: $(READY) ## try to refute what the package says, with fresh seeds, for MINUTES=20
	@$(BIN)/python -m tests.attack --minutes $(MINUTES)

check: $(READY) ## lint, format and types, and JavaScript: what must be clean before a commit
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy
	@$(BIN)/oxlint --deny-warnings viz/dashboard/assets tests/browser

bench: $(READY) ## measure how fast it is
	@$(BIN)/python -m benchmarks

docs: $(READY) ## build the documentation site in build/docs, and check its links
	@NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict
	@$(BIN)/python docs/check_site.py build/docs
	@echo "open build/docs/index.html; to search too: $(BIN)/python -m http.server -d build/docs"

gallery: $(READY) ## draw the pictures of docs/gallery.md again, which takes half an hour
	@OMP_NUM_THREADS=1 $(BIN)/python docs/gallery.py
	@OMP_NUM_THREADS=1 $(BIN)/python docs/training_dynamics.py build/runs

screenshots: $(READY) ## take the pictures of the page in the README
	@OMP_NUM_THREADS=1 $(BIN)/python docs/screenshots.py

findings: $(READY) ## write the text, tables and figures of docs/findings.md from papers/results
	@OMP_NUM_THREADS=1 $(BIN)/python -m docs.findings

map: $(READY) ## draw which package imports which, for CONTRIBUTING
	@$(BIN)/python docs/architecture.py

format: $(READY) ## format the code and mend what ruff can mend
	@$(BIN)/ruff format .
	@$(BIN)/ruff check --fix .

clean: ## remove what was made, except .venv
	rm -rf build dist src/*.egg-info *.egg-info .mypy_cache .ruff_cache .pytest_cache .hypothesis pda.*
	find . -name .venv -prune -o -name __pycache__ -type d -prune -exec rm -rf {} +

# pip changes what has to change in an environment that is there already; the stamp is written only when all went well.
$(READY): pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || { \
	  echo "error: $(PYTHON) is not Python 3.11 or later; name one that is: make PYTHON=/path/to/python3" >&2; exit 1; }
	@echo "setting up .venv; this takes a minute or two, once"
	@$(PYTHON) -m venv .venv
	@$(BIN)/python -m pip install -qq --disable-pip-version-check -c constraints.txt -e '.[test,page,figures,interop,distributed,findings,docs]'
	@touch $(READY)
