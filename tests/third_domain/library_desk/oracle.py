"""The oracle: how it finds members, what it looks up, and in which words it speaks of things."""

from collections.abc import Mapping

from library_desk.data import TITLES, book_id
from library_desk.desk import DESK
from library_desk.rules import FIND, PROFILE
from tool_envs.episode import Episode
from tool_envs.messages import Json
from tool_envs.service.clerk import Action, Clerk, call_of, say

_TITLES = {book_id(book): title for book, title in enumerate(TITLES)}


class LibraryClerk(Clerk):
    """The oracle at one step of an episode in the library."""

    def __init__(self, episode: Episode) -> None:
        super().__init__(DESK, episode)

    def identify(self) -> Action | None:
        if self.progress.user_id:
            return None
        if "email" in self.progress.told:
            return call_of(FIND, email=self.progress.told["email"])
        return say(self.voice.ask(["email"]))

    def look_up(self) -> Action | None:
        """The profile, then what the wish is about."""
        if self.progress.user_id not in self.progress.read:
            return call_of(PROFILE, user_id=self.progress.user_id)
        return super().look_up()

    def reason_against(self) -> str:
        return "renewed_before"

    def words_for(self, arguments: Mapping[str, Json]) -> dict[str, str]:
        loan = self.episode.database.get("loans", arguments.get("loan_id", ""))
        titles = {} if loan is None else {loan["loan_id"]: loan["title"]}
        return _TITLES | titles


def decide(episode: Episode) -> Action:
    """The oracle's next action."""
    return LibraryClerk(episode).decide()
