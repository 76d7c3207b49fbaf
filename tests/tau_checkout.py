"""A tiny checkout in the shape of tau-bench's, with words of our own."""

import shutil

from tool_envs.messages import RESPOND
from tool_envs.schema import load_schema
from tool_envs.tau_bench.files import SAMPLE

TOOL_INIT = '''"""Tools."""
from .think import Think
from tau_bench.envs.retail.tools.cancel_pending_order import CancelPendingOrder as Cancel

ALL_TOOLS = [
    Think,
    Cancel,
]
'''
THINK = {
    "type": "function",
    "function": {"name": "think", "description": "Think.", "parameters": {"type": "object"}},
}
CANCEL = {
    "type": "function",
    "function": {"name": "cancel_pending_order", "parameters": {"minimum": -1, "x": None}},
}
THINK_MODULE = '''
raise SystemExit("this module must never run")
class Think(Tool):
    @staticmethod
    def invoke(data, thought): return ""
    @staticmethod
    def get_info():
        """What it is."""
        return {"type": "function", "function": {
            "name": "think", "description": "Thi" "nk" + ".", "parameters": {"type": "object"}}}
'''
TASK_MODULE = '''"""Tasks."""
from tau_bench.types import Task, Action

TASKS_TEST = [
    Task(
        annotator=str(0),
        user_id="nadia_okafor_4127",
        instruction="You want "
        "nothing.",
        actions=[
            Action(name="think", kwargs={"thought": "hm", "level": [-1, 2.5, True, None]}),
        ],
        outputs=["a"],
    ),
]
'''

USER_MODULE = '''
raise SystemExit("this module must never run")
class HumanUserSimulationEnv(BaseUserSimulationEnv):
    def reset(self, instruction): return input(instruction)
class LLMUserSimulationEnv(BaseUserSimulationEnv):
    def __init__(self, model, provider):
        self.reset()
    def build_system_prompt(self, instruction):
        """What they are told."""
        shown = ("\\nYour task: " + instruction + ".\\n") if instruction is not None else ""
        return f"""Play a customer.{shown}
Write ###STOP### when you are done; {{not}} before."""
    def reset(self, instruction=None):
        self.messages = [
            {"role": "system", "content": self.build_system_prompt(instruction=instruction)},
            {"role": "user", "content": "Good day, what can I do?"},
        ]
        return self.generate_next_message(self.messages)
'''


def make_checkout(root):
    """Write the checkout into a folder that does not exist yet, and return that."""
    retail = root / "tau_bench" / "envs" / "retail"
    shutil.copytree(SAMPLE / "databases" / "retail", retail / "data")
    (retail / "tools").mkdir()
    (retail / "wiki.md").write_bytes(b"# Rules\r\nBe kind.\r\n")
    (retail / "tasks_test.py").write_text(TASK_MODULE)
    (retail / "tools" / "__init__.py").write_text(TOOL_INIT)
    (retail / "tools" / "think.py").write_text(THINK_MODULE)
    cancel = f"class CancelPendingOrder:\n    def get_info():\n        return {CANCEL!r}\n"
    (retail / "tools" / "cancel_pending_order.py").write_text(cancel)
    (root / "tau_bench" / "envs" / "user.py").write_text(USER_MODULE)
    return root


def make_whole_checkout(root):
    """The same with all tools, so that it can be played."""
    tools = make_checkout(root) / "tau_bench" / "envs" / "retail" / "tools"
    forms = load_schema("tau_retail", "1.0.0").to_openai()
    names = [form["function"]["name"] for form in forms if form["function"]["name"] != RESPOND]
    for form in forms:
        text = f"class Tool:\n    def get_info():\n        return {form!r}\n"
        (tools / f"{form['function']['name']}.py").write_text(text)
    imports = [f"from .{name} import Tool as {name}\n" for name in names]
    (tools / "__init__.py").write_text("".join([*imports, f"ALL_TOOLS = [{', '.join(names)}]\n"]))
    return root
