"""Engines that LiveKit Agents plugins are behind, and ours as such plugins; imported only where settings name one."""
