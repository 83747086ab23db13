// From values to places on an axis, with ticks at round numbers: report/plot_scale.cpp does the same for files.

/** What a logarithmic axis leaves free at both ends. */
const LOG_ROOM = 1.25;

function roundStep(range, count) {
  const rough = range / count;
  const power = 10 ** Math.floor(Math.log10(rough));
  for (const factor of [1, 2, 5]) if (factor * power >= rough * (1 - 1e-9)) return factor * power;
  return 10 * power;
}

/** {from, to, log, ticks, at(value) in 0..1, value(place)} */
function makeScale(from, to, log, ticks) {
  const span = log ? Math.log(to / from) : to - from;
  return {
    from, to, log, ticks,
    at: (value) => (log ? Math.log(value / from) : value - from) / span,
    value: (place) => (log ? from * Math.exp(place * span) : from + place * span),
  };
}

/** A first letter in capitals, as the title of a figure. */
function capitalised(text) {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** What people read on an axis; `title` and `categories` are what files have. */
function drawnTitle(axis) {
  return axis.shown_title || axis.title;
}
function drawnCategories(axis) {
  return axis.shown_categories || axis.categories;
}

/** Round times, in seconds, for a logarithmic axis: whole units and their tens. */
const ROUND_TIMES = [1e-9, 1e-8, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 0.1, 1, 10, 60, 600, 3600, 36000, 86400, 864000, 8640000];
const MORE_TIMES = [2, 5, 20, 30, 120, 300, 1200, 1800, 7200, 18000, 72000, 172800, 432000, 1728000];

function logTimeTicks(from, to) {
  const within = (list) => list.filter((tick) => tick >= from * (1 - 1e-9) && tick <= to * (1 + 1e-9));
  const round = within(ROUND_TIMES);
  if (round.length >= 3) return round;
  const small = ROUND_TIMES.slice(0, 9).flatMap((tick) => [2 * tick, 5 * tick]);
  const more = within([...ROUND_TIMES, ...small, ...MORE_TIMES]).sort((a, b) => a - b);
  return more.length >= 2 ? more : linearTicks(from, to, 4).filter((tick) => tick > 0);
}

/** A round time with the largest unit of which it is at least one. */
function roundTimeText(seconds) {
  const [name, length] = TIME_UNITS.findLast(([, each]) => seconds >= each * (1 - 1e-9)) || TIME_UNITS[0];
  return `${digits(seconds / length, 4)} ${name}`;
}

function linearTicks(from, to, count) {
  const step = roundStep(to - from, count);
  const ticks = [];
  for (let i = Math.ceil(from / step - 1e-9); i * step <= to + step * 1e-9; ++i) ticks.push(i * step || 0);  // no -0
  return ticks;
}

function logTicks(from, to, count) {
  const first = Math.floor(Math.log10(from) + 1e-9), last = Math.ceil(Math.log10(to) - 1e-9);
  const every = Math.max(1, Math.ceil((last - first) / (count * 1.5)));
  const factors = last - first > 3 ? [1] : [1, 2, 5];
  const ticks = [];
  for (let power = first; power <= last; ++power) {
    if ((power - first) % every !== 0) continue;
    for (const factor of factors) {
      const tick = factor * 10 ** power;
      if (tick >= from * (1 - 1e-9) && tick <= to * (1 + 1e-9)) ticks.push(tick);
    }
  }
  return ticks.length >= 2 ? ticks : linearTicks(from, to, count).filter((tick) => tick > 0);
}

/**
 * A scale for the finite values of an axis. `tight`: it ends at the outermost values, but for `room` of the range at both
 * ends; else at round numbers.
 */
function fitScale(axis, values, options = {}) {
  // Times are fitted in the unit in which they are told, so that the ticks are round there.
  const size = axis.unit === 's' && !axis.ticks && !axis.log ? largestOf(axis, values) : 0;
  const [name, length] = size > 0 ? timeUnit(size) : ['', 1];
  const scale = roundScale(axis, length === 1 ? values : values.map((value) => (isMissing(value) ? value : value / length)), options);
  if (axis.ticks) scale.ticks = axis.ticks;
  return length === 1 ? scale : inUnit(scale, name, length);
}

function largestOf(axis, values) {
  return values.reduce((most, value) => (Number.isFinite(value) ? Math.max(most, Math.abs(value)) : most), 0);
}

/** A scale in units as one of the values themselves, with {unit, length} for its ticks. */
function inUnit(scale, unit, length) {
  return {...makeScale(scale.from * length, scale.to * length, false, scale.ticks.map((tick) => tick * length)), unit, length};
}

function roundScale(axis, values, {tight = false, count = 5, room = 0}) {
  let low = Infinity, high = -Infinity;
  for (const value of values) {
    if (isMissing(value) || !Number.isFinite(value) || (axis.log && value <= 0)) continue;
    if (value < low) low = value;
    if (value > high) high = value;
  }
  if (low > high) low = high = axis.log ? 1 : 0;
  if (axis.log) {
    if (low === high) [low, high] = [low / 2, high * 2];
    const factor = tight ? (high / low) ** room : LOG_ROOM;
    [low, high] = [low / factor, high * factor];
    return makeScale(low, high, true, axis.unit === 's' ? logTimeTicks(low, high) : logTicks(low, high, count));
  }
  if (axis.from_zero) [low, high] = [Math.min(low, 0), Math.max(high, 0)];
  if (low === high) {
    const space = low === 0 ? 1 : Math.abs(low) * 0.1;
    [low, high] = [low - space, high + space];
  }
  if (tight) [low, high] = [low - room * (high - low), high + room * (high - low)];
  if (!tight) {
    const step = roundStep(high - low, count);
    low = Math.floor(low / step + 1e-9) * step;
    high = Math.ceil(high / step - 1e-9) * step;
  }
  return makeScale(low, high, false, linearTicks(low, high, count));
}

/** A window of a scale, with ticks of its own. */
function zoomScale(scale, axis, from, to, count = 6) {
  if (axis.ticks) return makeScale(from, to, scale.log, axis.ticks.filter((tick) => tick >= from && tick <= to));
  if (scale.log) return makeScale(from, to, true, axis.unit === 's' ? logTimeTicks(from, to) : logTicks(from, to, count));
  if (axis.unit !== 's') return makeScale(from, to, false, linearTicks(from, to, count));
  const [unit, length] = timeUnit(to);
  return inUnit(makeScale(from / length, to / length, false, linearTicks(from / length, to / length, count)), unit, length);
}

function categoryScale(count) {
  return makeScale(-0.5, count - 0.5, false, [...Array(count).keys()]);
}

/** Labels of the ticks; all with as many decimals as their distance needs. */
function tickLabels(scale, axis) {
  if (axis.categories) return drawnCategories(axis);
  if (axis.unit === 's' && scale.log && !axis.ticks) return scale.ticks.map(roundTimeText);
  if (axis.ticks && scale.ticks === axis.ticks) return axis.tick_names;
  if (axis.ticks) return scale.ticks.map((tick) => axis.tick_names[axis.ticks.indexOf(tick)]);
  const factor = axis.unit === 'share' ? 100 : scale.length ? 1 / scale.length : 1;
  const ticks = scale.ticks;
  return ticks.map((tick) => {
    const apart = scale.log || ticks.length < 2 ? Math.abs(tick) || 1 : ticks[1] - ticks[0];
    const decimals = clamp(Math.ceil(-Math.log10(apart * factor) - 1e-9), 0, 9);
    const shown = tick * factor;
    const text = Math.abs(shown) >= 1e7 || (shown !== 0 && Math.abs(shown) < 1e-5)
      ? shown.toExponential(1).replace('.0e', 'e')
      : shown.toLocaleString('en-US', {minimumFractionDigits: decimals, maximumFractionDigits: decimals});
    return axis.unit === 'share' ? text + '%' : text;
  });
}

/** The title of an axis with the unit of its ticks, unless they have it themselves. */
function axisText(axis, scale = {}) {
  const title = drawnTitle(axis), unit = scale.unit || axis.unit, told = axis.unit === 's' && scale.log;
  return unit && !axis.ticks && !told && unit !== 'share' && unit !== 'jobs' && unit !== axis.title ? `${title} [${unitText(unit)}]` : title;
}

/** Round instants between two times in ns: seconds by tens, minutes and hours as on a clock. {ticks, step} */
function timeTicks(from, to, count) {
  const rough = (to - from) / 1e9 / count, clock = [60, 120, 300, 600, 1200, 1800, 3600, 7200, 10800, 21600, 43200, 86400];
  const below = clock.find((each) => each >= rough * (1 - 1e-9));
  const seconds = rough <= 30 ? (rough > 20 ? 30 : roundStep(rough * count, count)) : below || 86400 * roundStep(rough * count / 86400, count);
  const step = seconds * 1e9, ticks = [];
  for (let i = Math.ceil(from / step - 1e-9); i * step <= to * (1 + 1e-12); ++i) ticks.push(i * step || 0);
  return {ticks, step};
}
