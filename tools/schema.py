"""Writes docs/openapi.json, docs/asyncapi.json and docs/events.md from the models; `--check` only says which are stale."""

import json
import sys
from pathlib import Path

from voiceagent import __version__
from voiceagent.values import JSON
from voiceagent.web.schema.asyncapi import asyncapi
from voiceagent.web.schema.openapi import openapi
from voiceagent.web.schema.page import events_page

DOCS = Path(__file__).resolve().parent.parent / "docs"


def documents() -> dict[str, str]:
    """The text of each document by its name under docs/."""
    return {
        "openapi.json": _json(openapi(__version__)),
        "asyncapi.json": _json(asyncapi(__version__)),
        "events.md": events_page(),
    }


def stale(folder: Path = DOCS) -> list[str]:
    """The documents that are missing, or other than the models would make them."""
    made = documents()
    return [name for name, text in made.items() if not (folder / name).is_file() or (folder / name).read_text() != text]


def main() -> int:
    """Writes what is stale, or with `--check` fails when anything is."""
    old = stale()
    if "--check" in sys.argv[1:]:
        for name in old:
            print(f"docs/{name} is stale; run: python -m tools.schema")
        return 1 if old else 0
    for name, text in documents().items():
        if name in old:
            (DOCS / name).write_text(text)
            print(f"wrote docs/{name}")
    return 0


def _json(document: dict[str, JSON]) -> str:
    return json.dumps(document, indent=1, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    sys.exit(main())
