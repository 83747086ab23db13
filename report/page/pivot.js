// Grouping the runs of a sweep: any metric over any parameters. report/sweep_figures.cpp does the same for files, and
// scenarios/sweep/query.cpp for `contend results`.

// 0.975 quantiles of Student's t, as sim/statistics.cpp has them, so that the page and the files agree.
const STUDENT_T = [12.7062047, 4.3026527, 3.1824463, 2.7764451, 2.5705818, 2.4469119, 2.3646243, 2.3060041, 2.2621572, 2.2281389,
                   2.2009852, 2.1788128, 2.1603687, 2.1447867, 2.1314495, 2.1199053, 2.1098156, 2.1009220, 2.0930241, 2.0859634,
                   2.0796138, 2.0738731, 2.0686576, 2.0638986, 2.0595386, 2.0555294, 2.0518305, 2.0484071, 2.0452296, 2.0422725];

// The same at 0.8.
const STUDENT_T_80 = [1.3763819, 1.0606602, 0.9784723, 0.9409646, 0.9195438, 0.9057033, 0.8960296, 0.8888895, 0.8834039, 0.8790578];

function studentT(degrees, table = STUDENT_T, z = 1.959963984540054) {
  if (degrees <= table.length) return table[degrees - 1];
  // The expansion in 1/degrees about the normal quantile z (Abramowitz and Stegun 26.7.5).
  const v = degrees;
  return z + (z ** 3 + z) / (4 * v) + (5 * z ** 5 + 16 * z ** 3 + 3 * z) / (96 * v * v)
    + (3 * z ** 7 + 19 * z ** 5 + 17 * z ** 3 - 15 * z) / (384 * v ** 3);
}

/** Whether values are equal but for the rounding of sums: as in estimate() of sim/statistics.cpp. */
function differByRounding(values) {
  const [low, high] = values.reduce(([least, most], v) => [Math.min(least, v), Math.max(most, v)], [Infinity, -Infinity]);
  return high - low <= 1e-14 * Math.max(Math.abs(low), Math.abs(high));
}

/**
 * {mean, half, count} of a list of numbers; half is null for fewer than two. Numbers of one job list, resampled, scatter
 * as that list's own figure errs.
 */
function estimateOf(values, resampled) {
  const count = values.length, mean = values.reduce((sum, v) => sum + v, 0) / count;
  if (count < 2) return {mean, half: null, count};
  const squares = differByRounding(values) ? 0 : values.reduce((sum, v) => sum + (v - mean) ** 2, 0);
  return {mean, half: studentT(count - 1) * Math.sqrt(squares / (count - 1) * (resampled ? 1 + 1 / count : 1 / count)), count};
}

/**
 * {mean, low, high, detectable}: the geometric mean of ratios from their logarithms; null unless all are finite. Where the
 * interval contains 1, `detectable` is the smallest increase that so many seeds show in four of five comparisons, as a
 * share: as detectable_beside_none() in results/paired_change.cpp.
 */
function ratioOf(logarithms, resampled) {
  const {mean, half, count} = estimateOf(logarithms, resampled);
  if (!Number.isFinite(mean)) return null;
  if (half === null) return {mean: Math.exp(mean), low: null, high: null, detectable: null};
  const error = half / studentT(count - 1), holdsNone = half > 0 && Math.abs(mean) <= half;
  return {
    mean: Math.exp(mean), low: Math.exp(mean - half), high: Math.exp(mean + half),
    detectable: holdsNone ? Math.expm1(half + studentT(count - 1, STUDENT_T_80, 0.8416212335729143) * error) : null,
  };
}

/** `+3.2%`, as the column `detectable` of `contend results` has it. */
function detectableText(share) {
  return isMissing(share) ? '–' : `+${digits(100 * share, 4)}%`;
}

/** The names of the values as people write them. */
function titlesOf(parameter) {
  return parameter.titles || parameter.names;
}

/**
 * The estimate of a group: averaged over its points, seed by seed, and then over seeds. Seeds that lack a value at a point
 * are left out; null where none is left.
 */
function groupEstimate(group, isRatio, resampled) {
  const count = group.points.size + group.waiting, means = [];
  for (const values of group.bySeed.values())
    if (values.length === count) means.push(values.reduce((sum, v) => sum + v, 0) / count);
  if (!means.length) return null;
  if (isRatio) return withRuns(ratioOf(means, resampled), means.length * count);
  const {mean, half} = estimateOf(means, resampled);
  return withRuns({mean, low: half === null ? null : mean - half, high: half === null ? null : mean + half}, means.length * count);
}

function withRuns(estimate, runs) {
  return estimate && {...estimate, runs};
}

