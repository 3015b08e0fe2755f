# Every target sets up what it needs in .venv, from nothing but Python 3.11+ and make.
PYTHON ?= python3
BIN := .venv/bin
# A folder with a local torch wheel, where pip has been told of one.
export UV_FIND_LINKS ?= $(PIP_FIND_LINKS)
# Small models lose more by threads than they win, and the tests already run two at a time.
export OMP_NUM_THREADS ?= 1
# What `make report` reads: folders of run directories, as `amn train` and `amn sweep` write them, and a folder of released
# questions, where it is not the one that the runs were trained with.
RUNS ?= runs
DATA ?=
# Labels of runs that it shows beside those without a label: facts,bf16
LABELS ?=

.DEFAULT_GOAL := help
.PHONY: help demo test check format docs report bench serve soak lock clean

help:  ## list the targets
	@grep -E '^[a-z]+:.*##' Makefile | sed -E 's/:.*## /\t/' | expand -t 10

.venv/.ok: pyproject.toml constraints.txt requirements.lock hatch_build.py $(wildcard src/amn/core/*.[ch])
	@$(PYTHON) -c 'import sys; sys.exit("amn needs Python 3.11 or newer" if sys.version_info < (3, 11) else 0)'
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --constraint constraints.txt uv
	$(BIN)/uv pip install --quiet --python $(BIN)/python --require-hashes --requirements requirements.lock
	$(BIN)/uv pip install --quiet --python $(BIN)/python --constraint constraints.txt --editable '.[dev]'
	@touch $@

demo: .venv/.ok  ## answer questions about a story, and show the memory banks
	$(BIN)/amn demo

# Many processes start in the tests: each keeps the Python that it compiled for the next, whatever the environment says.
# Of the tests each half takes one end and gives away what it cannot do in time, so that few servers, browsers and models
# are made by both.
test: .venv/.ok  ## run the tests
	PYTHONDONTWRITEBYTECODE= $(BIN)/python -m pytest -n 2 --dist worksteal

check: .venv/.ok  ## check format, lint and types
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy

format: .venv/.ok  ## format the code, and mend what lint can mend
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

docs: .venv/.ok  ## build the documentation into site/; a broken link is an error
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet

report: .venv/.ok  ## make the page of results: make report RUNS="runs/a runs/b" DATA=babi/en-valid-10k
	$(BIN)/amn report $(RUNS) $(if $(DATA),--data $(DATA)) $(if $(LABELS),--labels $(LABELS)) --out docs/results/report.html \
	    --figures docs/results/figures --table docs/results.md

bench: .venv/.ok  ## print timings; they assert nothing
	$(BIN)/python -m pytest -m bench --benchmark-enable --benchmark-columns=min,median,rounds

serve: .venv/.ok  ## serve the HTTP API and the web page on 127.0.0.1
	$(BIN)/amn serve

soak: .venv/.ok  ## ten minutes of kills, half on each kind of store: is all that was acknowledged found again?
	$(BIN)/python scripts/soak.py --store sqlite --seconds 300
	$(BIN)/python scripts/soak.py --store redis --seconds 300

# Of torch there are many builds, and a machine may have its own; so it alone is held by its version and not by its hash.
lock: .venv/.ok  ## write requirements.lock anew, from pyproject.toml and constraints.txt
	$(BIN)/uv pip compile pyproject.toml --extra dev --constraint constraints.txt --generate-hashes --no-annotate \
	  --no-emit-package torch --python-version 3.11.5 --custom-compile-command 'make lock' --output-file requirements.lock

clean:  ## remove what the other targets made
	rm -rf .venv build dist site .pytest_cache .mypy_cache .ruff_cache .hypothesis .benchmarks
	find src tests -name __pycache__ -type d -prune -exec rm -rf {} +
