"""Storage: model and run directories, model cards, and stores of live memories."""
