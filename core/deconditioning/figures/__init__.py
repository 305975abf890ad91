"""Pictures as pure functions: arrays in, a plotly figure (a plain dict) or the bytes of a printed map out.

`maps` field maps, `traces` learning curves, `scores` bars, calibration and error histograms,
`publication` Cartopy maps as PNG and PDF; below them `colours`, `style`, `coast`, `projection`.
"""
