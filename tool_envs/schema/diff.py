"""What changes between two tool schemas, and how large a step of the version number that demands."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

from tool_envs.canonical import canonical_json
from tool_envs.json_values import shown
from tool_envs.messages import Json
from tool_envs.schema.files import version_numbers
from tool_envs.schema.profile import Schema, rebuild

if TYPE_CHECKING:
    from tool_envs.schema.tool_schema import Tool, ToolSchema

Action: TypeAlias = Literal["added", "removed", "changed"]
Step: TypeAlias = Literal["major", "minor", "patch", "none"]

_STEPS: tuple[Step, ...] = ("none", "patch", "minor", "major")
_FIELD_NAMES = {"parameters": "parameter", "result": "result field"}
_LOW = {"minLength": 0, "minItems": 0, "minimum": float("-inf")}
_HIGH = {"maxLength": float("inf"), "maxItems": float("inf"), "maximum": float("inf")}


@dataclass(frozen=True)
class Change:
    """One difference.

    Attributes:
        kind: What differs: `tool`, `parameter`, `result field`, `required`, `type`, `choices`, `limit`,
            `pattern`, `form`, `keys`, `effect`, `listed`, `order`, `entity`, `description`, `domain`.
        action: Whether it was added, removed or changed.
        tool: The tool's name; empty when the whole schema is meant.
        path: Where in it, such as `parameters.zip` or `result.items[].price`; empty for the tool itself.
        breaking: Whether something that relied on the old schema can fail with the new one.
        before: What stood there; None when added.
        after: What stands there now; None when removed.
    """

    kind: str
    action: Action
    tool: str
    path: str
    breaking: bool
    before: Json = None
    after: Json = None

    @property
    def demands(self) -> Step:
        """The step of the version number that this change alone demands."""
        if self.breaking:
            return "major"
        return "patch" if self.kind == "description" else "minor"

    def __str__(self) -> str:
        where = " ".join(part for part in (self.tool, self.path) if part) or "the schema"
        values = f": {_text(self.before)} -> {_text(self.after)}" if self.action == "changed" else ""
        return f"{where}: {self.kind} {self.action}{values}{' (breaking)' if self.breaking else ''}"


@dataclass(frozen=True)
class SchemaDiff:
    """The differences between two schemas; empty (and false) when there are none.

    Calls written for the old schema must be valid for the new one: parameters may be widened. Results of the
    new one must do for readers of the old one: result fields may be added, and values narrowed.
    """

    changes: tuple[Change, ...]

    @property
    def demands(self) -> Step:
        """The least step of the version number that says enough about the changes."""
        return max((change.demands for change in self.changes), key=_STEPS.index, default="none")

    def is_covered_by(self, old: str, new: str) -> bool:
        """Whether going from version `old` to version `new` is a large enough step for the changes.

        Raises:
            UnknownNameError: A version is not `major.minor.patch`.
        """
        return _STEPS.index(version_step(old, new)) >= _STEPS.index(self.demands)

    def __bool__(self) -> bool:
        return bool(self.changes)

    def __str__(self) -> str:
        return "\n".join(map(str, self.changes)) or "no changes"


def version_step(old: str, new: str) -> Step:
    """How large the step from version `old` to version `new` is; `none` when it does not go up.

    Raises:
        UnknownNameError: A version is not `major.minor.patch`.
    """
    before, after = version_numbers(old), version_numbers(new)
    if after <= before:
        return "none"
    return "major" if after[0] > before[0] else "minor" if after[1] > before[1] else "patch"


def compare_schemas(old: "ToolSchema", new: "ToolSchema") -> SchemaDiff:
    """What changes when `new` takes the place of `old`; version numbers themselves are not compared."""
    return SchemaDiff(tuple(_compare_documents(old, new)))


def _compare_documents(old: "ToolSchema", new: "ToolSchema") -> Iterator[Change]:
    if old.domain != new.domain:
        yield Change("domain", "changed", "", "", True, old.domain, new.domain)
    before, after = old.description, new.description
    if before != after:
        yield Change("description", "changed", "", "", False, before, after)
    common = [name for name in old.tools if name in new.tools]
    if common != (order := [name for name in new.tools if name in old.tools]):
        yield Change("order", "changed", "", "", False, common, order)
    yield from (Change("tool", "removed", name, "", True) for name in old.tools if name not in new.tools)
    yield from (Change("tool", "added", name, "", False) for name in new.tools if name not in old.tools)
    for name in common:
        yield from _compare_tools(old.tools[name], new.tools[name])


def _compare_tools(old: "Tool", new: "Tool") -> Iterator[Change]:
    if old.description != new.description:
        yield Change("description", "changed", old.name, "", False, old.description, new.description)
    if old.effect != new.effect:
        yield Change("effect", "changed", old.name, "", True, old.effect, new.effect)
    if old.listed != new.listed:
        yield Change("listed", "changed", old.name, "", old.listed, old.listed, new.listed)
    yield from _Comparison(old.name, "parameters").schemas(old.parameters, new.parameters, "parameters")
    yield from _Comparison(old.name, "result").schemas(old.result, new.result, "result")


@dataclass(frozen=True)
class _Comparison:
    """Walks two schemas side by side; narrowing breaks in `parameters`, widening in `result`."""

    tool: str
    part: Literal["parameters", "result"]

    def schemas(self, old: Schema, new: Schema, path: str) -> Iterator[Change]:
        for keyword, kind in (("description", "description"), ("x-entity", "entity")):
            if old.get(keyword) != new.get(keyword):
                yield self._plain(kind, path, old.get(keyword), new.get(keyword))
        if "anyOf" in old or "anyOf" in new:
            yield from self._forms(_forms(old), _forms(new), path)
        elif _type(old) == _type(new):
            yield from self._choices(old, new, path)
            yield from self._limits(old, new, path)
            yield from self._members(old, new, path)
        else:
            yield self._change("type", path, _type(old), _type(new), *_type_direction(_type(old), _type(new)))

    def _forms(self, old: list[Schema], new: list[Schema], path: str) -> Iterator[Change]:
        if len(old) == len(new):
            for index, (before, after) in enumerate(zip(old, new, strict=True)):
                yield from self.schemas(before, after, f"{path}|{index}" if len(old) > 1 else path)
            return
        meant, means = _meanings(old), _meanings(new)
        narrowed, widened = bool(meant - means), bool(means - meant)
        if narrowed or widened:
            yield self._change("form", path, f"{len(old)} forms", f"{len(new)} forms", narrowed, widened)

    def _choices(self, old: Schema, new: Schema, path: str) -> Iterator[Change]:
        before, after = _choices(old), _choices(new)
        if before is None or after is None:
            narrowed, widened = after is not None, before is not None
        else:
            narrowed = any(value not in after for value in before)
            widened = any(value not in before for value in after)
        if before != after and (narrowed or widened):
            yield self._change("choices", path, before, after, narrowed, widened)

    def _limits(self, old: Schema, new: Schema, path: str) -> Iterator[Change]:
        for keyword, default in (_LOW | _HIGH).items():
            before, after = old.get(keyword, default), new.get(keyword, default)
            if before != after:
                narrowed = (after > before) == (keyword in _LOW)
                yield self._change(
                    "limit", path, _limit(keyword, old), _limit(keyword, new), narrowed, not narrowed
                )
        before, after = old.get("uniqueItems", False), new.get("uniqueItems", False)
        if before != after:
            yield self._change("limit", path, f"uniqueItems {before}", f"uniqueItems {after}", after, before)
        before, after = old.get("pattern"), new.get("pattern")
        if before != after:
            yield self._change("pattern", path, before, after, after is not None, before is not None)

    def _members(self, old: Schema, new: Schema, path: str) -> Iterator[Change]:
        yield from self._maybe(old.get("items", {}), new.get("items", {}), f"{path}[]")
        if _type(old) == "object":
            yield from self._properties(old, new, path)
            yield from self._keys(old, new, path)

    def _properties(self, old: Schema, new: Schema, path: str) -> Iterator[Change]:
        before, after = old.get("properties", {}), new.get("properties", {})
        kind, is_input = _FIELD_NAMES[self.part], self.part == "parameters"
        for name in before:
            if name not in after:
                yield Change(kind, "removed", self.tool, f"{path}.{name}", True)
        for name in after:
            needed, was_needed = name in new.get("required", []), name in old.get("required", [])
            if name not in before:
                yield Change(kind, "added", self.tool, f"{path}.{name}", is_input and needed)
                continue
            if needed != was_needed:
                yield Change(
                    "required", "changed", self.tool, f"{path}.{name}", needed == is_input, was_needed, needed
                )
            yield from self.schemas(before[name], after[name], f"{path}.{name}")

    def _keys(self, old: Schema, new: Schema, path: str) -> Iterator[Change]:
        before, after = old.get("patternProperties", {}), new.get("patternProperties", {})
        narrowed, widened = bool(before.keys() - after.keys()), bool(after.keys() - before.keys())
        if narrowed or widened:
            yield self._change("keys", path, sorted(before), sorted(after), narrowed, widened)
        for pattern in before.keys() & after.keys():
            yield from self.schemas(before[pattern], after[pattern], f"{path}.*")
        before, after = old.get("additionalProperties", True), new.get("additionalProperties", True)
        if before is False or after is False:
            if before is not after:
                yield self._change(
                    "keys", path, _openness(before), _openness(after), after is False, before is False
                )
        else:
            yield from self._maybe(before, after, f"{path}.*")

    def _maybe(self, old: Schema | bool, new: Schema | bool, path: str) -> Iterator[Change]:
        old, new = ({} if old is True else old), ({} if new is True else new)
        if isinstance(old, dict) and isinstance(new, dict) and old != new:
            yield from self.schemas(old, new, path)

    def _change(
        self, kind: str, path: str, before: Json, after: Json, narrowed: bool, widened: bool
    ) -> Change:
        return Change(
            kind,
            "changed",
            self.tool,
            path,
            narrowed if self.part == "parameters" else widened,
            before,
            after,
        )

    def _plain(self, kind: str, path: str, before: Json, after: Json) -> Change:
        return Change(kind, "changed", self.tool, path, False, before, after)


def _type(schema: Schema) -> Json:
    """The schema's type; that of its choices when it names none; None when anything is allowed."""
    values = _choices(schema)
    if "type" in schema or values is None:
        return schema.get("type")
    kinds = {
        "boolean" if isinstance(v, bool) else "number" if isinstance(v, int | float) else type(v).__name__
        for v in values
    }
    return (
        {"str": "string", "NoneType": "null"}.get(kind := kinds.pop(), kind) if len(kinds) == 1 else "mixed"
    )


