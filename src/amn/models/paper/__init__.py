"""The paper's equations as written."""
