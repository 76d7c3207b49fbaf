"""Puts the airline together: data, tools, tasks, users, rules and grading in one bundle."""

import functools

from tool_envs.booking.arrays import BookingArrays
from tool_envs.booking.codes import record_json, state_digest
from tool_envs.booking.data import booking_base
from tool_envs.booking.desk import BOOKING_GRADER
from tool_envs.booking.oracle import decide
from tool_envs.booking.policy import policy_text
from tool_envs.booking.saboteurs import SABOTEURS
from tool_envs.booking.stepper.view import BookingRows
from tool_envs.booking.tasks import booking_tasks
from tool_envs.booking.toolkit import PAYMENTS_NAMES, booking_toolkit
from tool_envs.domain import Domain
from tool_envs.service.bundle import service_domain


@functools.lru_cache(maxsize=64)
def load_domain(
    schema_version: str,
    split: str,
    difficulty: int | None,
    customers: int,
    flights: int,
    data_seed: int,
    pool_size: int | None = None,
    user_model: str = "",
) -> Domain:
    """The bundle of one split, made once in a process; for `user_model` see `service_domain`.

    Raises:
        UnknownNameError: There is no such schema version, split or difficulty.
        UsageError: There cannot be so many customers, flights or tasks.
    """
    base = booking_base(customers, flights, data_seed)
    return service_domain(
        grader=BOOKING_GRADER,
        toolkit=booking_toolkit(schema_version),
        base=base,
        tasks=booking_tasks(base, split, difficulty, pool_size),
        policy_text=policy_text(),
        data_digest=state_digest,
        record_json=functools.partial(record_json, payments_name=PAYMENTS_NAMES[schema_version]),
        oracle=decide,
        saboteurs=SABOTEURS,
        load=load_domain,
        load_arguments=(
            schema_version,
            split,
            difficulty,
            customers,
            flights,
            data_seed,
            pool_size,
            user_model,
        ),
        arrays=BookingArrays(base),
        rows=BookingRows(base),
        user_model=user_model,
    )
