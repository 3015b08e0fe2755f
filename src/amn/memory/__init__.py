"""Live memories: told sentences or whole streams, asked at any time, saved and restored, or kept in a store."""

from amn.memory.live import LiveMemory

__all__ = ["LiveMemory"]
