const finite = (x) => typeof x === 'number' && Number.isFinite(x);

export function quantile(values, q) {
  const sorted = values.filter(finite).sort((a, b) => a - b);
  if (!sorted.length) return null;
  const at = (sorted.length - 1) * q;
  const low = Math.floor(at);
  const high = Math.min(low + 1, sorted.length - 1);
  return sorted[low] + (sorted[high] - sorted[low]) * (at - low);
}

export const median = (values) => quantile(values, 0.5);

/// mulberry32: the page shows the same intervals each time it is opened.
function generator(seed) {
  let a = seed >>> 0;
  return () => {
    a = (a + 0x6d2b79f5) >>> 0;
    let t = Math.imul(a ^ (a >>> 15), a | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}

/// A percentile bootstrap interval of the mean, or null below two values.
export function bootstrap(values, level = 0.95, draws = 2000, seed = 20_240_229) {
  const sample = values.filter(finite);
  if (sample.length < 2) return null;
  const next = generator(seed);
  const means = Array.from({ length: draws }, () => {
    let sum = 0;
    for (let i = 0; i < sample.length; i++) sum += sample[Math.floor(next() * sample.length)];
    return sum / sample.length;
  });
  return [quantile(means, (1 - level) / 2), quantile(means, (1 + level) / 2)];
}

/// The interval of a metric under one of the ways to draw spread.
export function interval(metric, kind) {
  if (!metric || !finite(metric.mean)) return null;
  const values = (metric.values || []).filter(finite);
  if (kind === 'bootstrap') return bootstrap(values);
  if (kind === 'quantile') return values.length > 1 ? [quantile(values, 0.1), quantile(values, 0.9)] : null;
  const half = kind === 'sd' ? metric.sd : kind === 'se' ? metric.se : null;
  return finite(half) ? [metric.mean - half, metric.mean + half] : null;
}
