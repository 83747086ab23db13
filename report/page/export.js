// A figure on the page: its title, its drawing, what answers to the pointer, and what can be taken away (SVG, PNG, CSV).

const KINDS = {
  xy: {draw: drawXy, tooltip: (figure, state, frame, at) => xyTooltip(figure, state.hidden, frame, at), csv: xyCsv},
  box: {draw: drawBoxes, tooltip: (figure, state, frame, at) => boxTooltip(figure, frame, at), csv: boxCsv},
  heat: {draw: drawHeat, tooltip: (figure, state, frame, at) => heatTooltip(figure, frame, at), csv: heatCsv},
};

/** A column name as result files have them, the unit as it is: report/figure_data.cpp does the same. */
function columnName(title, unit) {
  const name = (title.toLowerCase() + (unit && unit !== 'share' ? ' ' + unit : '')).replace(/[^A-Za-z0-9]+/g, '_');
  return name.replace(/^_+|_+$/g, '') || 'value';
}

function axisColumn(axis) {
  return columnName(axis.title, axis.categories ? '' : axis.unit);
}

function xyCsv(figure) {
  const labels = figure.series.some((s) => s.labels), intervals = figure.series.some((s) => s.low);
  const at = (axis, value) => axis.categories ? axis.categories[value] : value;
  const rows = [['series', ...(labels ? ['label'] : []), axisColumn(figure.x), axisColumn(figure.y),
                 ...(intervals ? ['low', 'high'] : [])]];
  for (const s of figure.series)
    s.x.forEach((x, i) => rows.push([
      s.name, ...(labels ? [s.labels ? s.labels[i] : ''] : []), at(figure.x, x), at(figure.y, s.y[i]),
      ...(intervals ? [s.low ? s.low[i] : '', s.high ? s.high[i] : ''] : []),
    ]));
  return rows;
}

function boxCsv(figure) {
  return [[columnName(figure.group_title, ''), 'count', 'mean', 'whisker_low', 'q1', 'median', 'q3', 'whisker_high', 'outliers'],
          ...figure.groups.map((g) => [g.name, g.count, g.mean, g.low, g.q1, g.median, g.q3, g.high, g.outliers.join(' ')])];
}

function heatCsv(figure) {
  const rows = [[axisColumn(figure.y), axisColumn(figure.x), columnName(figure.value_title, figure.value_unit)]];
  figure.values.forEach((value, i) => {
    const column = i % figure.columns;
    const x = figure.x.categories ? figure.x.categories[column] : figure.x_from + column * figure.x_step;
    if (!isMissing(value)) rows.push([figure.y.categories[Math.floor(i / figure.columns)], x, value]);
  });
  return rows;
}

function download(name, blob) {
  const link = el('a', {href: URL.createObjectURL(blob), download: name});
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

/** Puts text on the clipboard; where a browser doesn't allow that to a file, through a selection. */
async function copyText(text) {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    const area = el('textarea', {class: 'offscreen', 'aria-hidden': 'true'});
    area.value = text;
    document.body.append(area);
    area.select();
    document.execCommand('copy');
    area.remove();
  }
}

function svgText(root) {
  root.setAttribute('xmlns', SVG);
  return new XMLSerializer().serializeToString(root);
}

/** An SVG text as PNG, twice as fine. */
function pngOf(text, width, height) {
  return new Promise((resolve, reject) => {
    const image = new Image();
    image.onload = () => {
      const canvas = el('canvas', {width: 2 * width, height: 2 * height}), context = canvas.getContext('2d');
      context.fillStyle = '#ffffff';
      context.fillRect(0, 0, canvas.width, canvas.height);
      context.drawImage(image, 0, 0, canvas.width, canvas.height);
      canvas.toBlob(resolve, 'image/png');
    };
    image.onerror = () => reject(new Error('the drawing can\'t be turned into a picture'));
    image.src = 'data:image/svg+xml;charset=utf-8,' + encodeURIComponent(text);
  });
}

/** Says shortly that something was done. */
function flash(button, text) {
  const before = button.textContent;
  button.textContent = text;
  setTimeout(() => { button.textContent = before; }, 1400);
}

/** Buttons of a figure. `svg()` gives a light SVG text with its size, `rows()` the data; either may be missing. */
function exportButtons(name, {svg, png, rows}) {
  const bar = el('span', {class: 'tools'});
  const add = (label, title, action) => bar.append(el('button', {
    type: 'button', text: label, title, onclick: (event) => action(event.currentTarget),
  }));
  if (svg) add('SVG', 'Save as SVG', () => download(name + '.svg', new Blob([svg().text], {type: 'image/svg+xml'})));
  if (png || svg) {
    add('PNG', 'Save as PNG', async () => {
      const drawn = png ? null : svg();
      download(name + '.png', png ? await png() : await pngOf(drawn.text, drawn.width, drawn.height));
    });
  }
  if (rows) {
    add('Copy CSV', 'Copy the numbers', async (button) => {
      const data = rows();
      await copyText(csvText(data));
      const count = (data.length - 1).toLocaleString('en-US');
      flash(button, data.length > MOST_ROWS ? `only the first ${count} rows copied` : `${count} rows copied`);
    });
  }
  return bar;
}

const tooltip = {
  node: null,
  show(lines, x, y) {
    if (!this.node) document.body.append(this.node = el('div', {class: 'tooltip', role: 'status'}));
    this.node.replaceChildren(...lines.map((line, i) => el('div', {text: line, class: i === 0 ? 'first' : null})));
    this.node.hidden = false;
    const box = this.node.getBoundingClientRect();
    const left = x + 16 + box.width > innerWidth ? x - box.width - 12 : x + 16;
    this.node.style.left = `${Math.max(4, left)}px`;
    this.node.style.top = `${clamp(y + 14, 4, Math.max(4, innerHeight - box.height - 6))}px`;
  },
  hide() {
    if (this.node) this.node.hidden = true;
  },
};

