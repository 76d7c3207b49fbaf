"""Versions in order, the admission rule, and what it bounds under which choice for stale episodes."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tool_envs.errors import UsageError
from tool_envs.rollout import Admission, Batches, Versions
from tool_envs.trajectory.record import PolicyVersion

BASE = PolicyVersion(version="base", number=0)

sizes = st.integers(1, 4)
stalenesses = st.integers(0, 4)
stale_policies = st.sampled_from(["continue", "restart", "keep"])
moves = st.sampled_from(["admit", "admit", "finish", "finish", "fail", "train", "publish"])
schedules = st.lists(st.tuples(moves, st.integers(0, 11)), max_size=200) | st.lists(
    st.sampled_from([("admit", 0), ("finish", -1), ("train", 0), ("publish", 0)]), min_size=50, max_size=200
)
"""Any events; or of a run in which the newest episodes end first, so that old ones outlive updates."""


class Run:
    """Rollouts and a trainer, moved event by event. A running episode is the number of its head version."""

    def __init__(self, stale, batch_size, max_staleness, max_concurrent):
        self.stale, self.versions = stale, Versions(BASE)
        self.admission = Admission(batch_size, max_staleness, max_concurrent)
        self.batches = Batches(self.admission, stale)
        self.running, self.is_training, self.ages = [], False, []

    @property
    def version(self):
        return self.versions.current.number

    def play(self, schedule):
        """Events that cannot be at their time are passed over."""
        for event, choice in schedule:
            getattr(self, event)(choice)
        return self

    def admit(self, _choice=0):
        if self.admission.capacity(self.version):
            self.admission.admit()
            self.running.append(self.version)

    def finish(self, choice=0):
        if self.running:
            head = self.running.pop(choice % len(self.running))
            self.batches.put(head, head)

    def fail(self, choice=0):
        if self.running:
            self.running.pop(choice % len(self.running))
            self.admission.reject()

    def train(self, _choice=0):
        batch = () if self.is_training else self.batches.take(self.version)
        self.is_training = self.is_training or bool(batch)
        self.ages += [self.version - head for head in batch]

    def publish(self, _choice=0):
        if not self.is_training:
            return
        self.versions.publish(f"step-{self.version + 1}")
        self.is_training = False
        self.batches.expire(self.version)
        too_old = [head for head in self.running if self.admission.is_stale(head, self.version)]
        for head in too_old if self.stale == "restart" else ():
            self.running.remove(head)
            self.admission.reject()


# --- Versions


@given(st.integers(0, 9), st.lists(st.text(min_size=5), unique=True, max_size=5))
def test_numbers_go_up_by_one_and_since_gives_those_from_a_number_on(first, names):
    versions = Versions(PolicyVersion(version="base", number=first))

    published = [versions.publish(name) for name in names]

    assert [version.version for version in published] == names
    assert [version.number for version in published] == list(range(first + 1, first + 1 + len(names)))
    every = versions.since(0)
    assert (every[0].version, *every[1:]) == ("base", *published)
    assert versions.current == every[-1]
    assert all(versions.since(version.number) == every[place:] for place, version in enumerate(every))


@given(st.lists(st.integers(0, 9)))
def test_who_follows_takes_over_what_is_newer_and_nothing_else(numbers):
    versions, told = Versions(BASE), []
    stop = versions.tell(told.append)

    for number in numbers:
        versions.follow(PolicyVersion(version=f"step-{number}", number=number))
    stop()
    versions.publish("last")

    newer = [number for place, number in enumerate(numbers) if number > max([0, *numbers[:place]])]
    assert [version.number for version in told] == newer
    assert versions.since(1) == (*told, versions.current)


@pytest.mark.parametrize("name", ["", "base", "step-1"])
def test_a_version_without_a_name_of_its_own_is_refused(name):
    versions = Versions(BASE)
    versions.publish("step-1")

    with pytest.raises(UsageError, match="version"):
        versions.publish(name)

    assert versions.current == PolicyVersion(version="step-1", number=1)


# --- The rule


@given(sizes, stalenesses, st.integers(1, 12), schedules)
def test_capacity_is_the_published_formula_and_is_never_overdrawn(size, staleness, concurrent, schedule):
    run = Run("continue", size, staleness, concurrent)

    for event in schedule:
        run.play([event])

        rule, version = run.admission, run.version
        left = (staleness + version + 1) * size - (rule.accepted + rule.running)
        assert rule.capacity(version) == min(concurrent - rule.running, left) >= 0
        assert rule.running == len(run.running)
        assert rule.accepted == len(run.ages) + len(run.batches)


@given(sizes, stalenesses, st.integers(1, 12), stale_policies, schedules)
def test_a_run_never_comes_to_a_standstill(size, staleness, concurrent, stale, schedule):
    """From wherever it is, beginning and ending episodes gives the trainer its next batch."""
    run = Run(stale, size, staleness, concurrent).play(schedule)
    run.publish()
    before = len(run.ages)

    run.play([("admit", 0), ("finish", 0)] * size + [("train", 0)])

    assert len(run.ages) == before + size


@given(sizes, st.integers(1, 12), stale_policies, schedules)
def test_without_staleness_all_are_trained_on_by_the_version_that_they_began_with(
    size, concurrent, stale, schedule
):
    assert set(Run(stale, size, 0, concurrent).play(schedule).ages) <= {0}


@given(sizes, stalenesses, st.integers(1, 12), schedules)
def test_under_restart_no_batch_breaks_the_bound(size, staleness, concurrent, schedule):
    run = Run("restart", size, staleness, concurrent).play(schedule)

    assert max(run.ages, default=0) <= staleness


@pytest.mark.parametrize("stale", ["continue", "keep"])
def test_admission_alone_does_not_bound_the_age_of_one_that_outlives_updates(stale):
    run = Run(stale, batch_size=1, max_staleness=1, max_concurrent=2)
    update = [("admit", 0), ("finish", 1), ("train", 0), ("publish", 0)]

    run.play([("admit", 0), *update * 5, ("finish", 0), ("train", 0)])

    assert run.ages == [0, 0, 0, 0, 0, 5]


def test_one_that_ends_while_the_trainer_is_busy_may_grow_too_old_as_it_waits():
    run = Run("restart", batch_size=1, max_staleness=1, max_concurrent=2)
    update = [("admit", 0), ("finish", 1), ("train", 0)]

    run.play([("admit", 0), *update, ("publish", 0), *update, ("finish", 0)])

    assert (len(run.batches), run.admission.accepted) == (1, 3)
    run.publish()
    assert (len(run.batches), run.admission.accepted) == (0, 2)


def test_a_batch_with_one_that_is_too_old_is_refused():
    rule = Admission(batch_size=1, max_staleness=1, max_concurrent=1)
    batches = Batches(rule, "restart")
    rule.admit()
    batches.put(0, "old")

    with pytest.raises(UsageError, match="expire"):
        batches.take(2)

    assert batches.expire(2) == ("old",)
    assert batches.take(2) == ()


@given(st.lists(st.integers(0, 5), min_size=1, max_size=12))
def test_those_with_the_oldest_head_come_first_and_of_one_head_in_the_order_in_which_they_came(heads):
    rule = Admission(batch_size=len(heads), max_staleness=5, max_concurrent=len(heads))
    batches = Batches(rule, "keep")
    for place, head in enumerate(heads):
        rule.admit()
        batches.put(head, (head, place))

    assert list(batches.take(5)) == sorted((head, place) for place, head in enumerate(heads))


# --- Resume, and nonsense


@given(sizes, stalenesses, st.integers(1, 12), schedules)
def test_a_state_restores_what_was_accepted_and_lets_the_running_begin_again(
    size, staleness, concurrent, schedule
):
    run = Run("continue", size, staleness, concurrent).play(schedule)
    while run.running:
        run.fail()
    again = Admission(size, staleness, concurrent)

    again.load_state_dict(run.admission.state_dict())

    assert again.capacity(run.version) == run.admission.capacity(run.version)
    assert again.state_dict() == run.admission.state_dict()


@given(sizes, stalenesses, st.integers(1, 12), st.integers(0, 20))
def test_after_a_recovery_all_batches_before_the_version_were_accepted(size, staleness, concurrent, version):
    rule = Admission(size, staleness, concurrent)

    rule.recover(version)

    assert (rule.accepted, rule.running) == (version * size, 0)
    assert rule.capacity(version) == min(concurrent, (staleness + 1) * size)


@pytest.mark.parametrize(
    "numbers", [(0, 0, 1), (1, -1, 1), (1, 0, 0), (1.0, 0, 1), (1, True, 1), (1, 0, "2")]
)
def test_numbers_that_are_none_are_refused(numbers):
    with pytest.raises(UsageError, match="is an integer of at least"):
        Admission(*numbers)


@pytest.mark.parametrize("move", ["accept", "reject", "withdraw"])
def test_what_was_not_there_cannot_end(move):
    with pytest.raises(UsageError, match="No episode"):
        getattr(Admission(1, 0, 1), move)()


def test_more_than_may_run_at_once_are_refused():
    rule = Admission(batch_size=2, max_staleness=0, max_concurrent=1)
    rule.admit()

    with pytest.raises(UsageError, match="capacity"):
        rule.admit()


@pytest.mark.parametrize(
    "state", [{}, {"accepted": 1}, {"batch_size": 2, "accepted": 1}, {"batch_size": 1, "accepted": -1}]
)
def test_a_state_of_another_form_or_batch_size_is_refused(state):
    rule = Admission(1, 0, 1)

    with pytest.raises(UsageError):
        rule.load_state_dict(state)

    assert rule.state_dict() == {"batch_size": 1, "accepted": 0}
