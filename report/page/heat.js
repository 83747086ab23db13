// Heat maps: the cells are an image of one pixel each, so that a map of many thousand cells is one element.

// Every eighth of viridis (S. van der Walt and N. Smith, matplotlib, CC0), even in lightness.
const HEAT = [[68, 1, 84], [71, 45, 123], [59, 82, 139], [44, 114, 142], [33, 144, 140], [39, 173, 129], [93, 200, 99],
              [170, 220, 50], [253, 231, 37]];

function heatColour(shade) {
  const place = clamp(shade, 0, 1) * (HEAT.length - 1), below = Math.min(Math.floor(place), HEAT.length - 2);
  return HEAT[below].map((c, i) => Math.round(c + (HEAT[below + 1][i] - c) * (place - below)));
}

/** Vermilion, white, blue: below, at and above the middle. shade: -1 to 1. */
function divergingColour(shade) {
  const end = shade < 0 ? [213, 94, 0] : [0, 114, 178], part = Math.min(1, Math.abs(shade));
  return end.map((c) => Math.round(255 + (c - 255) * part));
}

function heatRange(figure) {
  if (figure.low < figure.high) return [figure.low, figure.high];
  let low = Infinity, high = -Infinity;
  for (const value of figure.values) {
    if (isMissing(value) || (figure.log && value <= 0)) continue;
    low = Math.min(low, value);
    high = Math.max(high, value);
  }
  return low <= high ? [low, high] : [figure.log ? 0.1 : 0, 1];
}

/** The colour of a value; null where it has none. report/colours.cpp does the same for files. */
function cellColour(figure, value, [low, high]) {
  if (isMissing(value)) return null;
  if (figure.middle) return divergingColour(high > figure.middle ? Math.log(value / figure.middle) / Math.log(high / figure.middle) : 0);
  if (figure.log && value <= 0) return null;
  if (!(high > low)) return heatColour(0.5);
  return heatColour(figure.log ? Math.log(value / low) / Math.log(high / low) : (value - low) / (high - low));
}

/** What is missing on a map of two sides is grey, since white means the middle. */
const NO_VALUE = [200, 205, 210];

function heatImage(figure, range) {
  const rows = figure.y.categories.length;
  const canvas = el('canvas', {width: figure.columns, height: rows});
  const context = canvas.getContext('2d'), image = context.createImageData(figure.columns, rows);
  figure.values.forEach((value, i) => {
    const colour = cellColour(figure, value, range) || (figure.middle ? NO_VALUE : null);
    if (!colour) return;
    image.data.set(colour, 4 * i);
    image.data[4 * i + 3] = 255;
  });
  context.putImageData(image, 0, 0);
  return canvas.toDataURL();
}

/** Lines between cells above the middle and cells that are not: where the better side changes. */
function partingPath(figure, place) {
  const rows = figure.y.categories.length, {columns, values, middle} = figure;
  const wide = place.width / columns, high = place.height / rows;
  const parted = (i, j) => !isMissing(values[i]) && !isMissing(values[j]) && (values[i] > middle) !== (values[j] > middle);
  let path = '';
  for (let row = 0; row < rows; ++row) {
    for (let column = 0; column < columns; ++column) {
      const i = row * columns + column, x = place.x + column * wide, y = place.y + row * high;
      if (column + 1 < columns && parted(i, i + 1)) path += `M${x + wide} ${y}v${high}`;
      if (row + 1 < rows && parted(i, i + columns)) path += `M${x} ${y + high}h${wide}`;
    }
  }
  return path;
}

function heatX(figure) {
  if (figure.x.categories) return categoryScale(figure.columns);
  return fitScale(figure.x, [figure.x_from, figure.x_from + figure.columns * figure.x_step], {tight: true, count: 8});
}

/** A value as a cell or an end of the scale has it. */
function cellText(figure, value) {
  if (figure.middle) return digits(value, 3);
  return figure.value_unit === 's' ? timeText(value, 3) : figure.value_unit === 'share' ? percent(value) : digits(value, 4);
}

