// Figures of kind `xy` and `box` as SVG that answers to the pointer. A figure is drawn for a width and a theme; the
// page draws it again when either changes, and once more, light, for a download.

const THEMES = {
  light: {
    text: '#24292f', muted: '#57606a', grid: '#e3e6ea', axis: '#8b949e', page: '#ffffff', boxes: '#b9d6ea',
    series: ['#0072b2', '#d55e00', '#009e73', '#cc79a7', '#e69f00', '#56b4e9', '#5c5c5c'],
  },
  dark: {
    text: '#e6edf3', muted: '#9aa4af', grid: '#2b323b', axis: '#6e7681', page: '#14181d', boxes: '#1f4e6b',
    series: ['#4ea8de', '#f08a4b', '#2fc59a', '#e29ac3', '#f2bd4b', '#8fd0f5', '#b5b5b5'],
  },
};
// Okabe and Ito's colours; lighter on dark ground.

const FIGURE_FONT = 'system-ui, "Segoe UI", Helvetica, Arial, sans-serif';
const DASHES = [null, '6 3', '2 2'];
/** Width of a text in the font of the figures, in pixels. */
const textWidth = (() => {
  const context = document.createElement('canvas').getContext('2d');
  return (text, size = 12) => {
    context.font = `${size}px ${FIGURE_FONT}`;
    return context.measureText(text).width;
  };
})();
/** Points of a series that are elements of their own. */
const MOST_CIRCLES = 2000;
/** Share of an axis that is left free beyond the outermost points, so that they are whole. */
const POINT_ROOM = 0.03;

function shortened(name, most = 26) {
  return name.length <= most ? name : name.slice(0, most - 1) + '…';
}

function seriesColour(theme, index) {
  return theme.series[index % theme.series.length];
}

/** A text cut so that it is at most so wide. */
function fitted(text, width, size = 12) {
  if (textWidth(text, size) <= width) return text;
  let low = 1, high = text.length;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (textWidth(text.slice(0, middle) + '…', size) <= width) low = middle; else high = middle - 1;
  }
  return text.slice(0, low) + '…';
}

/**
 * How the labels of an x axis stand: each below its tick where they fit; of values in order only every n-th where they
 * don't; and names, none of which can be left out, at an angle. {every, slope, most: width of a label, height}
 */
function labelPlan(labels, axis, width) {
  if (!axis.categories) return {every: 1, slope: false, most: Infinity, height: 0};
  const widest = labels.reduce((most, label) => Math.max(most, textWidth(label)), 0), slot = width / Math.max(1, labels.length);
  if (widest + 8 <= slot) return {every: 1, slope: false, most: Infinity, height: 0};
  if (axis.ordered) return {every: Math.ceil((widest + 10) / slot), slope: false, most: Infinity, height: 0};
  const most = Math.min(widest, 130);
  return {every: Math.ceil(15 / slot), slope: true, most, height: Math.ceil(most * 0.6) + 4};
}

/**
 * The frame of a plot: an SVG with axes and a name; returns places for marks. `below`: a second line for each label of x.
 */
