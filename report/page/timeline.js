// The timeline: lanes of spans on a canvas, with zoom, pan, search and what is under the pointer.

const AXIS = 24, OVERVIEW = 44, MAX_HEIGHT = 920;
/** Lanes as low as this still have names of their own, as high as that are no easier to read. */
const LOWEST_LANE = 11, HIGHEST_LANE = 22;
const LEGEND_JOBS = 21;
const GROUP_NAMES = {gpu: 'GPUs', nic: 'interfaces', inside: 'inside servers', link: 'links'};
const TIMELINE_THEMES = {
  light: {back: '#ffffff', band: '#f4f6f8', text: '#24292f', muted: '#57606a', line: '#d5dae0', brush: '#0072b2', fade: '#eceff2'},
  dark: {back: '#14181d', band: '#191f26', text: '#e6edf3', muted: '#9aa4af', line: '#333b45', brush: '#4ea8de', fade: '#20262d'},
};
/** Okabe and Ito's hues, then the same lighter and darker: neighbouring numbers look different. */
const SPAN_COLOURS = ['#0072b2', '#e69f00', '#009e73', '#cc79a7', '#56b4e9', '#d55e00', '#b0a400',
                      '#5aa6d6', '#f2c45a', '#4fc3a1', '#e3adc9', '#9bd3f2', '#eb945a', '#dcd46a',
                      '#00507d', '#a87300', '#006e50', '#94527a', '#2b83b5', '#9c4500', '#7d7500'];

class Timeline {
  constructor(meta, data, jobs) {
    this.meta = meta;
    this.data = data;
    this.jobs = jobs;  // {names, models, gpus}
    const used = data.count ? [Math.min(...this.lanesWithSpans().map((l) => data.start[l.from])), Math.max(...this.lanesWithSpans().map((l) => data.end[l.to - 1]))] : [0, 1];
    this.whole = [Math.min(used[0], 0.02 * used[1] > used[0] ? 0 : used[0]), used[1]];
    this.view = {from: this.whole[0], to: this.whole[1]};
    this.scroll = 0;
    this.groups = new Set(Object.keys(GROUP_NAMES));
    this.colourBy = 'job';
    this.word = '';
    this.matches = [];  // jobs
    this.match = -1;
    this.selected = -1;  // span
    this.hovered = -1;
    this.drawTimes = [];
    this.jobExtents();
    this.build();
    this.layout();
    this.recolour();
  }

  lanesWithSpans() {
    return this.data.lanes.filter((lane) => lane.to > lane.from);
  }

  /** First start, last end and first lane of each job. */
  jobExtents() {
    const {data} = this, jobs = this.jobs.names.length;
    this.extent = Array.from({length: jobs}, () => ({from: Infinity, to: -Infinity, lane: -1, spans: 0}));
    data.lanes.forEach((lane, l) => {
      for (let i = lane.from; i < lane.to; ++i) {
        const job = data.kinds[data.kind[i]].job;
        if (job < 0) continue;
        const extent = this.extent[job];
        if (data.start[i] < extent.from) extent.from = data.start[i];
        if (data.end[i] > extent.to) extent.to = data.end[i];
        if (extent.lane < 0) extent.lane = l;
        ++extent.spans;
      }
    });
  }

  // --- the elements ---

