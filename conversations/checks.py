"""System checks of the pipeline."""