function makeFrame({width, height, x, y, xAxis, yAxis, theme, top = 10, name = '', below = null}) {
  const yLabels = tickLabels(y, yAxis).map((label) => fitted(label, width * 0.3));
  const widest = Math.max(18, ...yLabels.map((label) => textWidth(label)));
  const left = Math.min(width * 0.4, widest + 36), right = width - 14;
  let xLabels = tickLabels(x, xAxis);
  const plan = labelPlan(xLabels, xAxis, right - left);
  if (plan.slope && below) xLabels = xLabels.map((label, i) => `${label}, ${below[i]}`);
  const bottom = height - 44 - plan.height - (below && !plan.slope ? 14 : 0);
  const px = (value) => left + x.at(value) * (right - left);
  const py = (value) => bottom - y.at(value) * (bottom - top);
  const root = shape('svg', {
    viewBox: `0 0 ${width} ${height}`, width, height, 'font-family': FIGURE_FONT, 'font-size': 12, fill: theme.text, role: 'img', 'aria-label': name,
  });
  const every = yAxis.categories ? Math.ceil(yLabels.length / Math.max(1, (bottom - top) / 14)) : 1;
  yLabels.forEach((label, i) => {
    if (i % every) return;
    const at = py(yAxis.categories ? i : y.ticks[i]);
    if (!yAxis.categories)
      root.append(shape('line', {x1: left, x2: right, y1: at, y2: at, stroke: theme.grid}));
    root.append(shape('text', {class: 'ylabel', x: left - 7, y: at + 4, 'text-anchor': 'end', fill: theme.muted, text: label}));
  });
  root.append(shape('line', {x1: left, x2: right, y1: bottom, y2: bottom, stroke: theme.axis}));
  let free = -Infinity, mark = -Infinity;
  xLabels.forEach((full, i) => {
    const at = px(xAxis.categories ? i : x.ticks[i]);
    if (at - mark < 2) return;  // a sweep may have thousands of values
    mark = at;
    root.append(shape('line', {x1: at, x2: at, y1: bottom, y2: bottom + 4, stroke: theme.axis}));
    if (i % plan.every) return;
    if (plan.slope) {
      root.append(shape('text', {class: 'xlabel', transform: `translate(${at + 4} ${bottom + 14}) rotate(-35)`, 'text-anchor': 'end', fill: theme.muted,
                                 text: fitted(full, Math.min(plan.most, (at - 4) / 0.82))}));
      return;
    }
    if (at < free) return;
    const half = textWidth(full) / 2, middle = Math.min(at, width - half - 1);
    if (middle - half < free || middle < at - 14) return;
    root.append(shape('text', {class: 'xlabel', x: middle, y: bottom + 17, 'text-anchor': 'middle', fill: theme.muted, text: full}));
    if (below) root.append(shape('text', {class: 'xlabel', x: middle, y: bottom + 31, 'text-anchor': 'middle', fill: theme.muted, 'font-size': 11, text: below[i]}));
    free = middle + half + 8;
  });
  root.append(shape('text', {class: 'xtitle', x: (left + right) / 2, y: height - 7, 'text-anchor': 'middle', text: axisText(xAxis, x)}));
  root.append(shape('text', {
    class: 'ytitle', transform: `translate(13 ${(top + bottom) / 2}) rotate(-90)`, 'text-anchor': 'middle', text: fitted(axisText(yAxis, y), bottom - top + 30),
  }));
  return {root, px, py, left, right, top, bottom, x, y};
}

/** The dash of series i: each colour comes back with another. */
function dashOf(theme, i) {
  return DASHES[Math.floor(i / theme.series.length) % DASHES.length];
}

/** Names above a plot, as their series look; a click hides one. Returns the element and its height. */
/** Series with one name, such as a line and its dots, are one to the reader: the index of the first of them. */
function firstOfName(series, one) {
  return series.findIndex((other) => other.name === one.name);
}

function makeLegend(series, colours, width, theme, hidden, toggle) {
  const group = shape('g', {});
  let x = 4, y = 14;
  series.forEach((one, i) => {
    if (firstOfName(series, one) < i) return;
    const name = shortened(one.shown_name || one.name, 40);
    const length = textWidth(name) + 36;
    if (x + length > width && x > 4) {
      x = 4;
      y += 19;
    }
    const item = shape('g', {
      opacity: hidden.has(i) ? 0.35 : 1, cursor: toggle ? 'pointer' : null, tabindex: toggle ? 0 : null,
      role: toggle ? 'button' : null, 'aria-pressed': toggle ? String(!hidden.has(i)) : null,
      onclick: toggle && (() => toggle(i)),
      onkeydown: toggle && ((event) => { if (event.key === 'Enter' || event.key === ' ') { event.preventDefault(); toggle(i); } }),
    });
    if (one.mark === 'line' || one.mark === 'step')
      item.append(shape('line', {
        x1: x, y1: y - 4, x2: x + 14, y2: y - 4, stroke: colours[i], 'stroke-width': 2.4, 'stroke-dasharray': dashOf(theme, i),
      }));
    else
      item.append(shape('rect', {x, y: y - 9, width: 14, height: 9, rx: 2, fill: colours[i]}));
    item.append(shape('text', {x: x + 19, y, text: name, fill: theme.text}));
    group.append(item);
    x += length;
  });
  return {group, height: y + 8};
}

