"""RTVI 2.x, so that Pipecat clients can talk with a room: an offer, a data channel, and what is told over it."""
