"""The parts of page Downscaling: data controls, model controls, maps, learning, output."""