function pathOf(series, frame, plot) {
  let path = '', down = false;
  for (let i = 0; i < series.x.length; ++i) {
    const [x, y] = [series.x[i], series.y[i]];
    if (isMissing(x) || isMissing(y) || (plot.x.log && x <= 0) || (plot.y.log && y <= 0)) {
      down = false;
      continue;
    }
    const at = [frame.px(x).toFixed(1), frame.py(y).toFixed(1)];
    path += down ? (series.mark === 'step' ? `H${at[0]}V${at[1]}` : `L${at[0]} ${at[1]}`) : `M${at[0]} ${at[1]}`;
    down = true;
  }
  return path;
}

function drawSeries(layer, series, frame, figure, colour, dash, theme) {
  const {px, py} = frame;
  const drawable = (x, y) =>
    !isMissing(x) && !isMissing(y) && !(figure.x.log && x <= 0) && !(figure.y.log && y <= 0);
  if (series.mark === 'bars') {
    const half = clamp((frame.right - frame.left) / Math.max(1, series.x.length) * 0.4, 0.4, 24);
    series.x.forEach((x, i) => {
      if (!drawable(x, series.y[i])) return;
      const [y1, y2] = [py(series.y[i]), py(figure.base)];
      layer.append(shape('rect', {
        x: px(x) - half, width: 2 * half, y: Math.min(y1, y2), height: Math.abs(y1 - y2), fill: colour,
      }));
    });
    return;
  }
  if (series.mark !== 'dots') {
    layer.append(shape('path', {
      d: pathOf(series, frame, figure), fill: 'none', stroke: colour, 'stroke-width': 1.7, 'stroke-linejoin': 'round',
      'stroke-dasharray': dash,
    }));
  }
  if (series.mark === 'step') return;
  if (series.x.length > MOST_CIRCLES) {
    // As one element: thousands would take seconds.
    const dot = 'm-1.5 0a1.5 1.5 0 1 0 3 0a1.5 1.5 0 1 0-3 0';
    const path = series.x.map((x, i) => (drawable(x, series.y[i]) ? `M${px(x).toFixed(1)} ${py(series.y[i]).toFixed(1)}${dot}` : '')).join('');
    layer.append(shape('path', {d: path, fill: colour, 'fill-opacity': 0.7}));
    return;
  }
  const radius = 3;
  series.x.forEach((x, i) => {
    if (!drawable(x, series.y[i])) return;
    const [low, high] = [series.low && series.low[i], series.high && series.high[i]];
    if (!isMissing(low) && !isMissing(high) && drawable(x, low)) {
      layer.append(shape('path', {
        d: `M${px(x)} ${py(low)}V${py(high)}M${px(x) - 4} ${py(low)}h8M${px(x) - 4} ${py(high)}h8`, stroke: colour,
        'stroke-width': 1.3, fill: 'none',
      }));
    }
    if (series.mark === 'dots' || series.x.length <= 60)
      layer.append(shape('circle', {
        cx: px(x), cy: py(series.y[i]), r: radius, fill: colour, 'fill-opacity': series.mark === 'dots' ? 0.8 : 1,
        stroke: theme.page, 'stroke-width': 0.6,
      }));
  });
}