/** All that must be drawn again when the width or the theme changes. */
const drawings = new Set();

function currentTheme() {
  return THEMES[document.documentElement.dataset.theme];
}

/** The element of a figure. `height` of the plot; `plain`: without title and buttons. */
function figureElement(figure, {height = 300, plain = false} = {}) {
  const kind = KINDS[figure.kind];
  const state = {hidden: new Set(), zoom: null};
  const stage = el('div', {class: 'stage', role: 'group', tabindex: plain ? null : 0, 'aria-label': figure.title});
  let frame = null;
  const options = (width, theme, redraw) => ({width, height, theme, state, redraw});
  const draw = () => {
    const width = Math.max(240, Math.floor(stage.clientWidth));
    if (!stage.isConnected) return;
    frame = kind.draw(figure, options(width, currentTheme(), draw));
    stage.replaceChildren(frame.root);
  };
  drawings.add(draw);
  watchPointer(stage, figure, kind, state, () => frame, draw);
  const light = () => {
    const drawn = kind.draw(figure, options(720, THEMES.light, null)).root;
    drawn.prepend(shape('title', {text: figure.title}), shape('desc', {text: figure.caption}), shape('rect', {width: '100%', height: '100%', fill: '#ffffff'}));
    return {text: svgText(drawn), width: 720, height: Number(drawn.getAttribute('height'))};
  };
  if (plain) return el('div', {class: 'figure plain'}, stage);
  const heat = figure.kind === 'heat', logs = heat ? [['colours', figure]] : [['y', figure.y], ...(figure.x ? [['x', figure.x]] : [])];
  const offered = ([, axis]) => (heat ? !figure.middle && figure.values.some((value) => value > 0) : !axis.categories);
  const toggles = logs.filter(offered).map(([name, axis]) => el('button', {
    type: 'button', text: `log ${name}`, 'aria-pressed': String(Boolean(axis.log)), title: heat ? 'Logarithmic colours' : `Logarithmic ${name} axis`,
    onclick: (event) => {
      axis.log = !axis.log;
      state.zoom = null;
      event.currentTarget.setAttribute('aria-pressed', String(axis.log));
      draw();
    },
  }));
  const tools = exportButtons(figure.id, {svg: light, rows: () => kind.csv(figure)});
  tools.prepend(...toggles);
  const node = el('figure', {class: 'figure', id: figure.id, 'aria-label': figure.title},
    el('header', {}, el('h3', {text: figure.title}), tools), stage, el('figcaption', {text: figure.caption}));
  node.forget = () => drawings.delete(draw);
  return node;
}

/** Tooltips, and zooming of plots along x by dragging; a double click or Escape shows all again. */
function watchPointer(stage, figure, kind, state, frameOf, draw) {
  let from = null, band = null;
  const place = (event) => {
    const box = stage.getBoundingClientRect();
    return {x: event.clientX - box.left, y: event.clientY - box.top};
  };
  const zooms = figure.kind === 'xy' && !figure.x.categories;
  stage.addEventListener('pointermove', (event) => {
    const frame = frameOf(), at = place(event);
    if (!frame) return;
    if (band) {
      const [a, b] = [Math.min(from, at.x), Math.max(from, at.x)];
      band.setAttribute('x', a);
      band.setAttribute('width', b - a);
      return;
    }
    const inside = at.x >= frame.left - 4 && at.x <= frame.right + 4 && at.y >= frame.top - 4 && at.y <= frame.bottom + 4;
    const tip = inside ? kind.tooltip(figure, state, frame, at) : null;
    stage.querySelector('.cursor')?.remove();
    if (!tip) return tooltip.hide();
    if (figure.kind === 'xy')
      frame.root.append(shape('circle', {class: 'cursor', cx: tip.x, cy: tip.y, r: 4.5, fill: 'none', stroke: currentTheme().text, 'pointer-events': 'none'}));
    tooltip.show(tip.lines, event.clientX, event.clientY);
  });
  stage.addEventListener('pointerleave', () => {
    tooltip.hide();
    stage.querySelector('.cursor')?.remove();
  });
  if (!zooms) return;
  stage.addEventListener('pointerdown', (event) => {
    const frame = frameOf(), at = place(event);
    if (!frame || event.button !== 0 || at.y < frame.top || at.y > frame.bottom || at.x < frame.left) return;
    from = at.x;
    band = shape('rect', {x: from, width: 0, y: frame.top, height: frame.bottom - frame.top, fill: currentTheme().series[0], 'fill-opacity': 0.18});
    frame.root.append(band);
    stage.setPointerCapture(event.pointerId);
    event.preventDefault();
  });
  stage.addEventListener('pointerup', (event) => {
    if (!band) return;
    const frame = frameOf(), at = place(event);
    const places = [Math.min(from, at.x), Math.max(from, at.x)].map((x) => clamp((x - frame.left) / (frame.right - frame.left), 0, 1));
    band.remove();
    band = null;
    if (Math.abs(at.x - from) < 6) return;
    state.zoom = places.map((p) => frame.x.value(p));
    draw();
  });
  const reset = () => {
    state.zoom = null;
    draw();
  };
  stage.addEventListener('dblclick', reset);
  stage.addEventListener('keydown', (event) => { if (event.key === 'Escape' && state.zoom) reset(); });
}
