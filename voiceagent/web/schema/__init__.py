"""The shapes of what goes over the wire, and the documents that are made of them."""
