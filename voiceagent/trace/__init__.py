"""What is measured while the program runs, and where it goes; off unless asked."""
