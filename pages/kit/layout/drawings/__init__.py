"""Small drawings of words and exercises, as SVG in the colours of the theme."""
