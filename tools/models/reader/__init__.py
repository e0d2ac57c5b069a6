"""Build the bundled reader: data, training, export and evaluation."""
