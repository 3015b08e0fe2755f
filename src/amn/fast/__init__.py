"""The default model for inference on a CPU: its maths in numpy, on the rows that a sentence touches and no others."""
