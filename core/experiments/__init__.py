"""The papers' experiments and the product's main job, run by a page, the engine or the command line."""
