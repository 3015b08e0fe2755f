"""Compiled code for reading stories: its sources, and what builds and finds it."""
