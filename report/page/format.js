'use strict';
// Numbers, times and sizes as people read them, and small helpers for making elements. Text from the data reaches the
// document only through textContent and attributes, never as markup.

const SVG = 'http://www.w3.org/2000/svg';

function fill(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes || {})) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith('on')) node.addEventListener(name.slice(2), value);
    else if (name === 'text') node.textContent = value;
    else node.setAttribute(name, value === true ? '' : value);
  }
  for (const child of children) if (child !== null && child !== undefined) node.append(child);
  return node;
}

/** An HTML element: attributes, `text`, `onclick`; children are nodes or strings. */
function el(tag, attributes, ...children) {
  return fill(document.createElement(tag), attributes, children);
}

/** The same for SVG. */
function shape(tag, attributes, ...children) {
  return fill(document.createElementNS(SVG, tag), attributes, children);
}

function digits(value, count) {
  return value.toLocaleString('en-US', {maximumSignificantDigits: count});
}

/** About five significant digits, thousands separated. */
function number(value) {
  if (value === null || value === undefined || !Number.isFinite(value)) return '–';
  const size = Math.abs(value);
  if (size !== 0 && (size < 1e-4 || size >= 1e12)) return value.toExponential(3);
  if (size >= 1e5) return Math.round(value).toLocaleString('en-US');
  return digits(value, 5);
}

function percent(share) {
  if (share === null || share === undefined || !Number.isFinite(share)) return '–';
  return digits(100 * share, 4) + '%';
}

/** Units as people write them. */
function unitText(unit) {
  return {s_per_B: 's/B', Bps: 'B/s', per_s: '1/s'}[unit] || unit;
}

/** Units of time with their lengths in seconds. */
const TIME_UNITS = [['ns', 1e-9], ['µs', 1e-6], ['ms', 1e-3], ['s', 1], ['min', 60], ['h', 3600], ['d', 86400]];

/** The unit in which people tell a time: from two minutes, hours or days on the larger one. */
function timeUnit(seconds) {
  const size = Math.abs(seconds);
  if (size === 0) return TIME_UNITS[3];
  for (const [i, limit] of [[0, 1e-6], [1, 1e-3], [2, 1], [3, 120], [4, 7200], [5, 172800]]) if (size < limit) return TIME_UNITS[i];
  return TIME_UNITS[6];
}

/** A number with `count` significant digits, but never fewer than it has before the point. */
function rounded(value, count) {
  return Math.abs(value) >= 10 ** count ? Math.round(value).toLocaleString('en-US') : digits(value, count);
}

/** A length of time in seconds. */
function timeText(seconds, count = 4) {
  const [name, length] = timeUnit(seconds);
  return `${rounded(seconds / length, count)} ${name}`;
}

/** Units that the title of a figure names: results/result_columns.cpp, is_count(). */
const COUNTS = ['jobs', 'preemptions', 'interruptions', 'restarts'];

/** A value with its unit: `s`, `share` (0..1) or whatever the data say. */
function quantity(value, unit, count = 4) {
  if (value === null || value === undefined || !Number.isFinite(value)) return '–';
  if (unit === 's') return timeText(value, count);
  if (unit === 'share') return percent(value);
  if (unit === 'Bps' || unit === 'B') return bytes(value) + (unit === 'B' ? '' : '/s');
  if (unit === 'per_s') return `${number(value)}/s`;
  if (unit === 'flag') return value ? 'yes' : 'no';
  return unit && !COUNTS.includes(unit) ? `${number(value)} ${value === 1 ? unitText(unit).replace(/s$/, '') : unitText(unit)}` : number(value);
}

/** The same with half the width of its interval, both in one unit. */
function withSpread(value, half, unit) {
  if (isMissing(half) || !(half > 0)) return quantity(value, unit);
  if (unit !== 's') return `${quantity(value, unit)} ± ${quantity(half, unit)}`;
  const [name, length] = timeUnit(value);
  return `${rounded(value / length, 4)} ± ${rounded(half / length, 3)} ${name}`;
}

/** What a rounded value was, for those who point at it; null where it tells nothing new. */
function exactText(value, unit) {
  return unit === 's' && Number.isFinite(value) && Math.abs(value) >= 120 ? `${value.toLocaleString('en-US', {maximumFractionDigits: 9})} s` : null;
}

/** A length of time from nanoseconds. */
function duration(ns) {
  const [name, length] = timeUnit(ns / 1e9);
  return `${digits(ns / 1e9 / length, 7)} ${name}`;
}

function inSeconds(ns, decimals) {
  return (ns / 1e9).toLocaleString('en-US', {minimumFractionDigits: decimals, maximumFractionDigits: decimals}) + ' s';
}

/**
 * A point in time from nanoseconds, as exact as `step` (ns) needs: seconds below two minutes, then hours, minutes and
 * seconds as on a clock, or whole hours or days where `step` is one.
 */
function instant(ns, step) {
  const decimals = clamp(Math.ceil(9 - Math.log10(step) - 1e-9), 0, 9);
  if (ns < 120e9 && step < 60e9) return inSeconds(ns, decimals);
  if (step >= 86400e9) return `${Math.round(ns / 86400e9).toLocaleString('en-US')} d`;
  if (step >= 3600e9) return `${Math.round(ns / 3600e9).toLocaleString('en-US')} h`;
  const scale = 10 ** decimals, whole = Math.round(ns / 1e9 * scale), seconds = whole / scale;
  const hours = Math.floor(seconds / 3600), minutes = Math.floor(seconds / 60) % 60;
  if (step >= 60e9) return `${hours}:${String(minutes).padStart(2, '0')} h`;
  const rest = (seconds - 3600 * hours - 60 * minutes).toFixed(decimals);
  return `${hours}:${String(minutes).padStart(2, '0')}:${rest.padStart(decimals ? decimals + 3 : 2, '0')}`;
}

/** Names in the order in which people list them: job-2 before job-10. */
const naturalOrder = new Intl.Collator('en', {numeric: true}).compare;

function bytes(count) {
  const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];
  let unit = 0;
  while (count >= 1024 && unit + 1 < units.length) {
    count /= 1024;
    ++unit;
  }
  return `${digits(count, 4)} ${units[unit]}`;
}

/** What a * behind figures over finished jobs means, as `contend run` says it. */
const CENSORED = '* over the finished jobs alone, so a policy that leaves long jobs unfinished looks good, and so do failures after which they are given up; let all jobs end, or choose the jobs that count by `measure`';

/** Whether figures over the finished jobs of a run leave out jobs that were submitted. */
function isCensored(metrics) {
  const value = (name) => (metrics.find((metric) => metric.name === name) || {value: 0}).value;
  return value('finished') > 0 && value('unfinished') + value('given_up') > 0;
}

function isMissing(value) {
  return value === null || value === undefined || Number.isNaN(value);
}

/** Rows of fields as CSV (RFC 4180). A text that a spreadsheet would run gets a guard: text/csv.cpp does the same. */
function csvText(rows) {
  const field = (value) => {
    const plain = isMissing(value) ? '' : String(value);
    const runs = /^'*[=+\-@\t\r\n]/.test(plain) && !/^-(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(plain);
    const text = runs ? "'" + plain : plain;
    return /[",\r\n]/.test(text) ? '"' + text.replaceAll('"', '""') + '"' : text;
  };
  return rows.map((row) => row.map(field).join(',')).join('\n') + '\n';
}

function clamp(value, low, high) {
  return Math.min(high, Math.max(low, value));
}
