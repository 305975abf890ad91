"""A period instead of a moment: many times downscaled together."""
