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
  const scale = roundScale(axis, values, options);
  if (axis.ticks) scale.ticks = axis.ticks;
  return scale;
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
    return makeScale(low, high, true, logTicks(low, high, count));
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
  return makeScale(from, to, scale.log, scale.log ? logTicks(from, to, count) : linearTicks(from, to, count));
}

function categoryScale(count) {
  return makeScale(-0.5, count - 0.5, false, [...Array(count).keys()]);
}

/** Labels of the ticks; all with as many decimals as their distance needs. */
function tickLabels(scale, axis) {
  if (axis.categories) return axis.categories;
  if (axis.ticks) return scale.ticks.map((tick) => axis.tick_names[axis.ticks.indexOf(tick)]);
  const factor = axis.unit === 'share' ? 100 : 1;
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

function axisText(axis) {
  return axis.unit && !axis.ticks && axis.unit !== 'share' && axis.unit !== 'jobs' && axis.unit !== axis.title ? `${axis.title} [${unitText(axis.unit)}]` : axis.title;
}
