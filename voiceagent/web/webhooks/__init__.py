"""Lines of rooms' feeds, told to servers of the back office: signed, in order, at least once."""
