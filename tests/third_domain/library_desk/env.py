"""`library_tests/Library-v0`: the desk of a public library."""

import functools
from typing import Any

from library_desk.data import library_base
from library_desk.desk import GRADER
from library_desk.oracle import decide
from library_desk.rules import POLICY
from library_desk.saboteurs import SABOTEURS
from library_desk.tasks import library_tasks
from library_desk.tools import TOOLKIT
from tool_envs.database import Database
from tool_envs.domain import Domain
from tool_envs.service.bundle import ServiceEnv, service_domain
from tool_envs.service.user_model import user_model_text


@functools.cache
def load_domain(split: str, difficulty: int | None, user_model: str = "") -> Domain:
    """The bundle of one split, made once in a process."""
    return service_domain(
        grader=GRADER,
        toolkit=TOOLKIT,
        base=library_base(),
        tasks=library_tasks(split, difficulty),
        policy_text=POLICY,
        data_digest=Database.digest,
        oracle=decide,
        saboteurs=SABOTEURS,
        load=load_domain,
        load_arguments=(split, difficulty, user_model),
        user_model=user_model,
    )


class LibraryEnv(ServiceEnv):
    """The desk of a public library: renew, return and reserve books, and answer questions about loans."""

    def __init__(
        self,
        split: str = "train",
        difficulty: int | None = None,
        user: str = "agenda",
        user_model: str | None = None,
        user_base_url: str | None = None,
        user_arguments: dict[str, Any] | None = None,
        max_steps: int = 50,
        **options: Any,
    ) -> None:
        model = user_model_text(user, user_model, user_base_url, arguments=user_arguments)
        super().__init__(load_domain(split, difficulty, model), user=user, max_steps=max_steps, **options)
