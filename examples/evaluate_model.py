"""Evaluates a model on two slices and compares two runs of it; `python examples/evaluate_model.py MODEL`.

The model is behind an OpenAI-compatible server: OPENAI_BASE_URL and OPENAI_API_KEY say where. Stopped and run
again it goes on where it was. Wants `pip install -e '.[llm]'`.
"""

import sys
from pathlib import Path

from tool_envs.agents.llm import ChatPolicy
from tool_envs.chat import ChatClient
from tool_envs.evaluation import load_slice, write_report
from tool_envs.evaluation.compare import compare_reports
from tool_envs.evaluation.policies import evaluate_policy

model, *slices = sys.argv[1:]

for slice_id in slices or ["retail/test@1", "booking/test@1"]:
    frozen, reports = load_slice(slice_id), []
    for temperature in (0.0, 1.0):  # the two runs: the same model, drawn from in two ways
        policy = ChatPolicy(ChatClient(model), arguments={"temperature": temperature})
        run = Path("runs/models") / slice_id.replace("/", "-") / f"temperature-{temperature}"
        report = evaluate_policy(frozen, policy, policy.version, run)
        write_report(report, run / "report.json")
        scores = report.scores
        print(f"{slice_id}, temperature {temperature}: {scores.rate} of {scores.graded} episodes")
        reports.append(report)
    if all(report.scores.graded for report in reports):
        paired = compare_reports(*reports).paired
        print(f"{slice_id}: difference {paired.difference.value:+.3f}, p-value {paired.p_value:.3f}")
