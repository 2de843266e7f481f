PYTHON ?= .venv/bin/python

.PHONY: check check-all gallery lint screenshots test venv

venv:
	python3 -m venv .venv && .venv/bin/pip install -q -e '.[all]'

lint:
	$(PYTHON) -m ruff format --check .
	$(PYTHON) -m ruff check .
	$(PYTHON) -m mypy
	PATH="$(dir $(PYTHON)):$$PATH" lint-imports

test:
	$(PYTHON) -m pytest -n auto --dist worksteal

check: lint test

check-all: lint
	$(PYTHON) -m pytest -n auto --dist worksteal -m ''

GALLERY ?= gallery

gallery:
	PYTHONPATH="$(CURDIR)" $(PYTHON) docs/make_gallery.py $(GALLERY)

screenshots:
	PYTHONPATH="$(CURDIR)" $(PYTHON) docs/make_screenshots.py
