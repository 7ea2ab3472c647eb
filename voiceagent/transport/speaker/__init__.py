"""A microphone and a loudspeaker of this machine as a line to whoever is in the room."""
