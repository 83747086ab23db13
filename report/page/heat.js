// Heat maps: the cells are an image of one pixel each, so that a map of many thousand cells is one element.

// Every eighth of viridis (S. van der Walt and N. Smith, matplotlib, CC0), even in lightness.
const HEAT = [[68, 1, 84], [71, 45, 123], [59, 82, 139], [44, 114, 142], [33, 144, 140], [39, 173, 129], [93, 200, 99],
              [170, 220, 50], [253, 231, 37]];

function heatColour(shade) {
  const place = clamp(shade, 0, 1) * (HEAT.length - 1), below = Math.min(Math.floor(place), HEAT.length - 2);
  return HEAT[below].map((c, i) => Math.round(c + (HEAT[below + 1][i] - c) * (place - below)));
}

function heatRange(figure) {
  if (figure.low < figure.high) return [figure.low, figure.high];
  let low = Infinity, high = -Infinity;
  for (const value of figure.values) {
    if (isMissing(value)) continue;
    low = Math.min(low, value);
    high = Math.max(high, value);
  }
  return low <= high ? [low, high] : [0, 1];
}

function heatImage(figure, low, high) {
  const rows = figure.y.categories.length;
  const canvas = el('canvas', {width: figure.columns, height: rows});
  const context = canvas.getContext('2d'), image = context.createImageData(figure.columns, rows);
  figure.values.forEach((value, i) => {
    if (isMissing(value)) return;
    image.data.set(heatColour(high > low ? (value - low) / (high - low) : 0.5), 4 * i);
    image.data[4 * i + 3] = 255;
  });
  context.putImageData(image, 0, 0);
  return canvas.toDataURL();
}

function heatX(figure) {
  if (figure.x.categories) return categoryScale(figure.columns);
  return fitScale(figure.x, [figure.x_from, figure.x_from + figure.columns * figure.x_step], {tight: true, count: 8});
}

function drawHeat(figure, {width, height, theme}) {
  const rows = figure.y.categories.length;
  const y = makeScale(rows - 0.5, -0.5, false, [...Array(rows).keys()]);  // the first row at the top
  const [low, high] = heatRange(figure);
  const frame = makeFrame({width, height: height + 26, x: heatX(figure), y, xAxis: figure.x, yAxis: figure.y, theme, top: 32});
  const place = {x: frame.left, y: frame.top, width: frame.right - frame.left, height: frame.bottom - frame.top};
  frame.root.append(shape('image', {
    ...place, href: heatImage(figure, low, high), preserveAspectRatio: 'none', style: 'image-rendering:pixelated',
    'image-rendering': 'pixelated',
  }));
  // Values in the cells where they fit.
  if (figure.columns <= 16 && rows <= 16 && place.width / figure.columns > 54 && place.height / rows > 18) {
    figure.values.forEach((value, i) => {
      if (isMissing(value)) return;
      const shade = high > low ? (value - low) / (high - low) : 0.5;
      frame.root.append(shape('text', {
        x: frame.left + (i % figure.columns + 0.5) * place.width / figure.columns,
        y: frame.top + (Math.floor(i / figure.columns) + 0.5) * place.height / rows + 4, 'text-anchor': 'middle',
        fill: shade > 0.6 ? '#111' : '#fff', 'font-size': 11,
        text: figure.value_unit === 'share' ? percent(value) : digits(value, 4),
      }));
    });
  }
  drawHeatScale(frame, figure, low, high, theme);
  return frame;
}

function drawHeatScale(frame, figure, low, high, theme) {
  const steps = 48, length = 140, right = frame.right - 60;
  for (let i = 0; i < steps; ++i)
    frame.root.append(shape('rect', {
      x: right - length + i * length / steps, y: 8, width: length / steps + 0.4, height: 10,
      fill: `rgb(${heatColour(i / (steps - 1)).join(',')})`,
    }));
  const label = (x, anchor, text) =>
    frame.root.append(shape('text', {x, y: 17, 'text-anchor': anchor, text, fill: theme.muted}));
  label(right - length - 6, 'end', `${figure.value_title}  ${quantity(low, figure.value_unit)}`);
  label(right + 6, 'start', quantity(high, figure.value_unit));
}

function heatTooltip(figure, frame, at) {
  const rows = figure.y.categories.length;
  const column = Math.floor((at.x - frame.left) / (frame.right - frame.left) * figure.columns);
  const row = Math.floor((at.y - frame.top) / (frame.bottom - frame.top) * rows);
  if (column < 0 || row < 0 || column >= figure.columns || row >= rows) return null;
  const from = figure.x_from + column * figure.x_step;
  const x = figure.x.categories ? figure.x.categories[column]
                                : `${number(from)} to ${quantity(from + figure.x_step, figure.x.unit)}`;
  const value = figure.values[row * figure.columns + column];
  return {
    lines: [`${figure.y.title}: ${figure.y.categories[row]}`, `${figure.x.title}: ${x}`,
            `${figure.value_title}: ${quantity(value, figure.value_unit)}`],
    x: at.x, y: at.y,
  };
}
