"""Pause, resume, and turns that were interrupted: nothing that was sampled is lost, changed or misnamed."""

import asyncio
import gc
import itertools
import pickle

import pytest
import toy_domain
from hypothesis import given, settings
from hypothesis import strategies as st

from tool_envs.chat import Usage
from tool_envs.errors import InfrastructureError, UsageError
from tool_envs.rollout import (
    Engine,
    Gate,
    GenerationInterruptedError,
    Interruptible,
    Pausable,
    Plan,
    PolicyOutput,
    Versions,
)
from tool_envs.trajectory.capture import PolicySetting
from tool_envs.trajectory.record import (
    PolicyRun,
    PolicyVersion,
    Sampling,
    Tokens,
)
from tool_envs.trajectory.tokens import prove_sampled, to_tokens

SETTING = PolicySetting(
    reference_policy=None,
    sampling=Sampling(temperature=1.0, top_p=1.0, seed=None, stop=()),
    tokenizer="0" * 64,
    chat_template="0" * 64,
)
PROMPT = (1, 2, 3)
HELLO = [{"role": "user", "content": "Hello"}]
PLACES = 1000

updates = st.lists(st.tuples(st.booleans(), st.integers(0, 12)), max_size=5)
"""Whether an update interrupts, and how many tokens after the one before it it comes."""


class Sampler:
    """A server that samples a token a tick; each tells its place in the turn and the weights that drew it."""

    name, setting = "sampler", SETTING

    def __init__(self, length=10):
        self.length, self.weights, self.running, self.sampled = length, 0, 0, 0

    async def act(self, messages, tools, partial):
        tokens = partial or Tokens((*PROMPT, len(messages) + len(tools)), (), ())
        begun = len(tokens.token_ids)
        self.running += 1
        try:
            while len(tokens.token_ids) < self.length:
                await asyncio.sleep(0)
                tokens = self.extend(tokens)
        except asyncio.CancelledError:
            await asyncio.sleep(0)  # as a server takes its time to stop
            raise GenerationInterruptedError(tokens, 0.25, self.usage(tokens, begun)) from None
        finally:
            self.running -= 1
        return PolicyOutput(action="Good day.", tokens=tokens, cost=0.5, usage=self.usage(tokens, begun))

    @staticmethod
    def usage(tokens, begun):
        return Usage(len(tokens.prompt_token_ids) + begun, len(tokens.token_ids) - begun)

    def extend(self, tokens):
        self.sampled += 1
        place = len(tokens.token_ids)
        token, logprob = PLACES * self.weights + place, -self.weights - place / PLACES
        return Tokens(tokens.prompt_token_ids, (*tokens.token_ids, token), (*tokens.logprobs, logprob))


class Scripted:
    """A policy that cannot go on with a turn. It notes that it was asked, and answers a tick later."""

    name, setting = "scripted", SETTING

    def __init__(self, output=None):
        self.sampled, self.output = 0, output or PolicyOutput(action="Good day.")

    async def act(self, *_request):
        self.sampled += 1
        await asyncio.sleep(0)
        return self.output


class Served:
    """A policy behind a gate, with the versions of it."""

    def __init__(self, policy, wrapper=Interruptible):
        self.server = policy
        self.versions, self.gate = Versions(PolicyVersion(version="step-0", number=0)), Gate()
        self.policy = wrapper(policy, self.versions, self.gate)

    def begin(self, messages=HELLO):
        return asyncio.ensure_future(self.policy.act(messages, []))

    async def update(self, interrupts=True):
        """What a trainer does."""
        self.gate.interrupt() if interrupts else self.gate.pause()
        await self.gate.idle()
        assert not self.server.running
        self.server.weights += 1
        self.versions.publish(f"step-{self.server.weights}")
        self.gate.resume()

    async def train(self, schedule):
        for interrupts, ticks in schedule:
            await wait(ticks)
            await self.update(interrupts)


async def wait(ticks):
    for _ in range(ticks):
        await asyncio.sleep(0)


def weights_of(runs):
    """The weights of each token, by what the turn says of itself."""
    return [int(run.version.removeprefix("step-")) for run in runs for _ in range(run.count)]


# --- Interrupted turns


