# Deconditioning Lab. `make run` opens the app, `make test` checks everything; both set themselves up.
# `make serve` opens it to other computers: on every interface, each browser with runs and uploads of its own.
# An own interpreter: make run PYTHON=/path/to/python3.12. Only some tests: make test ARGS="-k fields".
# Tests run in two processes, each file in one of them: those of tensors, where every shape is checked, the others, and
# last, in three since they wait a third of their time, those in the browser, each process with an app and a browser of
# its own. Those of the browser that fail run once more, alone, and the output says so: on a busy machine a browser can
# lose a click that no person would lose.
# All in one process, to see them in order: make test WORKERS=0.

VENV := .venv/bin/python
WORKERS ?= 2
BROWSERS ?= $(if $(filter 2,$(WORKERS)),3,$(WORKERS))
SHARED_OUT := --dist=loadfile --no-loadscope-reorder
# What the many processes of the tests import is compiled once, wherever Python is told otherwise.
COMPILED := PYTHONDONTWRITEBYTECODE=
THREADS := OMP_NUM_THREADS=1 MKL_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1
PYTEST = $(THREADS) $(COMPILED) $(VENV) -m pytest

export STREAMLIT_SERVER_SHOW_EMAIL_PROMPT ?= false
export STREAMLIT_BROWSER_GATHER_USAGE_STATS ?= false
ifeq ($(STREAMLIT_SERVER_HEADLESS)$(DISPLAY)$(WAYLAND_DISPLAY),)
ifneq ($(shell uname -s),Darwin)
export STREAMLIT_SERVER_HEADLESS := true
endif
endif

.PHONY: run serve test check format docs teach-offline bench bench-latency bench-load bench-period soak bench-swiss-roll bench-downscaling bench-trust bench-peers fuzz audit clean

run:
	@PYTHON="$(PYTHON)" sh scripts/environment.sh
	@exec $(VENV) -m scripts.serve

serve:
	@PYTHON="$(PYTHON)" sh scripts/environment.sh
	@DECONDITIONING_SHARED=true STREAMLIT_SERVER_HEADLESS=true exec $(VENV) -m scripts.serve

test:
	@PYTHON="$(PYTHON)" sh scripts/environment.sh test
	@$(VENV) -m scripts.browser
	$(VENV) -m ruff check
	$(VENV) -m ruff format --check
	$(VENV) -m mypy
	@ran=0; failed=0; \
	for part in tensors computing browser; do \
		workers=$(WORKERS); [ $$part != browser ] || workers=$(BROWSERS); \
		$(PYTEST) --part $$part --numprocesses=$$workers $(SHARED_OUT) $(ARGS); code=$$?; \
		if [ $$code -eq 1 ] && [ $$part = browser ]; then \
			echo "These browser tests failed and run once more, alone:"; \
			$(PYTEST) --part browser --last-failed --last-failed-no-failures=none $(ARGS); code=$$?; \
		fi; \
		if [ $$code -ne 5 ]; then ran=1; [ $$code -eq 0 ] || failed=$$code; fi; \
	done; \
	[ $$ran -eq 1 ] || failed=5; exit $$failed  # 5: no test was chosen, which is no failure of one part alone

# Between two edits, in minutes: lint, types, and the tests of the files that git sees changed. No browser.
check:
	@PYTHON="$(PYTHON)" sh scripts/environment.sh test
	$(VENV) -m ruff check
	$(VENV) -m ruff format --check
	$(VENV) -m mypy
	$(PYTEST) -q --numprocesses=$(WORKERS) $(SHARED_OUT) $$($(VENV) -m scripts.changed_tests) $(ARGS)

format:
	@PYTHON="$(PYTHON)" sh scripts/environment.sh test
	$(VENV) -m ruff check --fix
	$(VENV) -m ruff format

# The reference of what `import deconditioning` offers, as pages: build/docs/index.html.
docs:
	@PYTHON="$(PYTHON)" sh scripts/environment.sh test
	$(VENV) -m scripts.reference build/docs

# The story and page One dimension as a folder of pages that need no server: open build/teach/index.html.
# Another folder: make teach-offline FOLDER=/path.
FOLDER ?= build/teach
teach-offline:
	@PYTHON="$(PYTHON)" sh scripts/environment.sh
	@$(VENV) -m scripts.teach_offline "$(FOLDER)"

