"""The inbox: every question of every room in one list, for people who answer them from wherever they are."""
