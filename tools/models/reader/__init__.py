"""Makes the bundled reader: data, training, export, measurement."""
