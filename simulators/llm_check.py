"""Whether a reply of a model that plays the user can be used, and what is against it if not."""

import msgspec

from tool_envs.simulators import llm_prompt
from tool_envs.simulators.agenda_plan import plan
from tool_envs.simulators.human import acts_of
from tool_envs.simulators.llm_disclosure import given_away
from tool_envs.simulators.llm_ending import early_end
from tool_envs.simulators.llm_reply import Reply, Talk
from tool_envs.simulators.mentions import ids_in
from tool_envs.simulators.phrasing import Phrases
from tool_envs.simulators.user_failures import (
    UnusableReply,
    UserDisclosureError,
    UserHungUpError,
    UserMadeUpError,
)


def check_reply(reply: Reply, talk: Talk, phrases: Phrases) -> None:
    """Hold a reply to its form and to the goal; what cannot be decided for sure counts for the user.

    Args:
        reply: The reply.
        talk: What came before it.
        phrases: The domain's sentences.

    Raises:
        UnusableReply: It contradicts itself or comes too early; it names an id which the user does not know
            and was not told; it says what they keep to themselves (`llm_disclosure`); it hangs up before what
            they want was done or refused (`llm_ending`).
    """
    _check_form(reply, talk, phrases)
    made_up = _made_up_ids(reply.say, talk, phrases)
    if made_up:
        problem = f"`say` names {', '.join(made_up)}, which you do not know and were not told"
        raise UnusableReply(problem, UserMadeUpError)
    disclosed = given_away(reply, talk, phrases)
    if disclosed:
        raise UnusableReply(disclosed, UserDisclosureError)
    against = early_end(reply, talk, phrases) if reply.ended else ""
    if against:
        raise UnusableReply(against, UserHungUpError)


def _check_form(reply: Reply, talk: Talk, phrases: Phrases) -> None:
    if not (reply.say.strip() or reply.ended):
        raise UnusableReply("`say` is empty")
    if reply.agrees_to is not None and reply.agrees_to.tool not in phrases.deeds:
        raise UnusableReply("`agrees_to` names no tool of the list")
    if not talk.heard and (reply.ended or reply.agrees_to is not None):
        raise UnusableReply("nothing was proposed yet, and the conversation has not ended")
    if talk.heard and reply.agrees_to is None and _says_yes(reply, talk, phrases):
        raise UnusableReply("`say` says yes to the proposal and `agrees_to` does not; make them agree")


def _says_yes(reply: Reply, talk: Talk, phrases: Phrases) -> bool:
    acts = acts_of(reply.say, talk.heard[-1], talk.goal, phrases)
    return any(act["act"] == "affirm" and act["tool"] for act in acts)


def _made_up_ids(text: str, talk: Talk, phrases: Phrases) -> list[str]:
    """The ids in a text that stand neither in what the user is told of themselves nor in what they heard.

    Who changes their mind may name all that would be right: it is another such thing that they turn to.
    """
    known = " ".join([llm_prompt.instructions(talk.goal, phrases), *talk.heard]).lower()
    if "changes_mind" in talk.goal.traits:
        nodes, _ = plan(talk.goal, phrases)
        known += msgspec.json.encode([node.wish.accepted for node in nodes]).decode().lower()
    named = dict.fromkeys(one.value for one in ids_in(text.lower(), phrases.language))
    return [value for value in named if value.lower().lstrip("#") not in known]