function xyScales(figure, hidden, zoom, width, height) {
  const shown = figure.series.filter((_, i) => !hidden.has(i));
  const list = shown.length ? shown : figure.series;
  const xs = list.flatMap((s) => s.x), ys = list.flatMap((s) => [...s.y, ...(s.high || [])]);
  // Where no value is negative, an interval does not make the axis so.
  const positive = ys.every((y) => isMissing(y) || y >= 0);
  for (const low of list.flatMap((s) => s.low || [])) if (!isMissing(low)) ys.push(positive ? Math.max(low, 0) : low);
  if (list.some((s) => s.mark === 'bars')) {
    ys.push(figure.base);
    const ends = xs.reduce(([low, high], x) => [Math.min(low, x), Math.max(high, x)], [Infinity, -Infinity]);
    if (ends[0] <= ends[1]) xs.push(ends[0] - 0.5, ends[1] + 0.5);
  }
  for (const bound of [figure.y.at_least, figure.y.at_most]) if (Number.isFinite(bound)) ys.push(bound);
  const room = list.some((s) => s.mark === 'line' || s.mark === 'dots') ? POINT_ROOM : 0;
  if (figure.diagonal) {
    // One range for both, so that the diagonal is x = y.
    const both = list.flatMap((s) => [...s.x, ...s.y]);
    xs.push(...both);
    ys.push(...both);
  }
  const counts = [clamp(width / 110, 3, 9), clamp(height / 48, 3, 7)];
  let x = figure.x.categories ? categoryScale(figure.x.categories.length)
                              : fitScale(figure.x, xs, {tight: true, count: counts[0], room});
  if (zoom) x = zoomScale(x, figure.x, zoom[0], zoom[1], counts[0]);
  const y = fitScale(figure.y, ys, {tight: figure.diagonal, count: counts[1], room});
  return {x, y};
}

/** What a reader hears who does not see the figure. */
function accessibleName(figure) {
  return figure.caption ? `${figure.title}. ${figure.caption}` : figure.title;
}

/** Draws a figure of kind `xy`. `state` keeps what the reader did: {hidden: Set, zoom: [from, to]}. */
function drawXy(figure, {width, height, theme, state, redraw}) {
  const {hidden} = state;
  const colours = figure.series.map((one) => seriesColour(theme, firstOfName(figure.series, one)));
  const legend = figure.series.length > 1
    ? makeLegend(figure.series, colours, width, theme, hidden, redraw && ((i) => {
      const shown = hidden.has(i);
      figure.series.forEach((one, k) => {
        if (one.name !== figure.series[i].name) return;
        if (shown) hidden.delete(k); else hidden.add(k);
      });
      redraw();
    }))
    : {group: null, height: 6};
  const {x, y} = xyScales(figure, hidden, state.zoom, width, height);
  const frame = makeFrame({width, height: height + legend.height, x, y, xAxis: figure.x, yAxis: figure.y, theme, top: legend.height + 4, name: accessibleName(figure)});
  if (legend.group) frame.root.append(legend.group);
  // What can be pressed is not hidden in an image.
  if (legend.group && redraw) frame.root.setAttribute('role', 'group');
  const clip = `clip-${figure.id}`;
  frame.root.append(shape('clipPath', {id: clip}, shape('rect', {
    x: frame.left, y: frame.top - 6, width: frame.right - frame.left + 6, height: frame.bottom - frame.top + 6,
  })));
  const layer = shape('g', {'clip-path': `url(#${clip})`});
  if (figure.diagonal)
    layer.append(shape('line', {
      x1: frame.left, y1: frame.bottom, x2: frame.right, y2: frame.top, stroke: theme.axis, 'stroke-dasharray': '4 3',
    }));
  figure.series.forEach((series, i) => {
    if (!hidden.has(i))
      drawSeries(layer, series, frame, figure, colours[i], dashOf(theme, i), theme);
  });
  if (figure.series.some((s) => s.mark === 'bars'))
    layer.append(shape('line', {
      x1: frame.left, x2: frame.right, y1: frame.py(figure.base), y2: frame.py(figure.base), stroke: theme.axis,
    }));
  frame.root.append(layer);
  return frame;
}

/** The point of the shown series nearest to a place of the plot, by x first for lines. */
function nearestPoint(figure, hidden, frame, at) {
  let best = null;
  figure.series.forEach((series, s) => {
    if (hidden.has(s)) return;
    const free = series.mark === 'dots' && !figure.x.categories;
    for (let i = 0; i < series.x.length; ++i) {
      if (isMissing(series.x[i]) || isMissing(series.y[i])) continue;
      const dx = frame.px(series.x[i]) - at.x, dy = frame.py(series.y[i]) - at.y;
      if (series.mark === 'step' && dx > 0.5) continue;  // a value holds from its place on
      const distance = free ? Math.hypot(dx, dy) : Math.abs(dx) + Math.abs(dy) * 0.02;
      if (!best || distance < best.distance) best = {s, i, distance};
    }
  });
  return best;
}

