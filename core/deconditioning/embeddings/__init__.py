"""Embeddings of conditional distributions in reproducing kernel Hilbert spaces."""
