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

// to += Σ_k factors[at + k · step] · rows[k], for `count` rows of length m of a matrix; four at a time, which is twice as fast.
const addRows = (to, begin, rows, m, count, factors, at, step) => {
  let k = 0;
  for (; k + 3 < count; k += 4) {
    const [a, b, c, d] = [factors[at + k * step], factors[at + (k + 1) * step], factors[at + (k + 2) * step], factors[at + (k + 3) * step]];
    for (let j = 0, p = k * m, q = p + m, r = q + m, s = r + m; j < m; j++) {
      to[begin + j] += a * rows[p + j] + b * rows[q + j] + c * rows[r + j] + d * rows[s + j];
    }
  }
  for (; k < count; k++) for (let j = 0, a = factors[at + k * step], p = k * m; j < m; j++) to[begin + j] += a * rows[p + j];
};

// F⁻¹B of B (n, m).
const halfSolved = (f, n, b, m) => {
  const result = new Float64Array(n * m), sum = new Float64Array(m);
  for (let i = 0; i < n; i++) {
    addRows(sum.fill(0), 0, result, m, i, f, i * n, 1);
    for (let j = 0, row = i * m; j < m; j++) result[row + j] = (b[row + j] - sum[j]) / f[i * n + i];
  }
  return result;
};

// F⁻ᵀB of B (n, m).
const halfSolvedBack = (f, n, b, m) => {
  const result = new Float64Array(n * m), sum = new Float64Array(m);
  for (let i = n - 1; i >= 0; i--) {
    addRows(sum.fill(0), 0, result.subarray((i + 1) * m), m, n - 1 - i, f, (i + 1) * n + i, n);
    for (let j = 0, row = i * m; j < m; j++) result[row + j] = (b[row + j] - sum[j]) / f[i * n + i];
  }
  return result;
};

// (F Fᵀ)⁻¹B of B (n, m).
const solved = (f, n, b, m) => halfSolvedBack(f, n, halfSolved(f, n, b, m), m);

// AᵀB of A (n, p) and B (n, m).
const product = (a, b, n, p, m) => {
  const result = new Float64Array(p * m);
  for (let j = 0; j < p; j++) addRows(result, j * m, b, m, n, a, j, p);
  return result;
};

return { gram, plusDiagonal, cholesky, halfSolved, solved, product };
})();