function xyTooltip(figure, hidden, frame, at) {
  const best = nearestPoint(figure, hidden, frame, at);
  if (!best) return null;
  const series = figure.series[best.s];
  const named = (value) => figure.x.ticks && figure.x.tick_names[figure.x.ticks.indexOf(value)];
  const xText = (value) => figure.x.categories ? drawnCategories(figure.x)[value] : named(value) || quantity(value, figure.x.unit);
  const lines = [];
  if (series.labels) lines.push(series.labels[best.i]);
  lines.push(`${drawnTitle(figure.x)}: ${xText(series.x[best.i])}`);
  const others = series.mark === 'dots' && !figure.x.categories ? [best.s] : figure.series.map((_, s) => s);
  for (const s of others) {
    if (hidden.has(s)) continue;
    const each = figure.series[s];
    const i = s === best.s ? best.i : indexAt(each, series.x[best.i]);
    if (i < 0 || isMissing(each.y[i])) continue;
    const interval = each.low && !isMissing(each.low[i])
      ? ` [${quantity(each.low[i], figure.y.unit)}, ${quantity(each.high[i], figure.y.unit)}]` : '';
    const name = figure.series.length > 1 ? each.shown_name || each.name : figure.y.title;
    lines.push(`${name}: ${quantity(each.y[i], figure.y.unit)}${interval}`);
    if (lines.length > 12) break;
  }
  return {lines, x: frame.px(series.x[best.i]), y: frame.py(series.y[best.i])};
}

/** The index of the value at x: the last one not after it for steps, the same x for the rest; -1 if none. */
function indexAt(series, x) {
  if (series.mark !== 'step') return series.x.indexOf(x);
  let low = 0, high = series.x.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (series.x[middle] <= x) low = middle + 1; else high = middle;
  }
  return low - 1;
}

/** Draws a figure of kind `box`. */
function drawBoxes(figure, {width, height, theme}) {
  const values = figure.groups.flatMap((g) => [g.low, g.high, ...g.outliers]);
  const xAxis = {title: figure.group_title, unit: '', categories: figure.groups.map((g) => g.name)};
  const frame = makeFrame({
    width, height, x: categoryScale(figure.groups.length), y: fitScale(figure.y, values, {count: height / 48}), xAxis,
    yAxis: figure.y, theme, name: accessibleName(figure), below: figure.groups.map((g) => `n=${g.count}`),
  });
  const half = Math.min(36, (frame.right - frame.left) / figure.groups.length * 0.3);
  const py = (value) => figure.y.log && value <= 0 ? frame.bottom : frame.py(value);
  figure.groups.forEach((g, i) => {
    const x = frame.px(i);
    const group = shape('g', {stroke: theme.text, fill: 'none'});
    group.append(shape('path', {d: `M${x} ${py(g.low)}V${py(g.q1)}M${x} ${py(g.q3)}V${py(g.high)}M${x - half / 2} ${py(g.low)}h${half}M${x - half / 2} ${py(g.high)}h${half}`}));
    group.append(shape('rect', {x: x - half, width: 2 * half, y: py(g.q3), height: Math.max(1, py(g.q1) - py(g.q3)), fill: theme.boxes}));
    group.append(shape('line', {x1: x - half, x2: x + half, y1: py(g.median), y2: py(g.median), 'stroke-width': 2.4}));
    for (const value of g.outliers) group.append(shape('circle', {cx: x, cy: py(value), r: 2.2}));
    frame.root.append(group);
  });
  return frame;
}

function boxTooltip(figure, frame, at) {
  const i = clamp(Math.round(frame.x.value((at.x - frame.left) / (frame.right - frame.left))), 0, figure.groups.length - 1);
  const g = figure.groups[i], unit = figure.y.unit;
  const lines = [`${figure.group_title}: ${g.name} (${g.count})`];
  for (const [name, value] of [['whisker', g.high], ['75%', g.q3], ['median', g.median], ['mean', g.mean], ['25%', g.q1], ['whisker', g.low]])
    lines.push(`${name}: ${quantity(value, unit)}`);
  return {lines, x: frame.px(i), y: frame.py(g.median)};
}