@given(updates, st.integers(0, 12), st.integers(1, 3))
def test_an_interrupted_turn_is_whole_and_says_of_each_token_which_version_drew_it(schedule, length, count):
    async def play():
        served = Served(Sampler(length))
        turns, _ = await asyncio.gather(
            asyncio.gather(*(served.policy.act(HELLO, []) for _ in range(count))), served.train(schedule)
        )
        return served, turns

    served, turns = asyncio.run(play())

    assert served.server.sampled == count * length
    for turn in turns:
        weights = [token // PLACES for token in turn.tokens.token_ids]
        places = [token % PLACES for token in turn.tokens.token_ids]
        assert places == list(range(length))
        assert turn.tokens.prompt_token_ids == (*PROMPT, 1)
        assert list(turn.tokens.logprobs) == [-w - p / PLACES for w, p in zip(weights, places, strict=True)]
        assert weights_of(turn.policy_version) == weights == sorted(weights)


@settings(max_examples=30)
@given(updates, st.integers(1, 3))
def test_records_of_interrupted_rollouts_are_accepted_and_their_tokens_are_proven(schedule, concurrency):
    ended = []

    async def play():
        served = Served(Sampler())
        plan = Plan(range(2), 2)
        engine = Engine(toy_domain.ENV_ID, {}, served.policy, served.versions, plan, concurrency=concurrency)
        await asyncio.gather(engine.run(lambda episode, _: ended.append(episode)), served.train(schedule))
        return served.server.sampled

    count = asyncio.run(play())

    sampled = []
    for sequence in itertools.chain.from_iterable(proven(episode.record) for episode in ended):
        sampled += [pair for pair in zip(sequence.input_ids, sequence.versions, strict=True) if pair[1] >= 0]
    assert all(token // PLACES == version for token, version in sampled)
    assert len(sampled) == count


def proven(record):
    sequences = to_tokens(record)
    prove_sampled(record, sequences)
    return sequences


def test_what_interrupted_requests_cost_is_paid():
    async def play():
        served = Served(Sampler())
        turn = served.begin()
        await served.train([(True, 3), (True, 3)])
        return await turn

    turn = asyncio.run(play())

    assert [run.version for run in turn.policy_version] == ["step-0", "step-1", "step-2"]
    assert turn.cost == 0.25 + 0.25 + 0.5
    begun = itertools.accumulate([run.count for run in turn.policy_version[:-1]], initial=0)
    assert turn.usage == Usage(sum(len(turn.tokens.prompt_token_ids) + each for each in begun), 10)


def test_a_turn_that_is_interrupted_without_an_update_is_of_one_version():
    async def play():
        served = Served(Sampler())
        turn = served.begin()
        await wait(4)
        served.gate.interrupt()
        await served.gate.idle()
        served.gate.resume()
        return await turn

    assert asyncio.run(play()).policy_version == (PolicyRun(version="step-0", count=10),)


def test_interrupting_again_leaves_a_request_that_is_ending_alone():
    async def play():
        served = Served(Sampler())
        turn = served.begin()
        await wait(4)
        served.gate.interrupt()
        await wait(1)
        served.gate.interrupt()
        await served.gate.idle()
        served.gate.resume()
        await turn
        return served.server.sampled

    assert asyncio.run(play()) == 10


def test_a_policy_that_lets_the_cancellation_through_begins_the_request_again():
    class Forgetful(Sampler):
        async def act(self, messages, tools, partial):
            try:
                return await super().act(messages, tools, partial)
            except GenerationInterruptedError:
                raise asyncio.CancelledError from None

    async def play():
        served = Served(Forgetful())
        turn = served.begin()
        await served.train([(True, 4)])
        return await turn

    assert asyncio.run(play()).policy_version == (PolicyRun(version="step-1", count=10),)


CHANGES = {
    "logprobs": lambda t: Tokens(t.prompt_token_ids, t.token_ids, (-9.0, *t.logprobs[1:])),
    "tokens": lambda t: Tokens(t.prompt_token_ids, (9, *t.token_ids[1:]), t.logprobs),
    "prompt": lambda t: Tokens((*t.prompt_token_ids, 9), t.token_ids, t.logprobs),
    "length": lambda t: Tokens(t.prompt_token_ids, t.token_ids[:1], t.logprobs[:1]),
    "nothing": lambda _: None,
}


@pytest.mark.parametrize("change", CHANGES)
def test_a_policy_that_changes_what_was_sampled_is_refused(change):
    class Changing(Sampler):
        async def act(self, messages, tools, partial):
            output = await super().act(messages, tools, partial)
            return PolicyOutput(action=output.action, tokens=CHANGES[change](output.tokens))

    async def play():
        served = Served(Changing())
        turn = served.begin()
        await served.train([(True, 4)])
        await turn

    with pytest.raises(UsageError, match=r"partial|interrupted"):
        asyncio.run(play())


def test_a_policy_that_names_versions_itself_is_refused():
    class Naming(Sampler):
        async def act(self, *_request):
            return PolicyOutput(action="", policy_version=(PolicyRun(version="mine", count=None),))

    with pytest.raises(UsageError, match="policy_version"):
        asyncio.run(Served(Naming()).policy.act(HELLO, []))


# --- Pause


@pytest.mark.parametrize(("policy", "wrapper"), [(Sampler, Interruptible), (Scripted, Pausable)])
def test_while_paused_no_turn_is_asked_for_and_then_it_is_of_the_version_in_force(policy, wrapper):
    async def play():
        served = Served(policy(), wrapper)
        served.gate.pause()
        turn = served.begin()
        await wait(20)
        assert not served.server.sampled
        served.versions.publish("step-1")
        served.gate.resume()
        served.gate.pause()  # before it has woken up
        await wait(20)
        assert not served.server.sampled
        served.versions.publish("step-2")
        served.gate.resume()
        return await turn

    assert [run.version for run in asyncio.run(play()).policy_version] == ["step-2"]


@pytest.mark.parametrize("interrupts", [False, True])
def test_running_turns_of_a_policy_that_cannot_go_on_with_them_are_finished_before_an_update(interrupts):
    async def play():
        served = Served(Scripted(), Pausable)
        turn = served.begin()
        await wait(1)
        served.gate.interrupt() if interrupts else served.gate.pause()
        await served.gate.idle()
        await wait(2)
        return turn.result()

    assert asyncio.run(play()).policy_version == (PolicyRun(version="step-0", count=None),)


def test_a_policy_that_cannot_be_interrupted_may_name_versions_itself():
    runs = (PolicyRun(version="a", count=1), PolicyRun(version="b", count=1))
    output = PolicyOutput(action="", tokens=Tokens(PROMPT, (1, 2), (0.0, 0.0)), policy_version=runs)

    assert asyncio.run(Served(Scripted(output), Pausable).policy.act(HELLO, [])) == output


def test_tokens_are_counted_for_the_version_that_drew_them():
    output = PolicyOutput(action="", tokens=Tokens(PROMPT, (1, 2), (0.0, 0.0)))

    turn = asyncio.run(Served(Scripted(output), Pausable).policy.act(HELLO, []))

    assert turn.policy_version == (PolicyRun(version="step-0", count=2),)


def test_a_gate_stays_in_its_process():
    with pytest.raises(TypeError, match="process"):
        pickle.dumps(Gate())


# --- Ends of another kind


@pytest.mark.parametrize("ticks", [0, 1, 5])
def test_who_gives_an_episode_up_is_obeyed_and_its_request_ends(ticks):
    complaints = []

    async def play():
        asyncio.get_running_loop().set_exception_handler(lambda _, context: complaints.append(context))
        served = Served(Sampler())
        turn = served.begin()
        await wait(ticks)
        turn.cancel()
        with pytest.raises(asyncio.CancelledError):
            await turn
        await served.gate.idle()
        gc.collect()
        return served.server.running, served.server.sampled

    running, sampled = asyncio.run(play())

    assert running == 0
    assert sampled <= ticks
    assert complaints == []


@pytest.mark.parametrize("failure", [InfrastructureError("down"), asyncio.CancelledError("by itself")])
def test_a_failure_of_the_policy_is_that_of_the_turn(failure):
    failures = iter([failure])

    class Failing(Sampler):
        async def act(self, *_request):
            raise next(failures)

    async def play():
        with pytest.raises(type(failure)):
            await Served(Failing()).policy.act(HELLO, [])

    asyncio.run(play())
