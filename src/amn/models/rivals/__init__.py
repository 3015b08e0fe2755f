"""The paper's rivals, trained by the same loop on the same data."""