  build() {
    this.canvas = el('canvas', {class: 'lanes', tabindex: 0, role: 'application', 'aria-label':
      'Timeline. Arrow keys move, plus and minus zoom, 0 shows all, slash searches, n and p go through the matches.'});
    this.overview = el('canvas', {class: 'overview', role: 'img', 'aria-label': 'Share of GPUs that are busy over the whole run'});
    this.status = el('span', {class: 'count', role: 'status'});
    this.detail = el('div', {class: 'detail', text: 'Point at a span; click to keep it here and to light up its job.'});
    this.search = el('input', {type: 'search', placeholder: 'Search a job  ( / )', 'aria-label': 'Search a job or model',
      oninput: () => this.find(this.search.value), onkeydown: (event) => {
        if (event.key === 'Enter') this.step(event.shiftKey ? -1 : 1);
        if (event.key === 'Escape') this.canvas.focus();
      }});
    const button = (text, title, action) => el('button', {type: 'button', text, title, onclick: action});
    const colour = el('select', {'aria-label': 'Colour by', onchange: (event) => {
      this.colourBy = event.currentTarget.value;
      this.recolour();
    }}, ...[['job', 'colour by job'], ['model', 'colour by model'], ['op', 'colour by operation']].map(([value, text]) => el('option', {value, text})));
    const present = [...new Set(this.data.lanes.map((lane) => lane.group))];
    const boxes = present.length < 2 ? [] : present.map((group) => el('label', {class: 'check'},
      el('input', {type: 'checkbox', checked: true, onchange: (event) => {
        if (event.currentTarget.checked) this.groups.add(group); else this.groups.delete(group);
        this.layout();
      }}), GROUP_NAMES[group]));
    const tools = exportButtons('timeline', {svg: () => this.toSvg(), png: () => this.toPng(), rows: () => this.toRows()});
    this.bar = el('div', {class: 'timelinebar'}, this.search, button('‹', 'Previous match (p)', () => this.step(-1)),
      button('›', 'Next match (n)', () => this.step(1)), this.status, el('span', {class: 'space'}), ...boxes, colour,
      button('−', 'Zoom out (−)', () => this.zoom(2)), button('+', 'Zoom in (+)', () => this.zoom(0.5)),
      button('All', 'Show all (0)', () => this.show(...this.whole)), button('Full', 'Full screen', () => this.toggleFull()), tools);
    this.box = el('div', {class: 'canvasbox'}, this.overview, this.canvas);
    this.legend = el('div', {class: 'legend'});
    this.sheets = el('div', {class: 'sheets'});
    this.root = el('div', {class: 'timeline', role: 'group', 'aria-label': 'Timeline'}, this.bar, this.box, this.sheets, this.legend, this.detail);
    this.listen();
    drawings.add(() => {
      this.recolour();
      this.layout();
    });
  }

  listen() {
    const {canvas, overview} = this;
    canvas.addEventListener('wheel', (event) => this.wheel(event), {passive: false});
    canvas.addEventListener('pointerdown', (event) => this.press(event));
    canvas.addEventListener('pointermove', (event) => this.move(event));
    canvas.addEventListener('pointerup', (event) => this.release(event));
    canvas.addEventListener('pointerleave', () => {
      tooltip.hide();
      this.hovered = -1;
    });
    canvas.addEventListener('dblclick', (event) => {
      const i = this.spanAt(this.place(event));
      if (i >= 0) this.showSpan(i);
    });
    canvas.addEventListener('keydown', (event) => this.key(event));
    const jump = (event) => {
      const box = overview.getBoundingClientRect(), share = clamp((event.clientX - box.left - this.gutter) / (box.width - this.gutter), 0, 1);
      const middle = this.whole[0] + share * (this.whole[1] - this.whole[0]), half = (this.view.to - this.view.from) / 2;
      this.show(middle - half, middle + half);
    };
    overview.addEventListener('pointerdown', (event) => {
      overview.setPointerCapture(event.pointerId);
      jump(event);
    });
    overview.addEventListener('pointermove', (event) => { if (event.buttons & 1) jump(event); });
    document.addEventListener('fullscreenchange', () => this.layout());
  }

  toggleFull() {
    if (document.fullscreenElement) document.exitFullscreen();
    else this.root.requestFullscreen?.();
  }

  // --- places ---

  /** Which lanes are shown where. */
  layout() {
    this.shown = this.data.lanes.filter((lane) => this.groups.has(lane.group));
    const full = document.fullscreenElement === this.root;
    const room = full ? Math.max(200, innerHeight - 150 - OVERVIEW) : MAX_HEIGHT;
    this.laneHeight = clamp(Math.floor((room - AXIS) / Math.max(1, this.shown.length)), LOWEST_LANE, HIGHEST_LANE);
    const width = Math.max(320, Math.floor(this.box.clientWidth)), ratio = window.devicePixelRatio || 1;
    this.height = Math.min(room, AXIS + Math.max(1, this.shown.length) * this.laneHeight);
    this.ratio = ratio;
    this.width = width;
    this.gutter = width < 640 ? 84 : 128;
    for (const [canvas, height] of [[this.canvas, this.height], [this.overview, OVERVIEW]]) {
      canvas.width = Math.round(width * ratio);
      canvas.height = Math.round(height * ratio);
      canvas.style.height = `${height}px`;
    }
    this.overviewShape = null;
    this.image = null;
    this.redraw();
  }

