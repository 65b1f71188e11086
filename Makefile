# Thin: says what can be done here; CMake, tools/ and tests/ do it.
.DEFAULT_GOAL := release
JOBS ?= $(shell nproc)
export CCACHE_DIR := $(CURDIR)/.deps/ccache
export CCACHE_BASEDIR := $(CURDIR)

.PHONY: help bootstrap release asan demo test mutants fuzz integration bench package format format-check layers tidy sanitize clean

help: ## this list
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | awk -F':.*## ' '{printf "  make %-14s %s\n", $$1, $$2}'

bootstrap: ## install packages and third-party libraries
	@tools/bootstrap

release: bootstrap ## build build/release/aqueduck
	@echo "== build (release)"
	@cmake --preset release >/dev/null
	@cmake --build --preset release --target aqueduck -j $(JOBS)

asan: bootstrap
	@echo "== build (ASan + UBSan unit tests and fuzzers)"
	@cmake --preset asan >/dev/null
	@cmake --build --preset asan --target unit_tests fuzzers -j $(JOBS)

demo: release ## run the main job on embedded defaults and look at the result
	@tools/demo

test: ## every test; ends with a line 'N passed, N failed'
	@tools/run_tests

mutants: bootstrap ## take protections out of the code, one at a time: the tests must go red
	@tests/mutants/run

fuzz: asan ## fuzz targets under ASan + UBSan, SECONDS=10 each
	@tools/run_fuzzers $(or $(SECONDS),10) build/asan

integration: release ## tests against real services (tools/services)
	@tests/integration/run

bench: release ## benchmarks, each checks its answer
	@cmake --build --preset release --target bench_batch_cost bench_kafka_consume -j $(JOBS)
	@bench/run

package: release ## build/package: a .tar.gz with the one file, and an OCI image layout
	@tools/check_binary build/release/aqueduck
	@tools/package build/release/aqueduck

sanitize: ## thread sanitizer and long fuzzing (FUZZ_SECONDS=300 a target)
	@tools/run_tests sanitize

format: ## rewrite sources by .clang-format
	@git ls-files -co --exclude-standard '*.h' '*.cpp' | xargs clang-format-19 -i

format-check:
	@git ls-files '*.h' '*.cpp' | xargs clang-format-19 --dry-run --Werror

layers: ## check the direction of dependencies and the module table of ARCHITECTURE.md
	@tools/layers

tidy: bootstrap ## clang-tidy over everything
	@cmake --preset tidy >/dev/null
	@git ls-files 'src/*.cpp' 'tests/*.cpp' 'bench/*.cpp' | xargs -P $(JOBS) -n 4 clang-tidy-19 -p build/tidy --quiet

clean: ## remove build/
	@rm -rf build
