"""The shapes of data at the edges of the program."""

JSON = None | bool | int | float | str | list["JSON"] | dict[str, "JSON"]
"""Whatever JSON text can hold."""
