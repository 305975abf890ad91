"""The toolbar: undo, pins, favourites, slides, sweeps, exercises."""
