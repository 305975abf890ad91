// Dense matrices in double precision, row by row in a Float64Array: what a Gaussian process of a few hundred points needs.

const matrix = (() => {
// Relative jitters tried in turn, as in deconditioning.linalg.
const JITTERS = [0, 1e-12, 1e-10, 1e-8, 1e-6];

// Gaussian kernel s² exp(−(a − b)² / 2ℓ²) of all pairs, (a.length, b.length).
const gram = (a, b, length, variance) => {
  const [n, m] = [a.length, b.length], result = new Float64Array(n * m);
  for (let i = 0; i < n; i++) for (let j = 0; j < m; j++) {
    const apart = (a[i] - b[j]) / length;
    result[i * m + j] = variance * Math.exp(-0.5 * apart * apart);
  }
  return result;
};

const plusDiagonal = (a, n, value) => {
  const result = a.slice();
  for (let i = 0; i < n; i++) result[i * n + i] += value;
  return result;
};

// The lower factor of A = F Fᵀ, or null where A is not positive definite.
const factored = (a, n) => {
  const f = new Float64Array(n * n);
  for (let i = 0; i < n; i++) for (let j = 0; j <= i; j++) {
    const [row, other] = [i * n, j * n];
    let sum = a[row + j];
    for (let k = 0; k < j; k++) sum -= f[row + k] * f[other + k];
    if (i !== j) f[row + j] = sum / f[other + j];
    else if (sum > 0) f[row + j] = Math.sqrt(sum);
    else return null;
  }
  return f;
};

const cholesky = (a, n) => {
  let mean = 0;
  for (let i = 0; i < n; i++) mean += a[i * n + i] / n;
  for (const share of JITTERS) {
    const f = factored(share ? plusDiagonal(a, n, share * mean) : a, n);
    if (f) return f;
  }
  return null;
};

// F⁻¹B of B (n, m).
const halfSolved = (f, n, b, m) => {
  const result = b.slice();
  for (let i = 0; i < n; i++) {
    const row = i * m;
    for (let k = 0; k < i; k++) {
      const factor = f[i * n + k], other = k * m;
      for (let j = 0; j < m; j++) result[row + j] -= factor * result[other + j];
    }
    for (let j = 0; j < m; j++) result[row + j] /= f[i * n + i];
  }
  return result;
};

// (F Fᵀ)⁻¹B of B (n, m).
const solved = (f, n, b, m) => {
  const result = halfSolved(f, n, b, m);
  for (let i = n - 1; i >= 0; i--) {
    const row = i * m;
    for (let j = 0; j < m; j++) result[row + j] /= f[i * n + i];
    for (let k = 0; k < i; k++) {
      const factor = f[i * n + k], other = k * m;
      for (let j = 0; j < m; j++) result[other + j] -= factor * result[row + j];
    }
  }
  return result;
};

// AᵀB of A (n, p) and B (n, m).
const product = (a, b, n, p, m) => {
  const result = new Float64Array(p * m);
  for (let i = 0; i < n; i++) for (let j = 0; j < p; j++) {
    const factor = a[i * p + j], [row, other] = [j * m, i * m];
    for (let k = 0; k < m; k++) result[row + k] += factor * b[other + k];
  }
  return result;
};

return { gram, plusDiagonal, cholesky, halfSolved, solved, product };
})();
