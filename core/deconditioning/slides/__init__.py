"""A result as slides: in the browser, in one file that works offline, as PowerPoint and PDF."""
