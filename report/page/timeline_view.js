// How the timeline looks: colours, axis, lanes, overview, and the picture as a file.

const MOST_ROWS = 200000;

/** What a kind of no single job is: a link, or all jobs of a lane together. */
function wordOfMany(kind) {
  return kind.op ? 'links, as high as they are utilised' : 'all jobs of a lane together';
}

Object.assign(Timeline.prototype, {
  /** The text by which a kind gets its colour. */
  colourNumber(kind) {
    if (this.colourBy === 'job') return kind.job < 0 ? 6 : kind.job;
    const word = this.colourBy === 'model' ? (kind.job < 0 ? wordOfMany(kind) : this.jobs.models[kind.job])
                                           : kind.op || (kind.transfer ? 'transfers' : 'compute');
    if (!this.colourWords.has(word)) this.colourWords.set(word, this.colourWords.size);
    return this.colourWords.get(word);
  },

  recolour() {
    const {data} = this, theme = this.theme = TIMELINE_THEMES[document.documentElement.dataset.theme];
    this.colourWords = new Map();
    const job = this.selected >= 0 ? data.kinds[data.kind[this.selected]].job : -1;
    const wanted = this.matches.length ? new Set(this.matches) : job >= 0 ? new Set([job]) : null;
    this.colours = new Uint32Array(data.kinds.length);
    this.edges = new Uint32Array(data.kinds.length);
    data.kinds.forEach((kind, k) => {
      const hex = SPAN_COLOURS[this.colourNumber(kind) % SPAN_COLOURS.length];
      const dimmed = wanted && !wanted.has(kind.job);
      this.colours[k] = packedColour(hex, theme.fade, dimmed ? 0.85 : 0);
      this.edges[k] = packedColour(hex, dimmed ? theme.back : '#000000', dimmed ? 0.95 : 0.35);
    });
    this.redraw();
  },

  redraw() {
    if (this.pending || !this.canvas.isConnected) return;
    this.pending = requestAnimationFrame(() => {
      this.pending = 0;
      this.draw();
    });
  },

  /** Draws at once. The time it took, in ms, is kept in `drawTimes`. */
  draw() {
    const begin = performance.now();
    this.paint();
    this.drawOverview();
    this.drawTimes.push(performance.now() - begin);
    if (this.drawTimes.length > 1000) this.drawTimes.shift();
    // What is in view, once the view rests.
    this.legendTimer ||= setTimeout(() => {
      this.legendTimer = 0;
      this.drawLegend();
    }, 150);
  },

  /** The lanes that are shown, on the canvas. */
  paint() {
    const context = this.canvas.getContext('2d'), {ratio, theme} = this;
    this.scroll = clamp(this.scroll, 0, this.maxScroll());
    context.setTransform(1, 0, 0, 1, 0, 0);
    context.fillStyle = theme.back;
    context.fillRect(0, 0, this.canvas.width, this.canvas.height);
    const labels = this.drawLanes(context);
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    this.drawSpanLabels(context, labels);
    this.drawGutter(context);
    this.drawAxis(context);
    this.drawMarks(context);
  },

  /** What a colour stands for, by busy time in view: [{name, colour, share, job}], the most first. */
  legendItems() {
    const {data, view} = this, busy = new Float64Array(data.kinds.length);
    for (const lane of this.shown) {
      for (let i = firstAbove(data.end, view.from, lane.from, lane.to); i < lane.to && data.start[i] < view.to; ++i)
        busy[data.kind[i]] += (Math.min(data.end[i], view.to) - Math.max(data.start[i], view.from)) * data.share[i];
    }
    const items = new Map();
    data.kinds.forEach((kind, k) => {
      if (busy[k] <= 0) return;
      const name = kind.job < 0 ? wordOfMany(kind) : this.colourBy === 'job' ? this.jobs.names[kind.job]
        : this.colourBy === 'model' ? this.jobs.models[kind.job] : kind.op || (kind.transfer ? 'transfers' : 'compute');
      if (!items.has(name)) items.set(name, {name, colour: SPAN_COLOURS[this.colourNumber(kind) % SPAN_COLOURS.length], share: 0, job: this.colourBy === 'job' ? kind.job : -1});
      items.get(name).share += busy[k];
    });
    return [...items.values()].sort((a, b) => b.share - a.share);
  },

  drawLegend() {
    const items = this.legendItems(), shown = items.slice(0, LEGEND_JOBS), rest = items.length - shown.length;
    const swatch = ({colour}) => {
      const node = el('i', {'aria-hidden': 'true'});
      node.style.background = colour;
      return node;
    };
    this.legend.replaceChildren(...shown.map((item) => (item.job < 0 ? el('span', {}, swatch(item), item.name)
      : el('button', {type: 'button', title: 'Light up this job', onclick: () => this.lightUp(item.job)}, swatch(item), item.name))),
    el('span', {text: `${rest > 0 ? `and ${rest.toLocaleString('en-US')} jobs that are less busy here; colours come back after ${SPAN_COLOURS.length}. ` : ''}`
      + 'A lane is filled as high as it is busy.'}));
  },

  lightUp(job) {
    this.search.value = this.jobs.names[job];
    this.find(this.jobs.names[job]);
  },

  /** All lanes over the time in view, a canvas for each page of paper. */
  toPaper() {
    const {shown, canvas, laneHeight, height, width, gutter, ratio, scroll} = this, room = 680, each = Math.floor((room - AXIS) / 9), mostSheets = 8;
    const parts = Math.max(1, Math.min(mostSheets, Math.ceil(shown.length / each))), lanes = Math.ceil(Math.min(shown.length, mostSheets * each) / parts);
    this.sheets.replaceChildren();
    for (let from = 0; from < parts * lanes && from < shown.length; from += lanes) {
      const part = shown.slice(from, from + lanes);
      this.shown = part;
      this.laneHeight = clamp(Math.floor((room - AXIS) / part.length), 9, 18);
      Object.assign(this, {width: 1150, gutter: 128, ratio: 2, scroll: 0, image: null, height: AXIS + part.length * this.laneHeight});
      this.canvas = el('canvas', {class: 'sheet', width: 2 * this.width, height: 2 * this.height, role: 'img', 'aria-label': `Timeline of ${part[0].name} to ${part.at(-1).name}`});
      this.canvas.style.width = `${this.width}px`;
      this.paint();
      this.sheets.append(this.canvas);
    }
    Object.assign(this, {shown, canvas, laneHeight, height, width, gutter, ratio, scroll, image: null});
    if (shown.length > parts * lanes) this.sheets.append(el('p', {class: 'lead', text: `The first ${parts * lanes} of ${shown.length.toLocaleString('en-US')} lanes.`}));
    this.drawLegend();
  },

  fromPaper() {
    this.sheets.replaceChildren();
    this.layout();
  },

  /** The part of time that pixels stand for: `from` on a grid of whole pixels. */
  grid(pixels) {
    const perPixel = (this.view.to - this.view.from) / pixels;
    return {from: Math.floor(this.view.from / perPixel) * perPixel, perPixel, width: pixels};
  },

  drawLanes(context) {
    const left = Math.round(this.gutter * this.ratio), top = Math.round(AXIS * this.ratio);
    const width = this.canvas.width - left, height = this.canvas.height - top;
    if (!this.image || this.image.width !== width || this.image.height !== height) this.image = context.createImageData(width, height);
    const sink = new PixelSink(this.image, this.data, this.colours, this.edges);
    sink.labelWidth = 42 * this.ratio;
    sink.pixels.fill(packedColour(this.theme.back));
    const band = packedColour(this.theme.band), view = this.grid(width);
    this.shown.forEach((lane, l) => {
      const y0 = Math.round((l * this.laneHeight - this.scroll) * this.ratio), y1 = Math.round(((l + 1) * this.laneHeight - this.scroll) * this.ratio);
      if (y1 <= 0 || y0 >= height) return;
      if (lane.group === 'link' ? l % 2 : lane.server % 2) sink.pixels.fill(band, Math.max(0, y0) * width, Math.min(height, y1) * width);
      paintLane(this.data, lane, view, y0, y1 - y0 - Math.max(1, Math.round(this.ratio)), sink);
    });
    context.putImageData(this.image, left, top);
    return sink.labels;
  },

  spanLabel(i) {
    const kind = this.data.kinds[this.data.kind[i]];
    if (kind.job < 0) return `${this.data.share[i]}%`;
    return kind.op ? `${this.jobs.names[kind.job]} ${kind.op}` : this.jobs.names[kind.job];
  },

  drawSpanLabels(context, labels) {
    const {ratio} = this;
    context.font = `${Math.min(11, this.laneHeight - 2)}px system-ui, sans-serif`;
    context.textBaseline = 'middle';
    context.textAlign = 'left';
    for (const label of labels.slice(0, 3000)) {
      const width = (label.x1 - label.x0) / ratio - 8, full = this.spanLabel(label.index);
      const fits = Math.floor(width / 5.6), text = full.length <= fits ? full : fits > 4 ? full.slice(0, fits - 1) + '…' : '';
      if (!text) continue;
      context.fillStyle = wantsDarkText(this.colours[this.data.kind[label.index]]) ? '#111' : '#fff';
      context.fillText(text, this.gutter + label.x0 / ratio + 4, AXIS + (label.y0 + label.y1) / 2 / ratio + 0.5);
    }
  },

  drawGutter(context) {
    const {theme} = this;
    context.fillStyle = theme.back;
    context.fillRect(0, 0, this.gutter, this.height);
    const font = clamp(this.laneHeight - 1, 8, 11);
    context.font = `${font}px system-ui, sans-serif`;
    context.textBaseline = 'middle';
    context.textAlign = 'right';
    this.shown.forEach((lane, l) => {
      const y = AXIS + l * this.laneHeight - this.scroll;
      if (y < AXIS - this.laneHeight / 2 || y > this.height) return;
      const first = l === 0 || this.shown[l - 1].server !== lane.server || this.shown[l - 1].group === 'link' !== (lane.group === 'link');
      if (first && lane.group !== 'link') {
        context.strokeStyle = theme.line;
        context.beginPath();
        context.moveTo(0, y - 0.5);
        context.lineTo(this.width, y - 0.5);
        context.stroke();
      }
      context.fillStyle = lane.group === 'gpu' ? theme.text : theme.muted;
      context.fillText(fitted(lane.name, this.gutter - 12, font), this.gutter - 8, y + this.laneHeight / 2);
    });
  },

  drawAxis(context) {
    const {theme, view} = this;
    context.fillStyle = theme.back;
    context.fillRect(0, 0, this.width, AXIS);
    context.font = '11px system-ui, sans-serif';
    context.fillStyle = theme.muted;
    context.textAlign = 'left';
    context.fillText(`${timeText((view.to - view.from) / 1e9)} shown`, 6, AXIS / 2);
    const {ticks, step} = timeTicks(view.from, view.to, this.plotWidth / 120);
    context.textAlign = 'center';
    for (const tick of ticks) {
      const x = this.gutter + (tick - view.from) / (view.to - view.from) * this.plotWidth;
      context.fillStyle = theme.line;
      context.fillRect(x, AXIS - 5, 1, 5);
      context.globalAlpha = 0.5;
      context.fillRect(x, AXIS, 1, this.height);
      context.globalAlpha = 1;
      context.fillStyle = theme.muted;
      if (x > this.gutter + 24 && x < this.width - 24) context.fillText(instant(tick, step), x, AXIS / 2);
    }
  },

  drawMarks(context) {
    const {data, selected, theme, drag} = this;
    if (drag && drag.select && drag.to) {
      context.fillStyle = theme.brush;
      context.globalAlpha = 0.2;
      context.fillRect(Math.min(drag.at.x, drag.to.x), AXIS, Math.abs(drag.to.x - drag.at.x), this.height);
      context.globalAlpha = 1;
    }
    if (selected < 0) return;
    const l = this.shown.findIndex((lane) => selected >= lane.from && selected < lane.to);
    const x = (t) => this.gutter + clamp((t - this.view.from) / (this.view.to - this.view.from), 0, 1) * this.plotWidth;
    const y = AXIS + l * this.laneHeight - this.scroll;
    if (l < 0 || data.end[selected] < this.view.from || data.start[selected] > this.view.to || y < AXIS) return;
    context.strokeStyle = theme.text;
    context.lineWidth = 2;
    context.strokeRect(x(data.start[selected]), y, Math.max(3, x(data.end[selected]) - x(data.start[selected])), this.laneHeight - 1);
    context.lineWidth = 1;
  },

  /** Busy share of the GPUs (else of all lanes) over the whole run, one value a pixel; made once per width. */
  overviewShares(pixels) {
    const lanes = this.data.lanes.filter((lane) => lane.group === 'gpu' && lane.to > lane.from);
    const all = this.data.lanes.filter((lane) => lane.group === 'gpu').length || 1, [from, to] = this.whole, step = (to - from) / pixels;
    return Float64Array.from({length: pixels}, (_, p) => {
      let busy = 0;
      for (const lane of lanes) busy += busyBetween(this.data, lane, from + p * step, from + (p + 1) * step);
      return Math.min(1, busy / (step * all));
    });
  },

  drawOverview() {
    const {ratio, theme} = this, context = this.overview.getContext('2d'), pixels = Math.floor(this.plotWidth);
    if (!this.overviewShape) this.overviewShape = this.overviewShares(pixels);
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.fillStyle = theme.back;
    context.fillRect(0, 0, this.width, OVERVIEW);
    context.fillStyle = theme.band;
    context.fillRect(this.gutter, 0, this.plotWidth, OVERVIEW - 4);
    context.fillStyle = theme.muted;
    context.globalAlpha = 0.75;
    this.overviewShape.forEach((share, p) => context.fillRect(this.gutter + p, OVERVIEW - 4 - share * (OVERVIEW - 8), 1, share * (OVERVIEW - 8)));
    context.globalAlpha = 1;
    context.font = '11px system-ui, sans-serif';
    context.textAlign = 'right';
    context.textBaseline = 'middle';
    context.fillText('busy GPUs', this.gutter - 8, OVERVIEW / 2 - 2);
    const x = (t) => this.gutter + (t - this.whole[0]) / (this.whole[1] - this.whole[0]) * this.plotWidth;
    const x0 = x(this.view.from), x1 = Math.max(x0 + 3, x(this.view.to));
    context.fillStyle = theme.brush;
    context.globalAlpha = 0.16;
    context.fillRect(x0, 0, x1 - x0, OVERVIEW - 4);
    context.globalAlpha = 1;
    context.strokeStyle = theme.brush;
    context.strokeRect(x0 + 0.5, 0.5, x1 - x0 - 1, OVERVIEW - 5);
  },

  // --- files ---

  toPng() {
    this.draw();
    return new Promise((resolve) => this.canvas.toBlob(resolve, 'image/png'));
  },

  /** The lanes that are shown, all of them, over the time in view. */
  toSvg() {
    const width = 1000, gutter = 128, lane = 14, below = AXIS + this.shown.length * lane + 8;
    const sink = new SvgSink(this.data, this.colours), view = this.grid(width - gutter);
    const escape = (text) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
    this.shown.forEach((each, l) => {
      paintLane(this.data, each, view, l * lane, lane - 1, sink);
      sink.flush();
    });
    const names = this.shown.map((each, l) => `<text x="${gutter - 8}" y="${AXIS + l * lane + 11}" text-anchor="end">${escape(shortened(each.name, 20))}</text>`);
    const labels = sink.labels.slice(0, 5000).map((label) => {
      const fits = Math.floor((label.x1 - label.x0 - 6) / 5.6), full = this.spanLabel(label.index);
      const dark = wantsDarkText(this.colours[this.data.kind[label.index]]);
      return `<text x="${label.x0 + 3}" y="${(label.y0 + label.y1) / 2 + 4}" fill="${dark ? '#111' : '#fff'}">${escape(full.length <= fits ? full : full.slice(0, fits - 1) + '…')}</text>`;
    });
    const {ticks, step} = timeTicks(this.view.from, this.view.to, 7);
    const axis = ticks.map((tick) => {
      const x = gutter + (tick - this.view.from) / (this.view.to - this.view.from) * (width - gutter);
      return `<path d="M${x.toFixed(1)} ${AXIS - 5}V${below}" stroke="#d5dae0"/><text x="${x.toFixed(1)}" y="12" text-anchor="middle">${escape(instant(tick, step))}</text>`;
    });
    let [x, y] = [4, below + 14];
    const legend = this.legendItems().slice(0, LEGEND_JOBS).map(({name, colour}) => {
      const length = textWidth(name, 10.5) + 34;
      if (x + length > width) [x, y] = [4, y + 16];
      x += length;
      return `<rect x="${x - length}" y="${y - 8}" width="14" height="9" rx="2" fill="${colour}"/><text x="${x - length + 18}" y="${y}">${escape(name)}</text>`;
    });
    const height = y + 10;
    const text = `<svg xmlns="${SVG}" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" font-family="system-ui, Helvetica, Arial, sans-serif" font-size="10.5" fill="#24292f">`
      + `<title>Timeline</title><rect width="${width}" height="${height}" fill="#ffffff"/>${axis.join('')}${names.join('')}${legend.join('')}`
      + `<g transform="translate(${gutter} ${AXIS})">${sink.parts.join('')}${labels.join('')}</g></svg>\n`;
    return {text, width, height};
  },

  /** The spans in view: the first of them, if there are more than a clipboard should hold. */
  toRows() {
    const {data, view} = this, rows = [['lane', 'job_id', 'operation', 'iteration_or_count', 'start_s', 'end_s', 'share']];
    for (const lane of this.shown) {
      for (let i = firstAbove(data.end, view.from, lane.from, lane.to); i < lane.to && data.start[i] < view.to; ++i) {
        const kind = data.kinds[data.kind[i]];
        rows.push([lane.name, kind.job < 0 ? '' : this.jobs.names[kind.job], kind.op || (kind.transfer ? 'transfers' : 'compute'), data.number[i],
                   data.start[i] / 1e9, data.end[i] / 1e9, data.share[i] / 100]);
        if (rows.length > MOST_ROWS) return rows;
      }
    }
    return rows;
  },
});
