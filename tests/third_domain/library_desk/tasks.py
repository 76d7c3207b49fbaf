"""The tasks: who comes to the desk, what they can want, and what is right."""

from collections.abc import Sequence

from library_desk.data import MEMBERS, SEED, TITLES, book_id, library_base, user_id
from library_desk.rules import FIND, LOAN, RENEW, RESERVE, RETURN, SEARCH
from tool_envs.messages import Json, ToolCall
from tool_envs.randomness import Draws
from tool_envs.service.tasks import GeneratedTasks, TaskMaker
from tool_envs.service.wishes import Planned, make_wish
from tool_envs.simulators import Fact, Value, Wish


class Visitor:
    """A member while a task is made for them; no two wishes of theirs are about the same loan or book."""

    def __init__(self, member: int, draws: Draws, forgetful: bool) -> None:
        tables = library_base().tables
        self.row = tables["members"][user_id(member)]
        self.loans = [tables["loans"][loan_id] for loan_id in self.row["loans"]]
        at_home = {loan["title"] for loan in self.loans}
        self.books = [book for book, title in enumerate(TITLES) if title not in at_home]
        self.draws, self.forgetful = draws, forgetful
        self._free_loans, self._free_books = [*self.loans], [*self.books]

    def take_loan(self, renewed: bool) -> Json | None:
        """A loan that no wish is about; None when there is none left."""
        fitting = [loan for loan in self._free_loans if loan["renewed"] == renewed]
        if not fitting:
            return None
        loan = self.draws.pick(fitting)
        self._free_loans.remove(loan)
        return loan

    def take_book(self) -> int:
        """A book that they do not have and no wish is about."""
        book = self.draws.pick(self._free_books)
        self._free_books.remove(book)
        return book

    def words_for(self, loan: Json) -> str:
        """How they speak of a loan; the forgetful do not know its id."""
        return f"my loan of {loan['title']}" if self.forgetful else f"loan {loan['loan_id']}"


def _read(loan: Json) -> ToolCall:
    return ToolCall(LOAN, {"loan_id": loan["loan_id"]})


def _renew(visitor: Visitor) -> Planned | None:
    loan, days = visitor.take_loan(renewed=False), visitor.draws.pick((7, 14, 28))
    if loan is None:
        return None
    words = {"loan_id": visitor.words_for(loan), "days": f"{days} days"}
    call = ToolCall(RENEW, {"loan_id": loan["loan_id"], "days": days})
    return _change("renew", visitor, words, "please renew {loan_id} for {days}", _read(loan), call)


def _return(visitor: Visitor) -> Planned | None:
    loan = visitor.take_loan(renewed=False)
    if loan is None:
        return None
    words, call = {"loan_id": visitor.words_for(loan)}, ToolCall(RETURN, {"loan_id": loan["loan_id"]})
    return _change("return", visitor, words, "I want to return the book of {loan_id}", _read(loan), call)


def _reserve(visitor: Visitor) -> Planned:
    book = visitor.take_book()
    call = ToolCall(RESERVE, {"user_id": visitor.row["user_id"], "book_id": book_id(book)})
    read = ToolCall(SEARCH, {"title": TITLES[book]})
    return _change("reserve", visitor, {"book_id": TITLES[book]}, "please reserve {book_id}", read, call)


def _change(
    kind: str, visitor: Visitor, words: dict[str, str], opening: str, read: ToolCall, call: ToolCall
) -> Planned:
    accepted = (dict(call.arguments),)
    wish = make_wish(kind, visitor.draws, (opening,), words, tool=call.name, accepted=accepted, words=words)
    return Planned(wish, (read,), (call,))


def _question(visitor: Visitor) -> Planned | None:
    loan = visitor.take_loan(renewed=True)
    if loan is None:
        return None
    words = visitor.words_for(loan)
    fact = Fact("count", loan["days_left"], f"How many days are left for {words}?")
    wish = Wish(kind="question", opening=fact.question, fact=fact, words={"loan_id": words})
    return Planned(wish, (_read(loan),))


def _forbidden(visitor: Visitor) -> Planned | None:
    """To renew a loan that was renewed."""
    loan = visitor.take_loan(renewed=True)
    if loan is None:
        return None
    words = {"loan_id": visitor.words_for(loan)}
    opening = ("please renew {loan_id}",)
    wish = make_wish("renew", visitor.draws, opening, words, words=words, forbidden=True)
    return Planned(wish, (_read(loan),))


def _lexicon(visitor: Visitor, _: Sequence[Wish]) -> dict[str, tuple[Value, ...]]:
    """The member's loans and all other books, by id and by title."""
    return {
        "loan_id": tuple(Value(loan["loan_id"], (loan["title"].lower(),)) for loan in visitor.loans),
        "book_id": tuple(Value(book_id(book), (TITLES[book].lower(),)) for book in visitor.books),
    }


_MAKER = TaskMaker(
    domain="library",
    seed=SEED,
    customers=MEMBERS,
    visit=Visitor,
    families={
        "renew": _renew,
        "return": _return,
        "reserve": _reserve,
        "question": _question,
        "forbidden": _forbidden,
    },
    knows=lambda visitor: {"email": visitor.row["email"]},
    identify=lambda visitor: ToolCall(FIND, {"email": visitor.row["email"]}),
    lexicon=_lexicon,
)


def library_tasks(split: str, difficulty: int | None) -> GeneratedTasks[Visitor]:
    """The tasks of one split; raises as `GeneratedTasks` does."""
    return GeneratedTasks(_MAKER, split, difficulty)
