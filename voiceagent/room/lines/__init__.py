"""Where the lines of feeds are kept."""
