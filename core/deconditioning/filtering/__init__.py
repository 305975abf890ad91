"""State-space models: systems, the kernel Bayes filter, and Kalman and particle filters for comparison."""
