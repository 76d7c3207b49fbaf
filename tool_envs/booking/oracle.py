"""The airline's oracle: how it finds customers, and in which words it speaks of things."""

from collections.abc import Mapping

from tool_envs.booking.codes import base_of
from tool_envs.booking.data import BookingBase
from tool_envs.booking.desk import BOOKING_DESK
from tool_envs.booking.rows import Reservation
from tool_envs.booking.wishes.traveller import Traveller
from tool_envs.episode import Episode
from tool_envs.messages import Json
from tool_envs.randomness import Draws
from tool_envs.service.clerk import Action, Clerk, call_of, say


class BookingClerk(Clerk):
    """The oracle at one step of an episode at the airline.

    Args:
        episode: The episode.
    """

    def __init__(self, episode: Episode) -> None:
        super().__init__(BOOKING_DESK, episode)
        self.base: BookingBase = base_of(episode.database)

    def identify(self) -> Action | None:
        """Find the customer by their user id; ask for it first."""
        if self.progress.user_id:
            return None
        if "user_id" in self.progress.told:
            return call_of("get_user_details", user_id=self.progress.told["user_id"])
        return say(self.voice.ask(["user_id"]))

    def reason_against(self) -> str:
        """By the kind of wish; for cancellations whether something of it was flown."""
        match self.wish.kind:
            case "cancel":
                trip = self._trip()
                return "already_flown" if trip and self.traveller.has_left(trip) else "not_covered"
            case kind:
                return _REASONS[kind]

    def _trip(self) -> Reservation | None:
        """The reservation that the wish is about."""
        places = map(self.base.find_reservation, self.wish.evidence)
        return next((self.base.reservation(*place) for place in places if place), None)

    @property
    def traveller(self) -> Traveller:
        """The customer, as the maker of tasks saw them."""
        customer = self.base.find_user(self.progress.user_id) or 0
        return Traveller(self.base, customer, Draws(0, 0, 0), forgetful=False)

    def words_for(self, arguments: Mapping[str, Json]) -> dict[str, str]:  # noqa: ARG002 - always the same
        """What payment methods are called."""
        traveller = self.traveller
        forms = enumerate(traveller.method_ids)
        return {method: traveller.method_forms(number)[0] for number, method in forms}


_REASONS = {
    "book_one_way": "over_budget",
    "change_flights": "basic_economy",
    "remove_bags": "bags_only_added",
    "add_passenger": "passengers_fixed",
    "insurance": "insurance_with_booking",
    "compensation": "no_compensation",
}
"""Kind of a forbidden wish -> why not."""


def decide(episode: Episode) -> Action:
    """The oracle's next action, with the parameter names of schema 1.0.0."""
    return BookingClerk(episode).decide()