  get plotWidth() {
    return this.width - this.gutter;
  }
  maxScroll() {
    return Math.max(0, this.shown.length * this.laneHeight - (this.height - AXIS));
  }
  place(event) {
    const box = this.canvas.getBoundingClientRect();
    return {x: event.clientX - box.left, y: event.clientY - box.top};
  }
  timeAt(x) {
    return this.view.from + (x - this.gutter) / this.plotWidth * (this.view.to - this.view.from);
  }
  laneAt(y) {
    if (y < AXIS) return null;
    return this.shown[Math.floor((y - AXIS + this.scroll) / this.laneHeight)] || null;
  }

  /** The span at a place of the canvas, -1 if none: of a stack the one at that height. */
  spanAt({x, y}) {
    const lane = this.laneAt(y);
    if (!lane || x < this.gutter) return -1;
    const {data} = this, t = this.timeAt(x), pixel = (this.view.to - this.view.from) / this.plotWidth;
    const i = firstAbove(data.end, t - pixel, lane.from, lane.to);
    if (i >= lane.to || data.start[i] > t + pixel) return -1;
    const up = 100 * (1 - ((y - AXIS + this.scroll) % this.laneHeight) / this.laneHeight);
    let best = i;
    for (let k = i; k < lane.to && data.start[k] === data.start[i]; ++k) if (data.base[k] <= up) best = k;
    return best;
  }

  // --- moving ---

  show(from, to) {
    const [low, high] = this.whole, least = 50;  // ns
    const length = clamp(to - from, least, high - low);
    from = clamp((from + to - length) / 2, low, high - length);
    this.view = {from, to: from + length};
    this.redraw();
  }
  zoom(factor, at = (this.view.from + this.view.to) / 2) {
    const {from, to} = this.view;
    const length = clamp((to - from) * factor, 50, this.whole[1] - this.whole[0]), share = (at - from) / (to - from);
    this.show(at - share * length, at + (1 - share) * length);
  }
  pan(share) {
    const by = share * (this.view.to - this.view.from);
    this.show(this.view.from + by, this.view.to + by);
  }
  scrollTo(pixels) {
    this.scroll = clamp(pixels, 0, this.maxScroll());
    this.redraw();
  }
  revealLane(lane) {
    const index = this.shown.indexOf(lane), top = index * this.laneHeight, room = this.height - AXIS;
    if (index >= 0 && (top < this.scroll || top + this.laneHeight > this.scroll + room)) this.scrollTo(top - room / 3);
  }
  showSpan(i) {
    const length = this.data.end[i] - this.data.start[i];
    this.show(this.data.start[i] - length, this.data.end[i] + length);
  }

