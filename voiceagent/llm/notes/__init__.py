"""A brain without a key: answers from a Markdown file of facts, spoken as written or said not to be known."""

from voiceagent.llm.notes.model import NotesModel

__all__ = ["NotesModel"]
