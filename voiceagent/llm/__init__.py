"""Text in, a stream of text and tool calls out."""