# Benchmarks are the functions bench_* of tests/benchmarks. They end in one table and are kept in
# tests/benchmarks/results, which the page Benchmarks shows. Only some: make bench ARGS="-k bench_models".
BENCH := -m pytest -q -s -o python_files="bench_*.py" -o python_functions="bench_*"
BROWSER := tests/benchmarks/bench_latency.py tests/benchmarks/bench_play.py tests/benchmarks/bench_start_up.py
LOAD := tests/benchmarks/bench_load.py
SOAK := tests/benchmarks/bench_soak.py
PERIOD := tests/benchmarks/bench_period.py tests/benchmarks/bench_period_plan.py

bench:
	@PYTHON="$(PYTHON)" sh scripts/environment.sh test
	$(THREADS) $(VENV) $(BENCH) tests/benchmarks $(BROWSER:%=--ignore=%) --ignore=$(LOAD) --ignore=$(SOAK) \
		$(PERIOD:%=--ignore=%) $(ARGS)

# What a person waits for, in Chromium, and what the processes hold in memory.
bench-latency:
	@PYTHON="$(PYTHON)" sh scripts/environment.sh test
	@$(VENV) -m scripts.browser
	$(VENV) $(BENCH) $(BROWSER) $(ARGS)

# Thirty people at once, without a browser.
bench-load:
	@PYTHON="$(PYTHON)" sh scripts/environment.sh test
	$(VENV) $(BENCH) $(LOAD) $(ARGS)

# Series from a fine archive and from cells alone beside BCSD; series that are not part of the project:
# make bench-period FIELDS=/path.
bench-period:
	@PYTHON="$(PYTHON)" sh scripts/environment.sh test
	$(if $(FIELDS),DECONDITIONING_FIELDS="$(FIELDS)") $(THREADS) $(VENV) $(BENCH) $(PERIOD) $(ARGS)

# Five people for ten minutes: whether the app's memory comes back once they have left. It takes twenty minutes.
soak:
	@PYTHON="$(PYTHON)" sh scripts/environment.sh test
	$(VENV) $(BENCH) $(SOAK) $(ARGS)

# The papers' tables, through the run engine; each writes the file that its page shows on opening.
bench-swiss-roll:
	@PYTHON="$(PYTHON)" sh scripts/environment.sh
	$(VENV) -m deconditioning benchmark swiss-roll $(ARGS)

# Cells matched through a mediator (Table 2 of the paper), and when mediation helps.
bench-downscaling:
	@PYTHON="$(PYTHON)" sh scripts/environment.sh
	$(VENV) -m deconditioning benchmark downscaling $(ARGS)
	$(VENV) -m deconditioning benchmark mediation

# Matched cells of real fields: how near, and how often the intervals hold. Then how far the default can be trusted;
# fields that are not part of the project: make bench-trust FIELDS=/path.
bench-trust:
	@PYTHON="$(PYTHON)" sh scripts/environment.sh
	$(VENV) -m deconditioning benchmark trust $(ARGS)
	$(VENV) -m deconditioning benchmark real-fields $(if $(FIELDS),--fields "$(FIELDS)")
	$(VENV) -m deconditioning benchmark few-cells $(if $(FIELDS),--fields "$(FIELDS)")

# The default beside other tools (gridpp, scikit-learn), on real fields: those of the project and those of FIELDS.
bench-peers:
	@PYTHON="$(PYTHON)" sh scripts/environment.sh
	$(VENV) -m pip install --quiet --disable-pip-version-check -r requirements-peers.txt
	$(VENV) -m deconditioning benchmark peers $(if $(FIELDS),--fields "$(FIELDS)") $(ARGS)

# Two thousand malformed files through the locked-in reader, in some minutes. More: make fuzz ARGS="--count 9000 --seed 3".
fuzz:
	@PYTHON="$(PYTHON)" sh scripts/environment.sh test
	$(THREADS) $(VENV) -m tests.corpus.fuzz $(ARGS)

# Asks the advisory database of PyPI for known vulnerabilities of every pinned package. It needs the network, and it
# fails where a package could not be looked up: no answer is not a clean bill.
audit:
	@PYTHON="$(PYTHON)" sh scripts/environment.sh
	@[ -x build/audit/bin/pip-audit ] || ($(VENV) -m venv build/audit && \
		build/audit/bin/python -m pip install --quiet --disable-pip-version-check -r requirements-audit.txt)
	build/audit/bin/pip-audit --strict --disable-pip --no-deps -r requirements.txt -r requirements-grib.txt -r requirements-geotiff.txt -r requirements-test.txt

# Keeps runs/: they are yours.
clean:
	rm -rf .venv .mypy_cache .pytest_cache .ruff_cache .hypothesis build dask-worker-space dask-scratch-space
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