/** The row with which each run is compared, -1 for none: of the point `partnerOf(row)` under the same seed. */
function partnerRows(sweep, partnerOf) {
  const rows = new Map();
  sweep.points.forEach((point, row) => rows.set(`${point} ${sweep.seeds[row]}`, row));
  return sweep.points.map((_, row) => rows.get(`${partnerOf(row)} ${sweep.seeds[row]}`) ?? -1);
}

/** The points that have this value of the parameter and agree with those of each run in all else. */
function partnersAt(sweep, parameter, code) {
  const others = sweep.parameters.filter((each) => each !== parameter), of = (row) => others.map((each) => each.codes[row]).join(' ');
  const points = new Map();
  sweep.points.forEach((point, row) => { if (parameter.codes[row] === code) points.set(of(row), point); });
  return partnerRows(sweep, (row) => points.get(of(row)));
}

/** Logarithms of ratios to the partners: as log_ratios() in report/sweep_groups.cpp. */
function logRatios(values, partners) {
  return values.map((value, row) => {
    const other = partners[row] < 0 ? null : values[partners[row]];
    if (isMissing(value) || isMissing(other)) return null;
    return value > 0 && other > 0 ? Math.log(value) - Math.log(other) : -Infinity;
  });
}

/**
 * Estimates by level of `by` and of x, over the rows that `keep` lets through: runs, and behind them the points that have
 * none yet. With `partners` they are ratios.
 */
function pivot(sweep, metric, x, by, keep = () => true, partners = null) {
  const count = by ? by.names.length : 1, values = partners ? logRatios(metric.values, partners) : metric.values;
  const groups = Array.from({length: count}, () => Array(x.names.length).fill(null));
  x.codes.forEach((code, row) => {
    if (!keep(row)) return;
    const line = groups[by ? by.codes[row] : 0], group = line[code] ||= {points: new Set(), waiting: 0, bySeed: new Map()};
    if (row >= sweep.points.length) {
      ++group.waiting;
      return;
    }
    group.points.add(sweep.points[row]);
    const value = values[row], seed = sweep.seeds[row];
    if (isMissing(value)) return;
    if (!group.bySeed.has(seed)) group.bySeed.set(seed, []);
    group.bySeed.get(seed).push(value);
  });
  return groups.map((row) => row.map((group) => group && groupEstimate(group, Boolean(partners), sweep.resampled)));
}

/** Whether rows that agree in `grouped` differ in the parameter. */
function isMixed(parameter, grouped, keep) {
  const codes = new Map();
  for (let row = 0; row < parameter.codes.length; ++row) {
    if (!keep(row)) continue;
    const group = grouped.map((each) => each.codes[row]).join(' '), code = parameter.codes[row];
    if (!codes.has(group)) codes.set(group, code);
    else if (codes.get(group) !== code) return true;
  }
  return false;
}

/** The number of different combinations of values of these parameters in the rows that are kept. */
function combinations(parameters, keep) {
  const found = new Set();
  parameters[0].codes.forEach((_, row) => { if (keep(row)) found.add(parameters.map((each) => each.codes[row]).join(' ')); });
  return found.size;
}

/** Points as if they were the values of a parameter: {names, codes, xCodes: the value of x of each}. */
function pointsAsValues(sweep, x) {
  const number = new Map(), xCodes = [], codes = [];
  [...sweep.points, ...sweep.waiting].forEach((point, row) => {
    if (!number.has(point)) {
      number.set(point, number.size);
      xCodes.push(x.codes[row]);
    }
    codes.push(number.get(point));
  });
  return {names: [...number.keys()], codes, xCodes};
}

/** The value of most rows that are left, the first of several. */
function mostFrequent(parameter, keep) {
  const count = new Map();
  parameter.codes.forEach((code, row) => { if (keep(row)) count.set(code, (count.get(code) || 0) + 1); });
  let best = null;
  for (const [code, times] of count) if (best === null || times > count.get(best)) best = code;
  return best;
}

/** Whether the levels can stand on an axis of numbers. */
function isNumeric(parameter) {
  return parameter.numeric && parameter.numbers.every((n) => !isMissing(n));
}

/** Ratio from which on an axis or a colour scale is logarithmic, and other limits: as in report/sweep_figures.cpp. */
const LOG_RANGE = 32, MOST_JOINED = 32, MOST_CELLS = 40000;

function levelAxis(parameter) {
  return {title: parameter.key, shown_title: parameter.title, unit: '', log: false, categories: parameter.names, shown_categories: titlesOf(parameter), ordered: isNumeric(parameter)};
}

/**
 * What a picture is about: {sweep, metric, x, by, keep, held: [[parameter, code]], averaged: [parameter], partners, baseline}.
 * Returns its lines and, over two parameters that have not too many values, its map; `cells` are the estimates, xCode(i) the
 * value of x in column i of them.
 */
