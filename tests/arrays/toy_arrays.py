"""A cloakroom with an array view: small enough to try every action.

Visitors want coats of theirs moved to free hooks. The id is `toy_arrays:tool_envs_tests/Cloakroom-v0`, that
of its array view `toy_arrays:tool_envs_tests/CloakroomArray-v0`.
"""

import functools
import itertools
import json
import re

import gymnasium
import numpy as np

from tool_envs.array_view import SKIPPED, call_arguments, reachable
from tool_envs.canonical import digest
from tool_envs.database import BaseData, Database
from tool_envs.domain import Domain
from tool_envs.env import ToolEnv
from tool_envs.messages import ToolCall
from tool_envs.reward import Verdict, grade
from tool_envs.schema import ToolSchema
from tool_envs.simulators import Turn
from tool_envs.task import Task, TaskList
from tool_envs.toolkit import Refusal, Toolkit

JSON_ID = "toy_arrays:tool_envs_tests/Cloakroom-v0"
ENV_ID = "toy_arrays:tool_envs_tests/CloakroomArray-v0"

OWN, FREE = 3, 3
COATS = ("red", "blue", "grey")
TAGS = ["plain", "gold"]
VISITORS = ("ada", "bob", "eve")
FREE_HOOKS = [f"H9{number}" for number in range(FREE)]


def hooks_of(visitor):
    return [f"H{VISITORS.index(visitor)}{number}" for number in range(OWN)]


# --- Schema

_HOOK = {"type": "string", "pattern": "^H[0-9]{2}$", "x-entity": "hook"}
_HOOKS = {"type": "array", "items": _HOOK, "minItems": 1, "maxItems": 4}
_TEXT = {"type": "string", "minLength": 1, "maxLength": 2000}
_ANY = {"type": "object", "properties": {}, "additionalProperties": _TEXT}


def _tool(name, effect, /, **properties):
    parameters = {"type": "object", "properties": properties, "additionalProperties": False}
    if properties:
        parameters["required"] = list(properties)
    return {"name": name, "effect": effect, "description": name, "parameters": parameters, "result": _ANY}


DOCUMENT = {
    "format": "tool_schema/1.0.0",
    "domain": "cloakroom",
    "version": "1.0.0",
    "description": "A cloakroom.",
    "tools": [
        _tool("find_visitor", "read", name=_TEXT),
        _tool("look_at_hook", "read", hook_id=_HOOK),
        _tool("list_free_hooks", "read"),
        _tool("think", "read", thought=_TEXT),
        _tool(
            "move_coats",
            "write",
            hook_ids=_HOOKS,
            tag={"type": "string", "enum": TAGS},
            new_hook_ids=_HOOKS,
        ),
        _tool("call_guard", "end", reason=_TEXT),
        _tool("respond", "message", content=_TEXT),
    ],
}

ARRAYS = {
    "format": "arrays/1",
    "domain": "cloakroom",
    "left_out": ["think"],
    "texts": {"call_guard": {"reason": "The visitor is not served."}},
    "told": {"name|visitor_name": "name"},
    "tables": {
        "hook_id": {"table": "own", "size": OWN},
        "hook_ids": {"table": "own", "size": OWN, "most": 2},
        "new_hook_ids": {"table": "free", "size": FREE, "like": "hook_ids"},
    },
    "speech": {
        "ask": ["name"],
        "propose": True,
        "others": [{"verb": "tell_coat", "slots": ["hook_id"]}, {"verb": "more"}],
    },
}

# --- Tools


def find_visitor(database, name):
    return database.get("visitors", name) or Refusal("no_such_visitor", "There is no such visitor.")


def look_at_hook(database, hook_id):
    return database.get("hooks", hook_id) or Refusal("no_such_hook", "There is no such hook.")


def list_free_hooks(database):
    return {"hooks": [key for key in FREE_HOOKS if not database.get("hooks", key)["coat"]]}


def think(database, thought):  # noqa: ARG001 - left out of the arrays
    return {}


def move_coats(database, hook_ids, tag, new_hook_ids):
    if len(set(hook_ids)) < len(hook_ids) or len(set(new_hook_ids)) < len(new_hook_ids):
        return Refusal("hook_twice", "A hook is named twice.")
    for old, new in zip(hook_ids, new_hook_ids, strict=True):
        coat = database.get("hooks", old)["coat"]
        if not coat or database.get("hooks", new)["coat"]:
            return Refusal("no_room", "There is no coat, or no room.")
        database.put("hooks", old, {"coat": "", "tag": ""})
        database.put("hooks", new, {"coat": coat, "tag": tag})
    return {}


def call_guard(database, reason):  # noqa: ARG001
    return {}


TOOLS = (find_visitor, look_at_hook, list_free_hooks, think, move_coats, call_guard)


# --- User


def proposal(arguments):
    moves = ", ".join(map(" to ".join, zip(arguments["hook_ids"], arguments["new_hook_ids"], strict=True)))
    return f"Shall I move {moves} with a {arguments['tag']} tag?"


