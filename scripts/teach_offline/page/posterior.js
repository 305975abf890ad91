// The methods of page One dimension in plain JavaScript, each the same numbers as the library `deconditioning`.

const posterior = (() => {
const LOG_TWO_PI = Math.log(2 * Math.PI), POINTS = 400, SHARE = 0.95;

// Mean and sd of z = Wᵀf + e, e ~ N(0, Σ), at points with c = cov(f, f(x)) (n, P) and prior variance; log evidence.
const conditioned = (weights, covariance, targets, cross, prior, n, m, points) => {
  const f = matrix.cholesky(covariance, m);
  if (!f) return null;
  const half = matrix.halfSolved(f, m, targets, 1), seen = matrix.product(weights, cross, n, m, points);
  const root = matrix.halfSolved(f, m, seen, points), mean = matrix.product(half, root, m, 1, points);
  const sd = new Float64Array(points).fill(prior);
  let [fit, logs] = [0, 0];
  for (let i = 0; i < m; i++) {
    fit += half[i] * half[i];
    logs += Math.log(f[i * m + i]);
    for (let j = 0; j < points; j++) sd[j] -= root[i * points + j] ** 2;
  }
  return { mean, sd: sd.map(variance => Math.sqrt(Math.max(0, variance))), evidence: -0.5 * (fit + m * LOG_TWO_PI) - logs };
};

// Task-transformed Gaussian process: W = (L + nλI)⁻¹L̃, Σ = L̃̃ + σ²I − L̃ᵀW (Hsu and Ramos 2019, theorem 5.3).
const deconditioned = ({ x, y, query, z }, { k_scale, k_size, l_scale, l_size, regularisation, noise }, at) => {
  const [n, m] = [x.length, z.length], across = matrix.gram(y, query, l_scale, l_size);
  const f = matrix.cholesky(matrix.plusDiagonal(matrix.gram(y, y, l_scale, l_size), n, n * regularisation), n);
  if (!f) return null;
  const weights = matrix.solved(f, n, across, m), known = matrix.product(across, weights, n, m, m);
  const unknown = matrix.gram(query, query, l_scale, l_size);
  const covariance = matrix.product(weights, matrix.product(matrix.gram(x, x, k_scale, k_size), weights, n, n, m), n, m, m);
  for (let i = 0; i < m; i++) for (let j = 0; j < m; j++) {
    const here = i * m + j;
    covariance[here] += unknown[here] - 0.5 * (known[here] + known[j * m + i]) + (i === j ? noise : 0);
  }
  const cross = matrix.gram(x, at, k_scale, k_size);
  return conditioned(weights, covariance, z, cross, k_size, n, m, at.length);
};

// Gaussian process regression of values on places.
const regression = (places, values, [length, variance, noise], at) => {
  const n = places.length, identity = matrix.plusDiagonal(new Float64Array(n * n), n, 1);
  const covariance = matrix.plusDiagonal(matrix.gram(places, places, length, variance), n, noise);
  return conditioned(identity, covariance, values, matrix.gram(places, at, length, variance), variance, n, n, at.length);
};

// A GP of z̃ on ỹ, its mean at y taken for z, a GP of that on x.
const impute = ({ x, y, query, z }, { forth, imputed }, at) => regression(x, regression(query, z, forth, y).mean, imputed, at);

// A GP of y on x, then the GP of z̃ on ỹ at the predicted y.
const cascade = ({ x, y, query, z }, { forth, back }, at) => {
  const centre = y.reduce((sum, each) => sum + each, 0) / y.length;
  const predicted = regression(x, y.map(each => each - centre), back, at).mean.map(each => each + centre);
  return regression(query, z, forth, predicted);
};

const quantile = (values, share) => {
  const sorted = Float64Array.from(values).sort(), at = share * (sorted.length - 1), below = Math.floor(at);
  return sorted[below] + (at - below) * (sorted[Math.min(below + 1, sorted.length - 1)] - sorted[below]);
};

// Equally spaced x over the central 95 % of the inputs.
const gridOf = inputs => {
  const [low, high] = [(1 - SHARE) / 2, (1 + SHARE) / 2].map(share => quantile(inputs, share));
  return Float64Array.from({ length: POINTS }, (_, i) => low + (high - low) * i / (POINTS - 1));
};

// Error of the mean, and the share of the truth within 2 sd.
const scores = (truth, { mean, sd }) => {
  let [square, inside] = [0, 0];
  for (let i = 0; i < truth.length; i++) {
    square += (mean[i] - truth[i]) ** 2;
    if (Math.abs(truth[i] - mean[i]) <= 2 * sd[i]) inside++;
  }
  return { rmse: Math.sqrt(square / truth.length), coverage: inside / truth.length };
};

return { deconditioned, impute, cascade, gridOf, scores };
})();
