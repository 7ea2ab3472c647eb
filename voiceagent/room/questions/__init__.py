"""Questions that agents ask people without waiting: values, rows, and the desk where they are asked and answered."""
