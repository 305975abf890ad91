"""The papers' experiments, a folder a topic, run by a page, the engine or the command line."""
