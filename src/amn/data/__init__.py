"""Stories: reading, writing, generating, and turning them into tensors."""
