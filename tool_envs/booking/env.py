"""`tool_envs/Booking-v0`: an airline of our own, with endless tasks."""

import functools
from typing import Literal

from tool_envs.booking.domain import load_domain
from tool_envs.messages import Json
from tool_envs.service.bundle import ServiceEnv
from tool_envs.service.user_model import user_model_text
from tool_envs.vector import ToolVectorEnv


class BookingEnv(ServiceEnv):
    """Customer service of an airline: endless tasks whose flights, prices and payments must be worked out.

    ## Description
    The agent finds out who the customer is, searches flights, looks up reservations, proposes what fits all
    that the customer said, waits for a yes, acts, and says no where the rules demand it. Data, tasks and
    users are generated; nothing needs a network. It is always 2025-06-30 15:00 EST.

    ## Action Space
    `ToolCallSpace` of the booking schema in one of its versions.

    ## Observation Space
    `MessageSpace`. A tool answers with a JSON object: its result, or `{"error": {"code", "message"}}`.

    ## Rewards
    1.0 when every component of the ledger is met, else 0.0: `end_state` (one of the accepted ones),
    `facts_told` (each question answered after it was asked, from what was looked up), `told_no`
    (each wish that cannot be fulfilled was looked up and refused), `conditions` (the customer's own demands
    of the answers), `rules` (none broken).

    ## Starting State
    A task of the split; the customer has brought up their first wish.

    ## Episode End
    Terminated when the customer hangs up or the agent transfers; truncated after `max_steps` actions.

    ## Information
    As `ToolEnv`.

    ## Arguments
    * `schema_version`: `1.0.0`; `1.1.0` adds `get_flight_status`; `2.0.0` calls `payment_methods` `payments`.
    * `split`: `train` or `test`; they share no customer.
    * `difficulty`: 1 (one wish) to 5 (compounds, difficult customers); None: all in turn.
    * `user`: `agenda`; `replay`, who says `options["user_turns"]`; `human`, a person at the terminal; `llm`,
      a language model.
    * `user_model`, `user_base_url`, `user_api_key_env`, `user_arguments`, `user_client`: of the user `llm`,
      the model's name, its server, the environment variable that holds the key, what each request holds
      (`{"temperature": 0.7}`), and how it is asked (`tool_envs.service.user_model.ClientOptions`).
    * `user_verifier`: a model on that server, perhaps the same, which is asked of each reply of the user
      `llm` whether they stay in their role; None: nobody is.
    * `customers`, `flights`, `data_seed`: size and seed of the airline.
    * `pool_size`: only the first so many tasks; None: all of them.
    * `max_steps`, `parallel_calls`, `process`, `render_mode`: as `ToolEnv`.

    ## References
    Yao et al., tau-bench, 2024, for the tools; Schatzmann et al., Agenda-based user simulation, 2007.

    ## Version History
    * v0: first version.
    """

    def __init__(
        self,
        schema_version: str = "1.0.0",
        split: str = "train",
        difficulty: int | None = None,
        user: str = "agenda",
        customers: int = 500,
        flights: int = 300,
        data_seed: int = 0,
        pool_size: int | None = None,
        user_model: str | None = None,
        user_base_url: str | None = None,
        user_api_key_env: str | None = None,
        user_arguments: dict[str, Json] | None = None,
        user_client: dict[str, Json] | None = None,
        user_verifier: str | None = None,
        max_steps: int = 60,
        parallel_calls: Literal["run", "refuse"] = "run",
        process: str | None = None,
        render_mode: str | None = None,
    ) -> None:
        model = user_model_text(
            user, user_model, user_base_url, user_api_key_env, user_arguments, user_client, user_verifier
        )
        super().__init__(
            load_domain(schema_version, split, difficulty, customers, flights, data_seed, pool_size, model),
            user=user,
            max_steps=max_steps,
            parallel_calls=parallel_calls,
            process=process,
            render_mode=render_mode,
        )


BookingVectorEnv = functools.partial(ToolVectorEnv, "tool_envs/Booking-v0")
"""Many of them, for `gymnasium.make_vec`."""
