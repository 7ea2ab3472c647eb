"""What is known of rooms besides what happened in them: who started each, and which are archived."""
