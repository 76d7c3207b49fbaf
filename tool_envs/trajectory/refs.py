"""What our documents (records, slices, manifests, rubrics) refer to, and the parts that they are made of."""

from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from tool_envs.messages import Json

Name = Annotated[str, Meta(min_length=1)]
Sha256 = Annotated[str, Meta(pattern=r"^[0-9a-f]{64}\Z")]
Count = Annotated[int, Meta(ge=0)]


class Part(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A closed part of a document: what it does not declare is refused."""


class EnvRef(Part, frozen=True):
    """How to make the environment again; the version is the N of `Name-vN`."""

    id: Name
    version: Count | None
    kwargs: dict[str, Json]


class SchemaRef(Part, frozen=True):
    """The tools, and whose descriptions of them the agent saw."""

    domain: Name
    version: Name
    sha256: Sha256
    interface: Literal["ours", "upstream"]


class TaskRef(Part, frozen=True):
    """The task, without what solves it."""

    id: str
    digest: Sha256


class SimulatorRef(Part, frozen=True):
    """The simulated user."""

    name: Name
    version: Name
    digest: str


class DataRef(Part, frozen=True):
    """Digest of the data that all episodes start from, and the environment's `data_digest()` at the end."""

    base_digest: str
    final_digest: str


class TokenCounts(Part, frozen=True):
    """Tokens of all requests to a model: those sent, and those sampled."""

    prompt: Count
    completion: Count


class TokenUsage(Part, frozen=True):
    """Tokens of the models of agent and user; None: nobody counted them, or not all."""

    agent: TokenCounts | None = None
    user: TokenCounts | None = None


class AgentRef(Part, frozen=True):
    """Who acted, and the version under which the episode began: the first of `policy_versions`."""

    name: Name
    version: Name
