"""The two stream formats of the codec tasks: golden encoders and decoders in plain NumPy."""
