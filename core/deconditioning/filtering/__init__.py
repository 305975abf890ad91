"""State-space models: systems, the kernel Bayes filter, and the Kalman and particle filters beside it."""
