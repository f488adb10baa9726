const clean = (x) => Number(x.toPrecision(12));

function linear(min, max, target) {
  const rough = (max - min) / Math.max(1, target);
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((m) => m * power).find((s) => s >= rough * 0.999);
  const major = [];
  for (let i = Math.ceil(min / step - 1e-9); i * step <= max * (1 + 1e-12) + step * 1e-9; i++) major.push(clean(i * step));
  return { major, minor: [] };
}

function logarithmic(min, max, target) {
  const low = Math.floor(Math.log10(min) + 1e-9);
  const high = Math.ceil(Math.log10(max) - 1e-9);
  const decades = Math.log10(max / min);
  const inside = (x) => x >= min * (1 - 1e-9) && x <= max * (1 + 1e-9);
  if (decades < 0.8) return linear(min, max, target);
  const every = Math.max(1, Math.ceil(decades / Math.max(1, target)));
  const labelled = decades * 4 <= target ? [1, 2, 3, 5] : decades < 3 && decades * 3 <= target + 1 ? [1, 2, 5] : [1];
  const major = [];
  const minor = [];
  for (let e = low; e <= high; e++) {
    for (let m = 1; m < 10; m++) {
      const x = clean(m * 10 ** e);
      if (!inside(x)) continue;
      if (labelled.includes(m) && e % every === 0) major.push(x);
      else if (m === 1 || decades <= 8) minor.push(x);
    }
  }
  return { major, minor };
}

/// Where to put about `target` labelled ticks, and the unlabelled ones between.
export function ticks(axis, min, max, target) {
  if (axis.ticks) return { major: axis.ticks.filter((x) => x >= min && x <= max), minor: [] };
  if (axis.whole && !axis.log && max - min <= target) target = Math.max(1, Math.floor(max) - Math.ceil(min));
  return (axis.log ? logarithmic : linear)(min, max, target);
}
