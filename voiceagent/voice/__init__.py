"""People on lines: a call meets its room, hears and is heard."""
