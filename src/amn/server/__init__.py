"""The HTTP interface: a thin layer over `amn.api`."""
