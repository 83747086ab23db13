// Grouping the runs of a sweep: any metric over any parameters. report/sweep_figures.cpp does the same for files, and
// scenarios/sweep/query.cpp for `contend results`.

// 0.975 quantiles of Student's t, as sim/statistics.cpp has them, so that the page and the files agree.
const STUDENT_T = [12.7062047, 4.3026527, 3.1824463, 2.7764451, 2.5705818, 2.4469119, 2.3646243, 2.3060041, 2.2621572, 2.2281389,
                   2.2009852, 2.1788128, 2.1603687, 2.1447867, 2.1314495, 2.1199053, 2.1098156, 2.1009220, 2.0930241, 2.0859634,
                   2.0796138, 2.0738731, 2.0686576, 2.0638986, 2.0595386, 2.0555294, 2.0518305, 2.0484071, 2.0452296, 2.0422725];

function studentT(degrees) {
  if (degrees <= STUDENT_T.length) return STUDENT_T[degrees - 1];
  // The expansion in 1/degrees about the normal quantile (Abramowitz and Stegun 26.7.5).
  const z = 1.959963984540054, v = degrees;
  return z + (z ** 3 + z) / (4 * v) + (5 * z ** 5 + 16 * z ** 3 + 3 * z) / (96 * v * v)
    + (3 * z ** 7 + 19 * z ** 5 + 17 * z ** 3 - 15 * z) / (384 * v ** 3);
}

/** {mean, half, count} of a list of numbers; half is null for fewer than two. */
function estimateOf(values) {
  const count = values.length, mean = values.reduce((sum, v) => sum + v, 0) / count;
  if (count < 2) return {mean, half: null, count};
  const squares = values.reduce((sum, v) => sum + (v - mean) ** 2, 0);
  return {mean, half: studentT(count - 1) * Math.sqrt(squares / (count - 1) / count), count};
}

/** The values of a parameter in order: numbers first, then texts. {names, numbers, rank: by code} */
function levelsOf(parameter) {
  const order = parameter.names.map((_, code) => code).sort((a, b) => {
    const [x, y] = [parameter.numbers[a], parameter.numbers[b]];
    if (isMissing(x) || isMissing(y)) return isMissing(x) - isMissing(y) || (parameter.names[a] < parameter.names[b] ? -1 : 1);
    return x - y;
  });
  const rank = [];
  order.forEach((code, place) => { rank[code] = place; });
  return {names: order.map((code) => parameter.names[code] || '(none)'), numbers: order.map((code) => parameter.numbers[code]), rank};
}

/**
 * The estimate of a group: averaged over its points, seed by seed, and then over seeds. Seeds that lack a value at a point
 * are left out; null where none is left.
 */
function groupEstimate(group) {
  const count = group.points.size + group.waiting, means = [];
  for (const values of group.bySeed.values())
    if (values.length === count) means.push(values.reduce((sum, v) => sum + v, 0) / count);
  return means.length ? estimateOf(means) : null;
}

/**
 * Estimates by level of `by` and of x, over the rows that `keep` lets through: runs, and behind them the points that have
 * none yet.
 */
function pivot(sweep, metric, x, by, keep = () => true) {
  const xLevels = levelsOf(x), byLevels = by ? levelsOf(by) : {names: [metric.title], numbers: [null], rank: [0]};
  const groups = byLevels.names.map(() => xLevels.names.map(() => ({points: new Set(), waiting: 0, bySeed: new Map()})));
  x.codes.forEach((code, row) => {
    if (!keep(row)) return;
    const group = groups[by ? byLevels.rank[by.codes[row]] : 0][xLevels.rank[code]];
    if (row >= sweep.points.length) {
      ++group.waiting;
      return;
    }
    group.points.add(sweep.points[row]);
    const value = metric.values[row], seed = sweep.seeds[row];
    if (isMissing(value)) return;
    if (!group.bySeed.has(seed)) group.bySeed.set(seed, []);
    group.bySeed.get(seed).push(value);
  });
  return {xLevels, byLevels, cells: groups.map((row) => row.map(groupEstimate))};
}

/** Whether the levels can stand on an axis of numbers. */
function isNumeric(parameter) {
  return parameter.numeric && parameter.numbers.every((n) => !isMissing(n));
}

function lineFigure(sweep, metric, x, by, keep, id, title) {
  const {xLevels, byLevels, cells} = pivot(sweep, metric, x, by, keep), numeric = isNumeric(x);
  const low = Math.min(...xLevels.numbers), high = Math.max(...xLevels.numbers);
  return {
    id, kind: 'xy', title, base: 0, diagonal: false,
    caption: `${metric.text}${by ? `, a line a value of ${by.key}` : ''}; means over the points with these values and over seeds, bars: 95% Student-t intervals over seeds.`,
    x: numeric ? {title: x.key, unit: x.unit, log: low > 0 && high / low >= 32, ...(x.unit ? {ticks: xLevels.numbers, tick_names: xLevels.names} : {})} : {title: x.key, unit: '', log: false, categories: xLevels.names},
    y: {title: metric.title, unit: metric.unit, log: false, from_zero: true},
    series: cells.map((row, b) => {
      const present = row.map((cell, i) => [cell, i]).filter(([cell]) => cell);
      return {
        name: byLevels.names[b], mark: 'line', x: present.map(([, i]) => (numeric ? xLevels.numbers[i] : i)), y: present.map(([cell]) => cell.mean),
        low: present.map(([cell]) => (cell.half === null ? null : cell.mean - cell.half)),
        high: present.map(([cell]) => (cell.half === null ? null : cell.mean + cell.half)),
      };
    }),
  };
}

function mapFigure(sweep, metric, x, by, keep, id, title) {
  const {xLevels, byLevels, cells} = pivot(sweep, metric, x, by, keep);
  return {
    id, kind: 'heat', title, caption: `${metric.text}; means over the points with these values and over seeds.`, x: {title: x.key, unit: '', categories: xLevels.names},
    y: {title: by ? by.key : '', unit: '', categories: byLevels.names}, value_title: metric.title, value_unit: metric.unit, x_from: 0, x_step: 1,
    columns: xLevels.names.length, low: 0, high: 0, values: cells.flat().map((cell) => (cell ? cell.mean : null)),
  };
}
