"""Who the agent talks to. Simulators know goals and sentences, never tools or databases.

A domain brings a `Phrases` with its `Language`; `UserGoal` and what stands in it are for the makers of tasks.
"""

from tool_envs.simulators.agenda import AgendaUser
from tool_envs.simulators.agent_voice import AgentVoice
from tool_envs.simulators.awaited import AwaitedUser
from tool_envs.simulators.goal import Fact, Trait, UserGoal, Value, Wish
from tool_envs.simulators.human import HumanUser
from tool_envs.simulators.issue import IssueUser
from tool_envs.simulators.language import IdPattern, Language, Verb, groups
from tool_envs.simulators.llm import LLMUser
from tool_envs.simulators.llm_reply import reply_contents
from tool_envs.simulators.llm_verify import recorded_verdicts
from tool_envs.simulators.model_user import ModelUser, RecordedModel, recorded_replies, without_thought
from tool_envs.simulators.phrasing import Phrases, Pool
from tool_envs.simulators.recorded import RecordedUser
from tool_envs.simulators.replay import ReplayUser
from tool_envs.simulators.turn import Turn, UserSimulator
from tool_envs.simulators.understanding import understand
from tool_envs.simulators.user_failures import USER_FAILURES, UnusableReply, UserReplyError

__all__ = [
    "USER_FAILURES",
    "AgendaUser",
    "AgentVoice",
    "AwaitedUser",
    "Fact",
    "HumanUser",
    "IdPattern",
    "IssueUser",
    "LLMUser",
    "Language",
    "ModelUser",
    "Phrases",
    "Pool",
    "RecordedModel",
    "RecordedUser",
    "ReplayUser",
    "Trait",
    "Turn",
    "UnusableReply",
    "UserGoal",
    "UserReplyError",
    "UserSimulator",
    "Value",
    "Verb",
    "Wish",
    "groups",
    "recorded_replies",
    "recorded_verdicts",
    "reply_contents",
    "understand",
    "without_thought",
]
