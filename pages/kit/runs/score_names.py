"""What scores are called, and which way is the better one."""

LOWER_IS_BETTER = ("rmse", "mae", "crps", "mse", "distance", "mse_rotation", "angle", "posterior_risk")
HIGHER_IS_BETTER = ("pearson", "ssim", "r2")
SCORE_NAMES: dict[str, str] = {
    "rmse": "RMSE",
    "mae": "MAE",
    "bias": "Bias",
    "pearson": "Pearson r",
    "ssim": "SSIM",
    "crps": "CRPS",
    "coverage50": "Coverage of 50 %",
    "coverage90": "Coverage of 90 %",
    "coverage95": "Coverage of 95 %",
    "coverage_2sd": "Coverage of ±2 sd",
    "distance": "Distance",
    "mse": "MSE",
    "mse_rotation": "MSE of the nearest rotation",
    "angle": "Mean angle, °",
    "ms_per_step": "ms per step",
    "ms": "Time, ms",
    "posterior_risk": "Posterior risk",
    "r2": "R², held out",
    "r2_low": "2.5 %",
    "r2_high": "97.5 %",
    "noise": "σ²",
}
WITH_UNITS = ("rmse", "mae", "bias", "crps")
