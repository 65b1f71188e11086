# Thin: says what can be done here; CMake, tools/ and tests/ do it.
.DEFAULT_GOAL := release
JOBS ?= $(shell nproc)
export CCACHE_DIR := $(CURDIR)/.deps/ccache
export CCACHE_BASEDIR := $(CURDIR)

.PHONY: help bootstrap release asan test unit golden format format-check layers tidy sanitize clean

help: ## this list
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | awk -F':.*## ' '{printf "  make %-14s %s\n", $$1, $$2}'

bootstrap: ## install packages and third-party libraries
	@tools/bootstrap

release: bootstrap ## build build/release/aqueduck
	@echo "== build (release)"
	@cmake --preset release >/dev/null
	@cmake --build --preset release --target aqueduck -j $(JOBS)

asan: bootstrap
	@echo "== build (ASan + UBSan unit tests)"
	@cmake --preset asan >/dev/null
	@cmake --build --preset asan --target unit_tests -j $(JOBS)

test: ## every test; ends with a line 'N passed, N failed'
	@tools/run_tests

format: ## rewrite sources by .clang-format
	@git ls-files '*.h' '*.cpp' | xargs clang-format-19 -i

format-check:
	@git ls-files '*.h' '*.cpp' | xargs clang-format-19 --dry-run --Werror

layers: ## check the direction of dependencies and the module table of ARCHITECTURE.md
	@tools/layers

tidy: bootstrap ## clang-tidy over everything
	@cmake --preset tidy >/dev/null
	@git ls-files 'src/*.cpp' | xargs -P $(JOBS) -n 4 clang-tidy-19 -p build/tidy --quiet

clean: ## remove build/
	@rm -rf build
