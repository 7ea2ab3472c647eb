"""Rooms for programs that speak OpenAI's realtime protocol: one WebSocket is one call, with events beside its sound."""
