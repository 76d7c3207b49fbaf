"""A language model plays the user."""

from collections.abc import Mapping

from tool_envs.chat import ChatModel, ChatReply
from tool_envs.messages import Json
from tool_envs.simulators import llm_prompt, llm_verify
from tool_envs.simulators.agenda import checked_goal
from tool_envs.simulators.agenda_plan import wish_act
from tool_envs.simulators.goal import UserGoal
from tool_envs.simulators.human import acts_of, proposal_of
from tool_envs.simulators.llm_check import check_reply
from tool_envs.simulators.llm_reply import Reply, as_text, decode, meant_arguments
from tool_envs.simulators.model_user import ModelUser
from tool_envs.simulators.phrasing import Phrases
from tool_envs.simulators.turn import Turn
from tool_envs.simulators.user_failures import UnusableReply, UserRoleError


class LLMUser(ModelUser[UserGoal, Reply]):
    """A user whose words a language model chooses, told what they want, know and are like.

    Their yes is said apart from the words, in `agrees_to`: a tool, and the arguments as they stand in the
    agent's proposal, with what the user adds where that is one of the values that could come up with them. A
    no and what they name are read from the words. A reply in another form cannot be used, nor one that leaves
    the goal, as `check_reply` or the verifier finds.

    Args:
        phrases: The sentences of the domain.
        source: Where replies come from.
        arguments: See `ModelUser`.
        verifier: Where verdicts on each reply come from, asked with the same arguments; None: there are none.
    """

    name = "llm"
    version = "1.1.0"

    def __init__(
        self,
        phrases: Phrases,
        source: ChatModel,
        arguments: Mapping[str, Json] | None = None,
        verifier: ChatModel | None = None,
    ) -> None:
        super().__init__(source, arguments)
        self._phrases, self._verifier = phrases, verifier

    async def areset(self, goal: Json, key: int) -> Turn:
        """The first turn. All wishes count as brought up by it.

        Raises:
            UsageError: The goal is not one, or not of this domain.
            InfrastructureError: The model could not be reached, or gave no reply that can be used.
        """
        wanted = checked_goal(goal, self._phrases)
        reply = await self._begin(wanted, key)
        acts = [wish_act(wish, number) for number, wish in enumerate(wanted.wishes)]
        return Turn(reply.say, tuple(acts))

    async def arespond(self, agent_text: str) -> Turn:
        """The turn after that.

        Raises:
            UsageError: There is no episode.
            InfrastructureError: The model could not be reached, or gave no reply that can be used.
        """
        reply = await self._answer(agent_text)
        acts = _acts(reply, agent_text, self._talking.goal, self._phrases)
        return Turn(reply.say, (*acts, {"act": "bye"}) if reply.ended else tuple(acts), reply.ended)

    def _prompts(self) -> dict[str, Json]:
        names = {"nouns": self._phrases.nouns, "tools": sorted(self._phrases.deeds)}
        said = {name: list(pool) for name, pool in self._phrases.conditions.items()}
        prompts = [
            llm_prompt.ROLE,
            llm_prompt.FORM,
            llm_prompt.FIRST,
            llm_prompt.AGAIN,
            dict(llm_prompt.TRAITS),
        ]
        verifying = {"verifier": llm_verify.setting(self._verifier.model)} if self._verifier else {}
        return {"prompts": prompts, "domain": {**names, "conditions": said}, **verifying}

    def _opening(self, goal: UserGoal) -> list[dict[str, Json]]:
        return [
            {"role": "system", "content": llm_prompt.instructions(goal, self._phrases)},
            {"role": "user", "content": llm_prompt.FIRST},
        ]

    def _content(self, reply: Reply) -> str:
        return as_text(reply)

    def _complain(self, reply: ChatReply, problem: UnusableReply) -> list[dict[str, Json]]:
        return _complaint(reply, llm_prompt.AGAIN, problem)

    def _form(self) -> dict[str, Json]:
        return llm_prompt.reply_format(self._talking.goal, self._phrases, first=not self._talking.heard)

    def _read(self, reply: ChatReply) -> Reply:
        said = decode(reply.text, Reply)
        check_reply(said, self._talking, self._phrases)
        return said

    async def _verify(self, said: Reply) -> None:
        if self._verifier is None:
            return
        verdict = await self._ask_twice(
            self._verifier,
            llm_verify.questions(said, self._talking, self._phrases),
            llm_verify.FORM,
            lambda answer, problem: _complaint(answer, llm_verify.AGAIN, problem),
            llm_verify.read_verdict,
        )
        if not verdict.stays_in_role:
            raise UnusableReply(f"it is not what this customer would say: {verdict.why}", UserRoleError)


def _complaint(reply: ChatReply, again: str, problem: UnusableReply) -> list[dict[str, Json]]:
    asked = again.format(problem=problem)
    return [{"role": "assistant", "content": reply.text}, {"role": "user", "content": asked}]


def _acts(reply: Reply, agent_text: str, goal: UserGoal, phrases: Phrases) -> list[Json]:
    """The acts of a reply: a yes from what it agrees to, all else from its words."""
    if reply.agrees_to is None:
        return [act for act in acts_of(reply.say, agent_text, goal, phrases) if act["act"] != "affirm"]
    tool, proposed = proposal_of(agent_text, goal, phrases)
    added = meant_arguments(reply.agrees_to, goal)
    arguments = {**proposed, **added} if tool == reply.agrees_to.tool else added
    return [{"act": "affirm", "tool": reply.agrees_to.tool, "arguments": arguments}]
