"""Trained models at work: stories in, readings out."""
