"""Sound as values: no asyncio, no devices, no threads."""
