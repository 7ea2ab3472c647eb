"""Texts, metadata and contents as a committed event holds them: nothing that JSON or UTF-8 cannot hold, nothing that changes."""

import math
from collections.abc import Mapping
from dataclasses import fields, replace
from typing import Any, Final, NoReturn

from voiceagent.room.events import Content, RecordingContent, SystemContent, TextContent, ToolCallContent
from voiceagent.values import JSON

DEEPEST: Final = 64
"""How deep metadata may be nested."""

_CONTENTS: Final = (TextContent, ToolCallContent, SystemContent, RecordingContent)


def _refused(*_: object, **__: object) -> NoReturn:
    raise TypeError("the metadata of an event cannot be changed: make another event with event.with_metadata")


class FrozenDict(dict[str, JSON]):
    """A dict that stays as it is. Copies of it are plain dicts."""

    __setitem__ = __delitem__ = __ior__ = clear = pop = popitem = setdefault = update = _refused

    def __reduce__(self) -> tuple[Any, ...]:
        return dict, (dict(self),)


class FrozenList(list[JSON]):
    """A list that stays as it is. Copies of it are plain lists."""

    __setitem__ = __delitem__ = __iadd__ = __imul__ = append = clear = extend = insert = _refused
    pop = remove = reverse = sort = _refused

    def __reduce__(self) -> tuple[Any, ...]:
        return list, (list(self),)


def whole_text(text: str) -> str:
    """The text with halves of surrogate pairs joined where they meet, and replaced by U+FFFD where they stand alone."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text


def whole_content(content: object) -> Content:
    """The content with its texts whole. Raises ValueError for what is no content, or has something else for a text."""
    if not isinstance(content, _CONTENTS):
        raise ValueError(f"content: use one of {', '.join(kind.__name__ for kind in _CONTENTS)}, not {type(content).__name__}")
    changed: dict[str, Any] = {}
    for name, is_number, default in _FIELDS.get(type(content)) or _fields_of(type(content)):
        value = getattr(content, name)
        if is_number:
            fits = isinstance(value, int) and not isinstance(value, bool)
        else:
            fits = isinstance(value, str) or (value is None and default is None)
        if not fits or (name == "kind" and value != default):
            raise ValueError(f"content: {type(content).__name__}.{name} cannot be {type(value).__name__}")
        if isinstance(value, str) and (text := whole_text(value)) != value:
            changed[name] = text
    return replace(content, **changed) if changed else content


def _fields_of(kind: type[Any]) -> tuple[tuple[str, bool, object], ...]:
    """Name, whether it is a number, and default of each field of a content's class."""
    return tuple((field.name, field.type is int or field.type == "int", field.default) for field in fields(kind))


_FIELDS: Final = {kind: _fields_of(kind) for kind in _CONTENTS}


def frozen(metadata: object) -> FrozenDict:
    """The metadata as it will stand, a copy. Raises ValueError, naming the place, for what JSON cannot hold.

    NaN and infinity, which JSON has not, become null; halves of characters U+FFFD; a tuple a list.
    """
    if isinstance(metadata, FrozenDict):
        return metadata
    if not isinstance(metadata, Mapping):
        raise ValueError(f"metadata: use a mapping, not {type(metadata).__name__}")
    return _mapping(metadata, "metadata", 0)


def thawed(value: JSON) -> JSON:
    """A copy of metadata, or a part of it, that may be changed."""
    if isinstance(value, dict):
        return {key: thawed(item) for key, item in value.items()}
    return [thawed(item) for item in value] if isinstance(value, list) else value


def _mapping(value: Mapping[object, object], place: str, depth: int) -> FrozenDict:
    made: dict[str, JSON] = {}
    for key, item in value.items():
        if not isinstance(key, str):
            raise ValueError(f"{place}: use texts as keys, not {type(key).__name__}")
        name = whole_text(key)
        made[name] = _value(item, f"{place}.{name}", depth + 1)
    return FrozenDict(made)


def _value(value: object, place: str, depth: int) -> JSON:
    if depth > DEEPEST:
        raise ValueError(f"{place}: nested deeper than {DEEPEST}")
    match value:
        case None | bool():
            return value
        case str():
            return whole_text(str(value))
        case int():
            return int(value)
        case float():
            return float(value) if math.isfinite(value) else None
        case Mapping():
            return _mapping(value, place, depth)
        case list() | tuple():
            return FrozenList(_value(item, f"{place}.{number}", depth + 1) for number, item in enumerate(value))
    raise ValueError(f"{place}: JSON cannot hold a {type(value).__name__}")
