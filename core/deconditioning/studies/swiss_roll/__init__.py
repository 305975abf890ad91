"""The swiss roll, and the paper's Table 1."""
