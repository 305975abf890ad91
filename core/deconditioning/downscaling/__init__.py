"""The main job: a coarse field becomes a fine one, for a page, the engine and the command line."""
