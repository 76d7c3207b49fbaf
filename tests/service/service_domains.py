"""The domains of customer service, for tests that hold for each of them."""

from typing import Any, NamedTuple

from tool_envs.booking.data import booking_base
from tool_envs.booking.desk import BOOKING_GRADER
from tool_envs.booking.tasks import booking_tasks
from tool_envs.retail.data import retail_base
from tool_envs.retail.desk import RETAIL_GRADER
from tool_envs.retail.tasks import retail_tasks
from tool_envs.service.tasks import GeneratedTasks


class Subject(NamedTuple):
    """One domain: its id, data, grader, and how its tasks are made."""

    env_id: str
    base: Any
    grader: Any
    make: Any
    families: int
    fewest: int  # actions of the shortest task

    def tasks(self, split="test", difficulty=None) -> GeneratedTasks:
        return self.make(self.base, split, difficulty)


SUBJECTS = {
    "retail": Subject("tool_envs/Retail-v0", retail_base(), RETAIL_GRADER, retail_tasks, 9, 5),
    "booking": Subject("tool_envs/Booking-v0", booking_base(), BOOKING_GRADER, booking_tasks, 11, 3),
}
VERSIONS = ("1.0.0", "1.1.0", "2.0.0")
