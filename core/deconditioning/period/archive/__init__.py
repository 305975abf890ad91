"""A fine truth of a training period as prior of another period: climatology, and anomalies by their covariance."""
