"""Inference: trained models read stories and answer questions."""
