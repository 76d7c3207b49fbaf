"""Rows of a task and its episode in which nothing is wanted, said or done yet."""

from tool_envs.booking.rows import MAX_METHODS, MAX_SEGMENTS, Customer
from tool_envs.booking.scene.blank import (
    blank_trip,
    nothing_said,
    nothing_shown,
    nothing_wanted,
    open_draft,
)
from tool_envs.booking.scene.sight import MAX_TRIPS
from tool_envs.booking.stepper.rows import MAX_MOVED, UNKNOWN_WRITES, Aim, Due, Lane, Room, no_call
from tool_envs.service.wishes import MAX_ACCEPTED
from tool_envs.simulators.agenda_core import MAX_TURNS, Heard, State, Step


def blank_lane(customer: Customer) -> Lane:
    """An episode in which nothing was said or done yet."""
    return Lane(
        sight=nothing_shown(),
        customer=customer,
        state=State(),
        draft=open_draft(),
        possible=UNKNOWN_WRITES,
        numbers=[-1] * MAX_METHODS,
        yeses=[-1] * MAX_TURNS,
        moved=[-1] * MAX_MOVED,
        seats=[0] * MAX_MOVED,
        shown_at=[-1] * MAX_TRIPS,
        asked=0,
        told=0,
        taken=0,
        read=0,
        searched=0,
        read_profile=0,
        case=-1,
        reasons=0,
        complained=0,
        claimed=0,
        written=-1,
        written_trip=-1,
        written_origin=-1,
        written_destination=-1,
        written_amount=-1,
        done=0,
        wrong=0,
        broken=0,
        reward=0,
    )


def new_room() -> Room:
    """Room to work in."""
    return Room(
        heard=Heard(),
        step=Step(),
        said=nothing_said(),
        wanted=nothing_wanted(),
        proposed=open_draft(),
        call=no_call(),
        wrong=0,
        added=0,
        trip=blank_trip(),
        other=blank_trip(),
        status=[0] * MAX_SEGMENTS,
        free=[0] * MAX_SEGMENTS,
        old_status=[0] * MAX_SEGMENTS,
        tells=-1,
    )


def no_aim() -> Aim:
    """What stands behind the last step of an agenda."""
    return Aim(
        number=-1,
        tool=-1,
        fact=0,
        asks=0,
        complains=0,
        reason=-1,
        accepted=0,
        worded=0,
        opening=nothing_said(),
        opening_wanted=nothing_wanted(),
        words=nothing_wanted(),
        flight_days=[-1, -1],
        calls=[no_call() for _ in range(MAX_ACCEPTED)],
    )


def no_due() -> Due:
    """What stands behind the last wish."""
    return Due(step=-2, forbidden=0, fact=0, value=0, trips=0, searches=0, profile=0)
