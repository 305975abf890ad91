"""GRIB 1 and 2, read by ecCodes: messages, what tells them apart, and the dataset that they make."""
