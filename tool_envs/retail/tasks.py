"""The store's tasks: `(split, difficulty, index)` to a customer, their wishes, and what is right.

Customers of `test` and `train` are different people. A task of difficulty 1 is one wish; 2 makes the customer
harder to serve; 3 to 5 are compounds of two to four wishes, some of which depend on what is possible.
"""

import functools
import re

from tool_envs.errors import UnknownNameError
from tool_envs.messages import Json, ToolCall
from tool_envs.randomness import Draws
from tool_envs.retail.data import RetailBase
from tool_envs.retail.wishes import FAMILIES, Planned, Shopper, lexicon
from tool_envs.simulators.goal import Fact, Trait, UserGoal, Wish
from tool_envs.simulators.phrasing import fact_forms
from tool_envs.task import Task

SPLITS = ("train", "test")
DIFFICULTIES = (1, 2, 3, 4, 5)
TASKS = 1 << 30
"""How many tasks a split has: as good as endless."""

_TEST_SHARE = 5  # one customer in five is a customer of `test`
_TRIES = 5000
_STREAM = 40  # first of the streams of random words of tasks; smaller ones are taken by the data
_WISHES = {1: (1,), 2: (1,), 3: (2,), 4: (2, 3), 5: (3, 4)}
_TRAITS: dict[int, tuple[tuple[Trait, ...], ...]] = {
    1: ((), ("terse",), ("talkative",)),
    2: (("forgetful",), ("reluctant",), ("insists",), ("changes_mind",), ("forgetful", "talkative")),
    3: ((), ("terse",), ("talkative",), ("insists",)),
    4: (("forgetful",), ("reluctant", "terse"), ("changes_mind",), ("insists", "talkative")),
    5: (("forgetful", "reluctant"), ("changes_mind", "terse"), ("insists", "forgetful"), ("reluctant",)),
}
_MAX_CHARACTERS = (600, 700, 800)
_ID = re.compile(r"retail/(?P<split>\w+)/(?P<difficulty>any|[1-5])/(?P<index>\d+)")


class RetailTasks:
    """The tasks of one split, made when they are asked for; the same for everybody.

    Args:
        base: The store.
        split: `train` or `test`.
        difficulty: Of all tasks; None: 1 to 5 in turn.

    Raises:
        UnknownNameError: There is no such split or difficulty.
    """

    def __init__(self, base: RetailBase, split: str, difficulty: int | None) -> None:
        if split not in SPLITS:
            raise UnknownNameError("split", split, SPLITS)
        if difficulty is not None and difficulty not in DIFFICULTIES:
            raise UnknownNameError("difficulty", difficulty, DIFFICULTIES)
        self.split, self.difficulty = split, difficulty
        self._base = base
        self._made = functools.lru_cache(maxsize=4096)(self._make)

    def __len__(self) -> int:
        return TASKS

    def __getitem__(self, index: int) -> Task:
        """The task at an index; raises UnknownNameError outside of 0 to len - 1."""
        if not (isinstance(index, int) and 0 <= index < TASKS):
            raise UnknownNameError("task index", index, [f"0 to {TASKS - 1}"])
        return self._made(index)

    def find(self, task_id: str) -> Task:
        """The task with that id; raises UnknownNameError when this split and difficulty has none of it."""
        match = _ID.fullmatch(task_id)
        if not match or task_id != self.task_id(int(match["index"])):
            raise UnknownNameError("task id", task_id, [self.task_id(0), self.task_id(1), "..."])
        return self[int(match["index"])]

    def task_id(self, index: int) -> str:
        """Names a task by split, difficulty and index."""
        return f"retail/{self.split}/{self.difficulty or 'any'}/{index}"

    def _make(self, index: int) -> Task:
        difficulty = self.difficulty or DIFFICULTIES[index % len(DIFFICULTIES)]
        stream = _STREAM + SPLITS.index(self.split) * 10 + difficulty
        draws = Draws(self._base.seed, stream, index)
        traits = draws.pick(_TRAITS[difficulty])
        count = draws.pick(_WISHES[difficulty])
        families = tuple(FAMILIES)
        first = families[index // (1 if self.difficulty else len(DIFFICULTIES)) % len(families)]
        for _ in range(_TRIES):
            wanted = [first, *(draws.pick(families) for _ in range(count - 1))]
            shopper = Shopper(self._base, self._customer(draws), draws, "forgetful" in traits)
            planned = _plan(shopper, wanted)
            if planned:
                return _task(self.task_id(index), shopper, planned, traits, first, difficulty)
        raise RuntimeError(f"no customer of {self._base.customers} fits the task {self.task_id(index)}")

    def _customer(self, draws: Draws) -> int:
        """A customer of the split."""
        groups = max(self._base.customers // _TEST_SHARE, 1)
        group = draws.below(groups) * _TEST_SHARE
        place = 0 if self.split == "test" else 1 + draws.below(_TEST_SHARE - 1)
        return min(group + place, self._base.customers - 1)


def _plan(shopper: Shopper, families: list[str]) -> list[Planned]:
    """A wish of each family, one after the other; empty when this customer cannot have them."""
    planned = []
    for family in families:
        wish = FAMILIES[family](shopper)
        if wish is None:
            return []
        planned.append(wish)
    return planned


def _task(
    task_id: str,
    shopper: Shopper,
    planned: list[Planned],
    traits: tuple[Trait, ...],
    family: str,
    difficulty: int,
) -> Task:
    wishes = tuple(each.wish for each in planned)
    goal = UserGoal(
        domain="retail",
        knows=_known(shopper, traits),
        wishes=wishes,
        lexicon=lexicon(shopper, wishes),
        traits=traits,
        conditions=_conditions(shopper.draws, wishes, difficulty),
    )
    facts = [wish.fact for wish in wishes if wish.fact]
    return Task(
        id=task_id,
        goal=goal,
        actions=(
            _identify(shopper, goal),
            *(call for each in planned for call in (*each.reads, *each.writes)),
        ),
        facts=tuple(map(_fact_text, facts)),
        family=family,
        difficulty=difficulty,
    )


def _fact_text(fact: Fact) -> str:
    return fact_forms(fact)[0]


def _known(shopper: Shopper, traits: tuple[Trait, ...]) -> dict[str, str]:
    """What a customer can say of themselves; forgetful ones do not know which e-mail address they gave."""
    first, last = shopper.base.name(shopper.customer)
    known = {"name": f"{first} {last}", "zip": shopper.base.address(shopper.row.address).zip}
    if "forgetful" not in traits:
        known["email"] = shopper.base.email(shopper.customer)
    return known


def _identify(shopper: Shopper, goal: UserGoal) -> ToolCall:
    if "email" in goal.knows:
        return ToolCall("find_user_id_by_email", {"email": goal.knows["email"]})
    first, last = shopper.base.name(shopper.customer)
    return ToolCall(
        "find_user_id_by_name_zip", {"first_name": first, "last_name": last, "zip": goal.knows["zip"]}
    )


def _conditions(draws: Draws, wishes: tuple[Wish, ...], difficulty: int) -> dict[str, Json]:
    """What the customer demands of every reply, in some of the harder tasks."""
    if difficulty < 4 or draws.below(2):
        return {}
    asks_amount = any(wish.fact and wish.fact.type == "amount" for wish in wishes)
    if asks_amount and draws.below(2):
        return {"only_the_total": True}
    match draws.below(4):
        case 0:
            return {"formal": True}
        case 1:
            return {"language": "English"}
        case _:
            return {"max_characters": draws.pick(_MAX_CHARACTERS)}