class Visitor:
    """Says what they want, their name when asked, yes to what they want; leaves after a yes."""

    name, version, not_understood = "visitor", "1.0.0", 0

    def __init__(self, goal):
        self._goal, self._agreed = goal, False

    @property
    def digest(self):
        return digest({"name": self.name, "version": self.version})

    def reset(self, goal, key):  # noqa: ARG002 - the interface of a user
        return Turn(self._wish())

    def _wish(self):
        return proposal(self._goal["call"]).replace("Shall I", "Please")

    def respond(self, agent_text):
        if "your name" in agent_text:
            return Turn(f"My name is {self._goal['name']}.")
        if agent_text.startswith("Shall I"):
            self._agreed = agent_text == proposal(self._goal["call"])
            return Turn("Yes." if self._agreed else "No.")
        if "else" in agent_text and self._agreed:
            return Turn("Thanks.", ended=True)
        return Turn(self._wish())

    def snapshot(self):
        return self._agreed

    def restore(self, snapshot):
        self._agreed = snapshot


# --- Scene


class CloakroomScene:
    """What was said and looked up: the visitor's own hooks, the free ones, and a yes that was not used."""

    def __init__(self, layout):
        self.layout = layout
        self.names = [verb.name for verb in layout.verbs]
        self.told, self.wish, self.yes = "", "", None
        self.own, self.coats, self.free = [], {}, []

    def saw(self, action, messages):
        said = messages[-1].content
        if messages[-1].role == "user":
            self._hear(said, action)
        elif messages[-1].code is None:
            self._see(action["name"], action["arguments"], json.loads(said))

    def _hear(self, said, action):
        told = re.fullmatch(r"My name is (\w+)\.", said)
        self.told = told[1] if told else self.told
        self.wish = said if said.startswith("Please") else self.wish
        if said in ("Yes.", "No."):
            self.yes = self._choices(action["arguments"]["content"]) if said == "Yes." else None

    def _choices(self, proposed):
        """The choices of the call that was proposed."""
        moves = re.findall(r"(H\d\d) to (H\d\d)", proposed)
        alone = len(moves) == 1
        old = [self.own.index(hook) for hook, _ in moves] + [OWN] * alone
        new = [self.free.index(hook) for _, hook in moves] + [SKIPPED] * alone
        return (*old, TAGS.index(re.search(r"(\w+) tag", proposed)[1]), *new)

    def _see(self, tool, arguments, result):
        if tool == "find_visitor":
            self.own = result["hooks"]
        elif tool == "look_at_hook":
            self.coats[arguments["hook_id"]] = result["coat"]
        elif tool == "list_free_hooks":
            self.free = result["hooks"]
        elif tool == "move_coats":
            self.yes, self.free, self.coats = None, [], {}

    def allowed(self, level, verb, chosen):
        if verb == -1:
            return np.array([self._starts(level, name) for name in self.names])
        slot = self.layout.verbs[verb].slots[len(chosen)]
        mask = np.zeros(slot.choices, bool)
        shown = {"own": len(self.own), "free": len(self.free), "tag": len(TAGS)}[slot.source]
        mask[:shown] = True
        mask[slot.width :] = True
        if self.names[verb] == "tell_coat":
            mask &= [row < shown and self.own[row] in self.coats for row in range(slot.choices)]
        if level == "policy":
            mask &= self._sensible(self.names[verb], slot, chosen)
        return mask

    def _starts(self, level, name):
        shown = {
            "find_visitor": bool(self.told),
            "look_at_hook": bool(self.own),
            "move_coats": bool(self.own and self.free),
            "propose_move_coats": bool(self.own and self.free),
            "tell_coat": bool(self.coats),
        }.get(name, True)
        useful = {
            "find_visitor": not self.own,
            "look_at_hook": len(self.coats) < len(self.own),
            "list_free_hooks": not self.free,
            "move_coats": self.yes is not None,
            "call_guard": False,
            "propose_move_coats": self.yes is None,
            "ask_name": not self.told,
        }.get(name, True)
        return shown and (level == "schema" or useful)

    def _sensible(self, name, slot, chosen):
        mask = np.ones(slot.choices, bool)
        if name == "move_coats":
            return np.arange(slot.choices) == self.yes[len(chosen)]
        if name == "look_at_hook":
            mask[: len(self.own)] = [hook not in self.coats for hook in self.own]
        elif slot.name == "hook_ids[1]":
            mask[chosen[0]] = False
            mask[: slot.width] &= len(self.free) > 1
        elif slot.name == "new_hook_ids[1]":
            mask[chosen[3]] = False
        return mask

    def possible(self, level, verb):
        return reachable(self, level, verb, self.layout.verbs[verb])

    def value(self, verb, chosen):
        slot = self.layout.verbs[verb].slots[len(chosen) - 1]
        return slot.values[chosen[-1]] if slot.values else self._id(slot, chosen[-1])

    def _id(self, slot, choice):
        return (self.own if slot.source == "own" else self.free)[choice]

    def _arguments(self, verb, chosen):
        return call_arguments(verb, chosen, self._id, lambda _: self.told)

    def action(self, verb, chosen):
        verb = self.layout.verbs[verb]
        if verb.kind == "call":
            return {"name": verb.tool, "arguments": self._arguments(verb, chosen)}
        return {"name": "respond", "arguments": {"content": self._words(verb, chosen)}}

    def _words(self, verb, chosen):
        match verb.name:
            case "ask_name":
                return "What is your name?"
            case "more":
                return "Anything else?"
            case "tell_coat":
                hook = self.own[chosen[0]]
                return f"On {hook} there is the coat {self.coats[hook]}."
            case _:
                return proposal(self._arguments(verb, chosen))

    def tables(self):
        talk = [bool(self.told), self.yes is not None, "gold" in self.wish, "plain" in self.wish]
        own, free = np.zeros((OWN, 2 + len(COATS)), np.int8), np.zeros((FREE, 2), np.int8)
        for row, hook in enumerate(self.own):
            own[row] = [1, hook in self.wish, *(self.coats.get(hook) == coat for coat in COATS)]
        for row, hook in enumerate(self.free):
            free[row] = [1, hook in self.wish]
        length = np.array([self.wish.count(" to ") / 4], np.float32)
        return {"talk": np.array(talk, np.int8), "own": own, "free": free, "wish": length}

    def describe(self):
        coats = [f"{hook}: {self.coats.get(hook, 'not seen')}" for hook in self.own]
        return f"own hooks: {', '.join(coats) or 'none'}; free hooks: {', '.join(self.free) or 'none'}"


