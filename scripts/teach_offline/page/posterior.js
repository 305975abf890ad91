// The methods of page One dimension in plain JavaScript, each the same numbers as the library `deconditioning`.

const posterior = (() => {
const LOG_TWO_PI = Math.log(2 * Math.PI), POINTS = 400, SHARE = 0.95;

// Mean and sd of z = Wᵀf + e, e ~ N(0, Σ), at points with `seen` = Wᵀcov(f, f(x)) (m, P) and a prior variance, and the log
// evidence; null where S = WᵀKW + Σ is not positive definite.
const conditioned = (covariance, targets, seen, prior) => {
  const m = targets.length, points = seen.length / m, f = matrix.cholesky(covariance, m);
  if (!f) return null;
  const half = matrix.halfSolved(f, m, targets, 1), root = matrix.halfSolved(f, m, seen, points);
  const mean = matrix.product(half, root, m, 1, points), sd = new Float64Array(points).fill(prior);
  let [fit, logs] = [0, 0];
  for (let i = 0; i < m; i++) {
    fit += half[i] * half[i];
    logs += Math.log(f[i * m + i]);
    for (let j = 0, row = i * points; j < points; j++) sd[j] -= root[row + j] * root[row + j];
  }
  return { mean, sd: sd.map(variance => Math.sqrt(Math.max(0, variance))), evidence: -0.5 * (fit + m * LOG_TWO_PI) - logs };
};

// A function that keeps its last result while its arguments stay the same.
const keeping = compute => {
  let [last, result] = [[], null];
  return (...given) => {
    if (given.length !== last.length || given.some((each, i) => each !== last[i])) [last, result] = [given, compute(...given)];
    return result;
  };
};

// W = (L + nλI)⁻¹L̃ and what the mediators leave unknown, L̃̃ − L̃ᵀW; null where λ is too small.
const mediation = keeping(({ y, query }, length, variance, regularisation) => {
  const [n, m] = [y.length, query.length], across = matrix.gram(y, query, length, variance);
  const f = matrix.cholesky(matrix.plusDiagonal(matrix.gram(y, y, length, variance), n, n * regularisation), n);
  if (!f) return null;
  const weights = matrix.solved(f, n, across, m), known = matrix.product(across, weights, n, m, m);
  const within = matrix.gram(query, query, length, variance);
  return { weights, unknown: within.map((value, at) => value - 0.5 * (known[at] + known[(at % m) * m + Math.floor(at / m)])) };
});

// S without σ², and Wᵀ times the covariance of f with its values at the points.
const prediction = keeping(({ x, query }, { weights, unknown }, length, variance, at) => {
  const [n, m] = [x.length, query.length], own = matrix.gram(x, x, length, variance);
  const covariance = matrix.product(weights, matrix.product(own, weights, n, n, m), n, m, m);
  return { covariance: covariance.map((value, i) => value + unknown[i]),
    seen: matrix.product(weights, matrix.gram(x, at, length, variance), n, m, at.length) };
});

// Task-transformed Gaussian process: z̃ ~ N(Wᵀf, Σ), Σ = L̃̃ + σ²I − L̃ᵀW (Hsu and Ramos 2019, theorem 5.3).
const deconditioned = (data, { k_scale, k_size, l_scale, l_size, regularisation, noise }, at) => {
  const mediated = mediation(data, l_scale, l_size, regularisation);
  if (!mediated) return null;
  const { covariance, seen } = prediction(data, mediated, k_scale, k_size, at);
  return conditioned(matrix.plusDiagonal(covariance, data.z.length, noise), data.z, seen, k_size);
};

// Gaussian process regression of values on places.
const regression = (places, values, [length, variance, noise], at) => {
  const covariance = matrix.plusDiagonal(matrix.gram(places, places, length, variance), places.length, noise);
  return conditioned(covariance, values, matrix.gram(places, at, length, variance), variance);
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
