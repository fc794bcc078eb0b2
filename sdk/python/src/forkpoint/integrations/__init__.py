"""Adapters for agent frameworks. Each module imports its framework, so import the one that you need."""