class CloakroomArrays:
    """The array view of the cloakroom."""

    def __init__(self):
        self.document = ARRAYS
        self.shapes = {
            "talk": ((4,), "int8"),
            "own": ((OWN, 2 + len(COATS)), "int8"),
            "free": ((FREE, 2), "int8"),
            "wish": ((1,), "float32"),
        }
        self.fields = {
            "talk": ("told name", "yes", "gold", "plain"),
            "own": ("shown", "mentioned", *COATS),
            "free": ("shown", "mentioned"),
            "wish": ("moves",),
        }

    def scene(self, episode, layout):  # noqa: ARG002 - it is shown all that it may know
        return CloakroomScene(layout)


# --- Domain


def _tables():
    hooks = {
        hook: {"coat": COATS[(number + row) % len(COATS)], "tag": "plain"}
        for number, visitor in enumerate(VISITORS)
        for row, hook in enumerate(hooks_of(visitor))
    }
    return {
        "visitors": {visitor: {"hooks": hooks_of(visitor)} for visitor in VISITORS},
        "hooks": hooks | {hook: {"coat": "", "tag": ""} for hook in FREE_HOOKS},
    }


def _tasks():
    moves = [((0,), (1,)), ((2,), (0,)), ((0, 1), (2, 0)), ((2, 0), (0, 1))]
    for visitor, (own, free), tag in itertools.product(VISITORS, moves, TAGS):
        call = {
            "hook_ids": [hooks_of(visitor)[row] for row in own],
            "tag": tag,
            "new_hook_ids": [FREE_HOOKS[row] for row in free],
        }
        goal = {"name": visitor, "call": call}
        yield Task(f"{visitor}-{own}-{free}-{tag}", goal, (ToolCall("move_coats", call),))


def grade_cloakroom(episode):
    wanted = Database(episode.database.base)
    for call in episode.task.actions:
        load().toolkit.call(wanted, call)
    return Verdict(grade({"data": episode.database.digest() == wanted.digest()}))


@functools.cache
def load(arrays=True):
    return Domain(
        toolkit=Toolkit(ToolSchema.from_document(DOCUMENT, "toy_arrays.py"), {f.__name__: f for f in TOOLS}),
        base=BaseData(_tables()),
        tasks=TaskList(list(_tasks())),
        policy_text="Move coats.",
        simulators={"agenda": lambda task, _: Visitor(task.goal)},
        grade=grade_cloakroom,
        load=load,
        load_arguments=(arrays,),
        arrays=CloakroomArrays() if arrays else None,
    )


class CloakroomEnv(ToolEnv):
    """The cloakroom."""

    def __init__(self, *, user="agenda", max_steps=16, arrays=True, **options):
        super().__init__(load(arrays), user=user, max_steps=max_steps, **options)


gymnasium.register(id=JSON_ID.partition(":")[2], entry_point="toy_arrays:CloakroomEnv", order_enforce=False)
gymnasium.register(
    id=ENV_ID.partition(":")[2],
    entry_point="tool_envs.arrays.env:ArrayEnv",
    order_enforce=False,
    kwargs={"env_id": JSON_ID},
)