function sweepFigures(about, id) {
  const {sweep, metric, x, by, keep, held, averaged, partners, baseline} = about;
  const others = sweep.parameters.filter((each) => each !== x && each !== by && !averaged.includes(each)), also = others.filter((each) => isMixed(each, by ? [by] : [], keep));
  // Where points that differ in more fall together, each is drawn by itself.
  const apart = also.some((each) => isMixed(each, by ? [x, by] : [x], keep)), columns = apart ? pointsAsValues(sweep, x) : x;
  const xCode = (i) => (apart ? columns.xCodes[i] : i), cells = pivot(sweep, metric, columns, by, keep, partners), numeric = isNumeric(x), names = by ? by.names : [metric.title], titles = by ? titlesOf(by) : names;
  const low = Math.min(...minMax(x.numbers)), high = Math.max(...minMax(x.numbers)), intervals = cells.some((row) => row.some((cell) => cell && cell.low !== null));
  const subject = capitalised(metric.title) + (partners ? ` relative to ${baseline}` : '') + (by ? ' by ' : ' over ') + x.title + (by ? ` and ${by.title}` : '');
  const title = subject + (held.length ? ` (${held.map(([parameter, code]) => `${parameter.title} = ${titlesOf(parameter)[code]}`).join(', ')})` : '');
  const over = averaged.map((each) => `${new Set(each.codes.filter((_, row) => keep(row))).size} values of ${each.title}`);
  if (sweep.repeat > 1) over.push(`${sweep.repeat} seeds`);
  const caption = `${capitalised(metric.text)}${partners ? `, over that with ${baseline} and all else equal, under the same seeds (geometric mean)` : ''}.`
    + (also.length ? ` ${apart ? 'Each dot is a point; they' : 'Points'} differ in ${also.map((each) => each.title).join(' and ')}, too.` : '') + (over.length ? ` Means over ${over.join(' and ')}.` : '');
  const value = partners ? {title: `${metric.title} / baseline`, unit: '', log: true} : {title: metric.title, unit: metric.unit, log: false, from_zero: true};
  const mark = apart || (also.length && numeric && x.names.length > MOST_JOINED) ? 'dots' : 'line';
  const isBounded = !partners && metric.unit === 'share';  // Student's t knows no bounds, and shares end at 0 and 1
  const figures = [{
    id: `${id}lines`, kind: 'xy', title, base: 0, diagonal: false, caption: caption + (intervals ? ' Bars: 95% Student-t intervals over seeds.' : ''),
    x: !numeric ? levelAxis(x) : {title: x.key, shown_title: x.title, unit: x.unit, log: low > 0 && high / low >= LOG_RANGE, ...(x.unit ? {ticks: x.numbers, tick_names: titlesOf(x)} : {})},
    y: value,
    series: cells.map((row, b) => {
      const present = row.map((cell, i) => [cell, i]).filter(([cell]) => cell);
      return {
        name: names[b], shown_name: titles[b], mark, x: present.map(([, i]) => (numeric ? x.numbers[xCode(i)] : xCode(i))), y: present.map(([cell]) => cell.mean),
        ...(intervals ? {low: present.map(([cell]) => (isBounded && cell.low < 0 ? Math.min(0, cell.mean) : cell.low)), high: present.map(([cell]) => (isBounded && cell.high > 1 ? Math.max(1, cell.mean) : cell.high))} : {}),
      };
    }).filter((series) => series.x.length > 0 || !by),
  }];
  if (by && !apart && x.names.length * by.names.length <= MOST_CELLS) {
    const values = cells.flatMap((row) => row.map((cell) => (cell ? cell.mean : null)));
    figures.push({
      id: `${id}map`, kind: 'heat', title, caption, x: levelAxis(x), y: levelAxis(by), value_title: value.title, value_unit: value.unit, x_from: 0, x_step: 1,
      columns: x.names.length, low: 0, high: 0, ...colouring(values, Boolean(partners)), values,
    });
  }
  return {figures, cells, xCode};
}

function minMax(values) {
  return values.reduce(([low, high], value) => (isMissing(value) ? [low, high] : [Math.min(low, value), Math.max(high, value)]), [Infinity, -Infinity]);
}

/** Colours by the logarithm where values range widely, and to both sides of 1 for ratios. */
function colouring(values, isRatio) {
  const [low, high] = minMax(values);
  if (!isRatio) return {log: low > 0 && high / low >= LOG_RANGE};
  const most = clamp(Math.max(high, 1 / low), 1.02, 16);
  return {log: false, middle: 1, low: 1 / most, high: most};
}
