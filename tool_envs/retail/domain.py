"""Puts the store together: data, tools, tasks, users, rules and grading in one bundle."""

import functools

from tool_envs.domain import Domain
from tool_envs.retail.arrays import RetailArrays
from tool_envs.retail.codes import record_json, state_digest
from tool_envs.retail.data import retail_base
from tool_envs.retail.desk import RETAIL_GRADER
from tool_envs.retail.letters import praised_in
from tool_envs.retail.oracle import decide
from tool_envs.retail.rules import policy_text
from tool_envs.retail.saboteurs import SABOTEURS
from tool_envs.retail.stepper.view import RetailRows
from tool_envs.retail.tasks import retail_tasks
from tool_envs.retail.toolkit import ZIP_NAMES, retail_toolkit
from tool_envs.retail.wishes import UNRULED
from tool_envs.service.bundle import service_domain


@functools.lru_cache(maxsize=64)
def load_domain(
    schema_version: str,
    split: str,
    difficulty: int | None,
    customers: int,
    data_seed: int,
    pool_size: int | None = None,
    family: str | None = None,
    user_model: str = "",
) -> Domain:
    """The bundle of one split, made once in a process. There is no array view of letters.

    For `user_model` see `service_domain`.

    Raises:
        UnknownNameError: There is no such schema version, split, difficulty or family.
        UsageError: There cannot be so many customers, or tasks.
    """
    base = retail_base(customers, data_seed)
    as_arrays = family not in UNRULED
    return service_domain(
        grader=RETAIL_GRADER,
        toolkit=retail_toolkit(schema_version),
        base=base,
        tasks=retail_tasks(base, split, difficulty, pool_size, family),
        policy_text=policy_text(),
        data_digest=state_digest,
        record_json=functools.partial(record_json, zip_name=ZIP_NAMES[schema_version]),
        oracle=decide,
        saboteurs=SABOTEURS,
        load=load_domain,
        load_arguments=(
            schema_version,
            split,
            difficulty,
            customers,
            data_seed,
            pool_size,
            family,
            user_model,
        ),
        arrays=RetailArrays(base) if as_arrays else None,
        rows=RetailRows(base) if as_arrays else None,
        praised=praised_in,
        user_model=user_model,
    )