  wheel(event) {
    if (event.ctrlKey || event.metaKey) {
      event.preventDefault();
      this.zoom(Math.exp(clamp(event.deltaY, -120, 120) * 0.004), this.timeAt(this.place(event).x));
    } else if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) {
      event.preventDefault();
      this.pan((event.deltaX || event.deltaY) / this.plotWidth);
    } else if (this.maxScroll() > 0 && document.activeElement === this.canvas) {
      const before = this.scroll;
      this.scrollTo(this.scroll + event.deltaY);
      if (this.scroll !== before) event.preventDefault();
    }
  }
  press(event) {
    if (event.button !== 0) return;
    this.canvas.focus({preventScroll: true});
    this.canvas.setPointerCapture(event.pointerId);
    const at = this.place(event);
    this.drag = {at, view: {...this.view}, scroll: this.scroll, moved: false, select: event.shiftKey};
  }
  move(event) {
    const at = this.place(event), {drag} = this;
    if (drag) {
      const dx = at.x - drag.at.x, dy = at.y - drag.at.y;
      if (!drag.moved && Math.hypot(dx, dy) < 4) return;
      drag.moved = true;
      tooltip.hide();
      if (drag.select) {
        drag.to = at;
        this.redraw();
        return;
      }
      const by = -dx / this.plotWidth * (drag.view.to - drag.view.from);
      this.scroll = clamp(drag.scroll - dy, 0, this.maxScroll());
      this.show(drag.view.from + by, drag.view.to + by);
      return;
    }
    const i = this.spanAt(at);
    this.hovered = i;
    if (i >= 0) tooltip.show(this.describe(i, this.laneAt(at.y)), event.clientX, event.clientY);
    else tooltip.hide();
  }
  release(event) {
    const {drag} = this, at = this.place(event);
    this.drag = null;
    if (!drag) return;
    if (drag.select && drag.moved) {
      const times = [this.timeAt(drag.at.x), this.timeAt(at.x)].sort((a, b) => a - b);
      return this.show(...times);
    }
    if (!drag.moved) this.select(this.spanAt(at), this.laneAt(at.y));
  }
  key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const actions = {
      ArrowLeft: () => this.pan(-0.1), a: () => this.pan(-0.1), ArrowRight: () => this.pan(0.1), d: () => this.pan(0.1),
      PageUp: () => this.pan(-0.9), PageDown: () => this.pan(0.9), Home: () => this.pan(-1e9), End: () => this.pan(1e9),
      ArrowUp: () => this.scrollTo(this.scroll - 3 * this.laneHeight), ArrowDown: () => this.scrollTo(this.scroll + 3 * this.laneHeight),
      '+': () => this.zoom(0.5), '=': () => this.zoom(0.5), w: () => this.zoom(0.5), '-': () => this.zoom(2), s: () => this.zoom(2),
      0: () => this.show(...this.whole), n: () => this.step(1), p: () => this.step(-1), '/': () => this.search.focus(),
      Enter: () => this.selected >= 0 && this.showSpan(this.selected), Escape: () => this.clear(),
    };
    if (!actions[event.key]) return;
    event.preventDefault();
    actions[event.key]();
  }

  // --- searching and selecting ---

  find(word) {
    this.word = word.trim().toLowerCase();
    this.matches = [];
    if (this.word) {
      this.jobs.names.forEach((name, job) => {
        const text = `${name} ${this.jobs.models[job]}`.toLowerCase();
        if (text.includes(this.word) && this.extent[job].spans > 0) this.matches.push(job);
      });
      // The job of exactly that name first: job-1 before job-10.
      const exact = this.matches.findIndex((job) => this.jobs.names[job].toLowerCase() === this.word);
      if (exact > 0) this.matches.unshift(...this.matches.splice(exact, 1));
    }
    this.match = -1;
    this.status.textContent = !this.word ? '' : this.matches.length ? `${this.matches.length} of ${this.jobs.names.length} jobs` : 'no such job';
    this.recolour();
  }
  step(by) {
    if (!this.matches.length) return;
    this.match = (this.match + by + this.matches.length) % this.matches.length;
    this.showJob(this.matches[this.match]);
    this.status.textContent = `${this.match + 1} of ${this.matches.length}: ${this.jobs.names[this.matches[this.match]]}`;
  }
  showJob(job) {
    const extent = this.extent[job];
    if (extent.spans === 0) return;
    const room = 0.05 * (extent.to - extent.from);
    this.revealLane(this.data.lanes[extent.lane]);
    this.show(extent.from - room, extent.to + room);
  }
  select(i, lane) {
    this.selected = i;
    this.detail.replaceChildren();
    if (i < 0) {
      this.detail.textContent = 'Point at a span; click to keep it here and to light up its job.';
    } else {
      this.describe(i, lane).forEach((line, k) => this.detail.append(el(k ? 'span' : 'strong', {text: line})));
      const job = this.data.kinds[this.data.kind[i]].job;
      if (job >= 0) this.detail.append(el('button', {type: 'button', text: 'Show the whole job', onclick: () => this.showJob(job)}));
    }
    this.recolour();
  }
  clear() {
    this.search.value = '';
    this.select(-1, null);
    this.find('');
  }

  describe(i, lane) {
    const {data, jobs} = this, kind = data.kinds[data.kind[i]], length = data.end[i] - data.start[i];
    const exact = lane.bin_ns === 0, lines = [];
    if (kind.job >= 0) lines.push(`${jobs.names[kind.job]} · ${jobs.models[kind.job]} · ${jobs.gpus[kind.job]} GPU${jobs.gpus[kind.job] === 1 ? '' : 's'}`);
    else lines.push(kind.op ? `${data.share[i]}% utilised` : 'All jobs of the lane');
    if (exact) lines.push(`${kind.op}, iteration ${data.number[i].toLocaleString('en-US')}`);
    else if (!kind.op) lines.push(`${data.share[i]}% busy: ${data.number[i].toLocaleString('en-US')} ${kind.transfer ? 'transfers' : 'operations'} ended`);
    lines.push(`${lane.name}${lane.group === 'gpu' ? `, server ${lane.server}` : ''}`);
    const step = exact ? 1 : lane.bin_ns, start = instant(data.start[i], step);
    lines.push(`from ${start}${exact && !start.endsWith(' s') ? ` (${inSeconds(data.start[i], 9)})` : ''}, ${duration(length)}`);
    if (exact && kind.transfer) lines.push(`${bytes(kind.bytes)} among ${kind.ranks} ranks on ${Math.max(1, kind.servers)} server${kind.servers > 1 ? 's' : ''}`);
    return lines;
  }
}
