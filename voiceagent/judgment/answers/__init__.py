"""Whether what a person says answers a question that is open."""
