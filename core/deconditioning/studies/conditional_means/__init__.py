"""Estimators of conditional mean embeddings, and how fast deconditioning is learned."""
