"""Adaptive Memory Networks (Li and Kadav, 2018): question answering that reads only what matters."""

__version__ = "0.1.0"