function drawHeat(figure, {width, height, theme}) {
  const rows = figure.y.categories.length;
  const y = makeScale(rows - 0.5, -0.5, false, [...Array(rows).keys()]);  // the first row at the top
  const range = heatRange(figure);
  const frame = makeFrame({width, height: height + 26, x: heatX(figure), y, xAxis: figure.x, yAxis: figure.y, theme, top: 32, name: accessibleName(figure)});
  const place = {x: frame.left, y: frame.top, width: frame.right - frame.left, height: frame.bottom - frame.top};
  frame.root.append(shape('image', {
    ...place, href: heatImage(figure, range), preserveAspectRatio: 'none', style: 'image-rendering:pixelated',
    'image-rendering': 'pixelated',
  }));
  if (figure.middle) frame.root.append(shape('path', {class: 'parting', d: partingPath(figure, place), fill: 'none', stroke: '#24292f', 'stroke-width': 1.6, 'stroke-linecap': 'square'}));
  // Values in the cells where all fit.
  const wide = place.width / figure.columns, texts = figure.columns <= 24 && rows <= 32 ? figure.values.map((value) => (isMissing(value) ? '' : cellText(figure, value))) : [];
  if (texts.length && place.height / rows >= 14 && texts.every((text) => textWidth(text, 11) + 6 <= wide)) {
    texts.forEach((text, i) => {
      const colour = text && cellColour(figure, figure.values[i], range);
      if (!colour) return;
      const light = 0.299 * colour[0] + 0.587 * colour[1] + 0.114 * colour[2] > 140;
      frame.root.append(shape('text', {
        class: 'cell', x: frame.left + (i % figure.columns + 0.5) * wide, y: frame.top + (Math.floor(i / figure.columns) + 0.5) * place.height / rows + 4,
        'text-anchor': 'middle', fill: light ? '#111' : '#fff', 'font-size': 11, text,
      }));
    });
  }
  drawHeatScale(frame, figure, range, theme);
  return frame;
}

/** The colours with the values at their ends, right-aligned above the map. */
function drawHeatScale(frame, figure, range, theme) {
  const [low, high] = range, steps = 48, even = !(figure.middle || figure.log);
  const known = figure.values.filter((value) => !isMissing(value));
  const last = (known.some((value) => value > high) ? '≥ ' : '') + cellText(figure, high), first = (known.some((value) => value < low) ? '≤ ' : '') + cellText(figure, low);
  const middle = figure.middle ? cellText(figure, figure.middle) : '';
  const length = Math.min(140, 0.25 * (frame.right + frame.left)), right = frame.right - textWidth(last) - 8;
  for (let i = 0; i < steps; ++i) {
    const part = i / (steps - 1), value = even ? low + part * (high - low) : low * (high / low) ** part;
    frame.root.append(shape('rect', {
      x: right - length + i * length / steps, y: 8, width: length / steps + 0.4, height: 10, fill: `rgb(${(cellColour(figure, value, range) || [0, 0, 0]).join(',')})`,
    }));
  }
  const label = (x, anchor, text) => frame.root.append(shape('text', {class: 'scale', x, y: 17, 'text-anchor': anchor, text, fill: theme.muted}));
  const left = right - length - 6, room = left - textWidth(first) - 14;
  label(right + 6, 'start', last);
  label(left, 'end', first);
  const title = figure.log ? `${figure.value_title}, logarithmic` : figure.value_title;
  if (room > 40) label(left - textWidth(first) - 10, 'end', fitted(title, room));
  if (middle) frame.root.append(shape('text', {class: 'scale', x: right - length / 2, y: 28, 'text-anchor': 'middle', text: middle, fill: theme.muted, 'font-size': 10}));
}

function heatTooltip(figure, frame, at) {
  const rows = figure.y.categories.length;
  const column = Math.floor((at.x - frame.left) / (frame.right - frame.left) * figure.columns);
  const row = Math.floor((at.y - frame.top) / (frame.bottom - frame.top) * rows);
  if (column < 0 || row < 0 || column >= figure.columns || row >= rows) return null;
  const from = figure.x_from + column * figure.x_step;
  const x = figure.x.categories ? drawnCategories(figure.x)[column]
                                : `${quantity(from, figure.x.unit)} to ${quantity(from + figure.x_step, figure.x.unit)}`;
  const value = figure.values[row * figure.columns + column];
  return {
    lines: [`${drawnTitle(figure.y)}: ${drawnCategories(figure.y)[row]}`, `${drawnTitle(figure.x)}: ${x}`,
            `${figure.value_title}: ${figure.middle && !isMissing(value) ? digits(value, 4) : quantity(value, figure.value_unit)}`],
    x: at.x, y: at.y,
  };
}
