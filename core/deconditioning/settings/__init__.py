"""One declaration of a number, from which widget, flag, sweep axis, address and schema follow."""
