"""Models and runs on disk: their directories, their cards, and files that are replaced whole."""
