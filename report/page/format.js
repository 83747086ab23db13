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

/** A value with its unit: `s`, `share` (0..1) or whatever the data say. */
function quantity(value, unit) {
  if (value === null || value === undefined || !Number.isFinite(value)) return '–';
  if (unit === 'share') return percent(value);
  if (unit === 'Bps' || unit === 'B') return bytes(value) + (unit === 'B' ? '' : '/s');
  if (unit === 'per_s') return `${number(value)}/s`;
  return unit && unit !== 'jobs' ? `${number(value)} ${unitText(unit)}` : number(value);
}

/** A length of time from nanoseconds, in the unit that fits. */
function duration(ns) {
  const size = Math.abs(ns);
  if (size === 0) return '0 s';
  if (size < 1e3) return `${ns} ns`;
  if (size < 1e6) return `${digits(ns / 1e3, 6)} µs`;
  if (size < 1e9) return `${digits(ns / 1e6, 7)} ms`;
  if (size < 600e9) return `${digits(ns / 1e9, 7)} s`;
  if (size < 7200e9) return `${digits(ns / 60e9, 5)} min`;
  return `${digits(ns / 3600e9, 5)} h`;
}

/** A point in time from nanoseconds: seconds, with as many decimals as `step` (ns) needs. */
function instant(ns, step) {
  const decimals = Math.min(9, Math.max(0, Math.ceil(9 - Math.log10(step) - 1e-9)));
  return (ns / 1e9).toLocaleString('en-US', {minimumFractionDigits: decimals, maximumFractionDigits: decimals}) + ' s';
}

function bytes(count) {
  const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];
  let unit = 0;
  while (count >= 1024 && unit + 1 < units.length) {
    count /= 1024;
    ++unit;
  }
  return `${digits(count, 4)} ${units[unit]}`;
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
