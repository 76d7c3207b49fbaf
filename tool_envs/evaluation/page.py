"""Puts a report's page together: one HTML file that needs no network and lets nothing in from outside.

All that stands in a report or a record is data: it lies in `<script type="application/json">` elements, which
no browser runs, and the page shows it as text. The Content-Security-Policy names script and style
by their digests: nothing else would be run, whatever the data say.
"""

import base64
import hashlib
import html
import importlib.resources
import json
import re
from collections.abc import Mapping, Sequence

from tool_envs.messages import Json

SCRIPTS = ("dom.js", "charts.js", "overview.js", "episodes.js", "conversation.js", "page.js")
"""The parts of the page's script, in their order."""

_MARK = re.compile(r"\{\{([a-z]+)\}\}")


def page_of(view: Mapping[str, Json], conversations: Sequence[Mapping[int, Json]]) -> str:
    """The page as HTML; pure ASCII.

    Args:
        view: As `tool_envs.evaluation.view.view_of` gives it.
        conversations: For each of its runs, place of an episode -> conversation; they are parsed by the page
            when they are looked at.
    """
    style = _read("page.css")
    script = "\n".join(map(_read, SCRIPTS))
    policy = [
        "default-src 'none'",
        f"script-src {_allowed(script)}",
        f"style-src {_allowed(style)}",
        "base-uri 'none'",
        "form-action 'none'",
    ]
    parts = {
        "policy": "; ".join(policy),
        "title": html.escape(_ascii(str(view["title"]))),
        "style": style,
        "data": "\n".join(_data(view, conversations)),
        "script": script,
    }
    # One pass over the template: what stands in the data is never looked at for marks.
    return _MARK.sub(lambda mark: parts[mark[1]], _read("page.html"))


def as_data(value: Json) -> str:
    """A JSON text that may stand in a `<script>` element: ASCII, without `<`.

    No text in it can end the element, nor begin a comment in it; U+2028 and U+2029 are escaped like all that
    is not ASCII.

    Raises:
        ValueError: It holds NaN or an infinite number.
    """
    text = json.dumps(value, allow_nan=False, separators=(",", ":"))
    return text.replace("<", "\\u003c")


def _data(view: Mapping[str, Json], conversations: Sequence[Mapping[int, Json]]) -> list[str]:
    elements = [_element("view", view)]
    for run, found in enumerate(conversations):
        elements += [_element(f"conversation-{run}-{place}", each) for place, each in found.items()]
    return elements


def _element(name: str, value: Json) -> str:
    return f'<script type="application/json" id="{name}">{as_data(value)}</script>'


def _ascii(text: str) -> str:
    return text.encode("ascii", "backslashreplace").decode()


def _allowed(source: str) -> str:
    """The source of a Content-Security-Policy that allows exactly this text."""
    sha256 = hashlib.sha256(source.encode()).digest()
    return f"'sha256-{base64.b64encode(sha256).decode()}'"


def _read(name: str) -> str:
    file = importlib.resources.files("tool_envs.evaluation") / "page" / name
    return file.read_text(encoding="ascii")
