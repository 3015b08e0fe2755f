"""Measurements: each prints a table of figures, taken as ratios within one run."""