def _type_direction(old: Json, new: Json) -> tuple[bool, bool]:
    """Whether a change of type narrows, and whether it widens."""
    if (old, new) == ("integer", "number") or new is None:
        return False, True
    if (old, new) == ("number", "integer") or old is None:
        return True, False
    return True, True


def _choices(schema: Schema) -> list[Json] | None:
    values = schema.get("enum", [schema["const"]] if "const" in schema else None)
    return None if values is None else sorted(values, key=canonical_json)


def _forms(schema: Schema) -> list[Schema]:
    forms: list[Schema] = schema.get("anyOf", [schema])
    return forms


def _meanings(forms: list[Schema]) -> set[bytes]:
    return {canonical_json(_meaning(form)) for form in forms}


def _meaning(schema: Schema) -> Schema:
    copy = rebuild(schema, _meaning)
    return {keyword: value for keyword, value in copy.items() if keyword not in ("description", "x-entity")}


def _limit(keyword: str, schema: Schema) -> str:
    return f"{keyword} {schema[keyword]}" if keyword in schema else f"no {keyword}"


def _openness(rest: Schema | bool) -> str:
    return "closed" if rest is False else "open"


def _text(value: Json) -> str:
    if isinstance(value, list):
        return "[" + ", ".join(map(shown, value)) + "]"
    return shown(value)
