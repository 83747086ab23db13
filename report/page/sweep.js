// The page about a sweep: a metric as lines and as a map over any two parameters, small multiples over a third, and
// every run in a table.

function varying(sweep) {
  return sweep.parameters.filter((parameter) => new Set(parameter.codes).size > 1);
}

function choice(label, options, value, onchange) {
  const select = el('select', {onchange: (event) => onchange(event.currentTarget.value)},
    ...options.map(([key, text]) => el('option', {value: key, text, selected: key === value})));
  return el('label', {class: 'choice'}, el('span', {text: label}), select);
}

/** In how many runs not all jobs finished, as `contend results` says it; null if none did. */
function unfinishedNotice(sweep) {
  const [jobs, finished] = ['jobs', 'finished'].map((name) => sweep.metrics.find((metric) => metric.name === name));
  if (!jobs || !finished) return null;
  const done = sweep.states.filter((state) => state === 'done').length;
  const cut = sweep.states.filter((state, run) => state === 'done' && finished.values[run] < jobs.values[run]).length;
  if (!cut) return null;
  return el('p', {class: 'notice', text: `In ${cut.toLocaleString('en-US')} of ${done.toLocaleString('en-US')} runs not all jobs finished, and their averages are over the finished jobs alone.`});
}

function failuresNotice(sweep) {
  const bad = sweep.states.map((state, run) => [state, run]).filter(([state]) => state !== 'done');
  const missing = sweep.planned > sweep.points.length ? `${(sweep.planned - sweep.points.length).toLocaleString('en-US')} of ${sweep.planned.toLocaleString('en-US')} runs are not in the store yet. ` : '';
  if (!bad.length && !missing) return null;
  const text = !bad.length ? '' : bad.length === 1 ? `One run gave no result, so figures over its point leave out its seed: ${sweep.errors[bad[0][1]]}`
    : `${bad.length.toLocaleString('en-US')} runs gave no result, so figures over their points leave out their seeds; the first: ${sweep.errors[bad[0][1]]}`;
  return el('p', {class: 'notice', text: missing + text});
}

function runsTable(sweep) {
  const columns = [{name: 'point', values: sweep.points}, {name: 'seed', values: sweep.seeds}];
  for (const parameter of sweep.parameters) {
    // Sorted and copied as numbers where they are, shown as they were written.
    const numeric = isNumeric(parameter), shown = (value, run) => parameter.names[parameter.codes[run]];
    columns.push({
      name: columnName(parameter.key, numeric ? parameter.unit : ''), title: parameter.key, text: shown,
      values: parameter.codes.slice(0, sweep.points.length).map((code) => (numeric ? parameter.numbers[code] : parameter.names[code])),
    });
  }
  if (sweep.states.some((state) => state !== 'done')) columns.push({name: 'status', values: sweep.states}, {name: 'error', values: sweep.errors});
  for (const metric of sweep.metrics)
    if (metric.values.some((value) => !isMissing(value))) columns.push({name: metric.name, title: metric.title, unit: metric.unit, values: metric.values});
  return sortableTable(columns, {name: 'runs', caption: 'Every run of the sweep with its parameters and figures'});
}

/** Most values of a parameter that lists, lines and small pictures have room for. */
const MOST_LINES = 50, MOST_PICTURES = 24, FEW_PICTURES = 12, MOST_BASELINES = 40;

class SweepExplorer {
  constructor(sweep) {
    this.sweep = sweep;
    const free = varying(sweep);
    this.free = free.length ? free : sweep.parameters;
    this.chosen = {x: sweep.x, by: sweep.by, metric: sweep.metric, facet: '', compare: sweep.baselines.length ? 'baseline' : ''};
    // What becomes of the other parameters: held at a value, or averaged on request.
    this.held = new Map(Object.entries(sweep.held).map(([key, name]) => [key, this.parameter(key).names.indexOf(name)]));
    this.averaged = new Set(sweep.averaged);
    const third = this.inOrder().find((p) => this.held.has(p.key) && p.names.length <= FEW_PICTURES);
    if (third) this.chosen.facet = third.key;
    this.controls = el('div', {class: 'controls'});
    this.main = el('div', {class: 'grid'});
    this.table = el('div', {});
    this.multiples = el('div', {class: 'multiples'});
    this.multiplesTitle = el('h3');
    this.drawn = [];
    this.partners = new Map();
  }

  parameter(key) {
    return this.sweep.parameters.find((parameter) => parameter.key === key);
  }

  /** Words, such as policies, before numbers. */
  inOrder() {
    return [...this.free.filter((p) => !p.numeric), ...this.free.filter((p) => p.numeric)];
  }

  /** No figure is a mean over what nobody asked to average: what would fall together is held, as by hold_others(). */
  settle() {
    const {chosen} = this, used = [chosen.x, chosen.by], drawn = this.free.filter((p) => used.includes(p.key));
    for (const key of used) {
      this.held.delete(key);
      this.averaged.delete(key);
    }
    for (const parameter of this.inOrder()) {
      if (used.includes(parameter.key) || this.held.has(parameter.key) || this.averaged.has(parameter.key)) continue;
      const keep = this.keeps();
      if (!isMixed(parameter, drawn, keep)) continue;
      const code = mostFrequent(parameter, keep), fewer = (row) => keep(row) && parameter.codes[row] === code;
      if (2 * combinations(drawn, fewer) >= combinations(drawn, keep)) this.held.set(parameter.key, code);
    }
    if (chosen.facet && !this.held.has(chosen.facet)) chosen.facet = '';
  }

  drawControls() {
    const {free, chosen, sweep} = this, set = (name) => (value) => {
      // Two roles for one parameter make no sense: they change places.
      const roles = ['x', 'by', 'facet'];
      if (roles.includes(name) && value) for (const other of roles) if (other !== name && chosen[other] === value) chosen[other] = other === 'x' ? (chosen[name] || chosen.x) : chosen[name];
      chosen[name] = value;
      if (name === 'facet' && value) this.averaged.delete(value);
      this.update();
    };
    const few = (most) => free.filter((p) => p.names.length <= most).map((parameter) => [parameter.key, parameter.key]), none = [['', '(none)']];
    const metrics = sweep.metrics.filter((m) => m.values.some((v) => !isMissing(v))).map((m) => [m.name, m.title]);
    this.controls.replaceChildren(choice('metric', metrics, chosen.metric, set('metric')), choice('along x', few(Infinity), chosen.x, set('x')),
      choice('lines and rows', [...none, ...few(MOST_LINES)], chosen.by, set('by')),
      choice('small multiples', [...none, ...few(MOST_PICTURES).filter(([key]) => key !== chosen.x && key !== chosen.by)], chosen.facet, set('facet')),
      choice('ratio to', this.baselines(), chosen.compare, set('compare')),
      ...free.filter((parameter) => this.held.has(parameter.key) || this.averaged.has(parameter.key)).map((parameter) => this.otherControl(parameter)));
  }

  /** The list for a parameter that is neither along x nor the lines. */
  otherControl(parameter) {
    const {key} = parameter, now = this.averaged.has(key) ? 'all' : String(this.held.get(key));
    return choice(key, [...titlesOf(parameter).map((title, code) => [String(code), title]), ['all', `(mean over all ${parameter.names.length})`]], now, (value) => {
      this.held.delete(key);
      this.averaged.delete(key);
      if (value === 'all') this.averaged.add(key); else this.held.set(key, Number(value));
      this.update();
    });
  }

  /** What ratios may be to: the baseline of the sweep, or any value of a parameter, all else equal. */
  baselines() {
    const {sweep} = this, own = sweep.baselines.length ? [['baseline', `baseline: ${sweep.baseline}`]] : [];
    return [['', '(no ratio)'], ...own, ...this.free.filter((p) => p.names.length <= MOST_BASELINES).flatMap((parameter) =>
      titlesOf(parameter).map((title, code) => [`${sweep.parameters.indexOf(parameter)} ${code}`, `${parameter.title} = ${title}`]))];
  }

  /** {rows, name} of what ratios are to; null if there are none. */
  baseline() {
    const {sweep, chosen: {compare}} = this;
    if (!compare) return null;
    const [index, code] = compare.split(' ').map(Number), own = compare === 'baseline', parameter = own ? null : sweep.parameters[index];
    if (!this.partners.has(compare)) this.partners.set(compare, own ? partnerRows(sweep, (row) => sweep.baselines[row]) : partnersAt(sweep, parameter, code));
    return {rows: this.partners.get(compare), name: own ? sweep.baseline : `${parameter.title} = ${titlesOf(parameter)[code]}`};
  }

  keeps(without = '') {
    const held = [...this.held].filter(([key]) => key !== without).map(([key, code]) => [this.parameter(key).codes, code]);
    return (run) => held.every(([codes, code]) => codes[run] === code);
  }

  /** What the pictures are about. */
  about() {
    const {sweep, chosen} = this;
    return {
      sweep, metric: sweep.metrics.find((m) => m.name === chosen.metric), x: this.parameter(chosen.x), by: chosen.by ? this.parameter(chosen.by) : null,
      keep: this.keeps(), held: sweep.parameters.filter((p) => this.held.has(p.key)).map((p) => [p, this.held.get(p.key)]), averaged: [...this.averaged].map((key) => this.parameter(key)),
      partners: null, baseline: '',
    };
  }

  /** The figures as they stand now: values, and ratios if there is a baseline. */
  figures() {
    const about = this.about(), baseline = this.baseline(), own = sweepFigures(about, 'sweep-');
    const ratios = baseline && sweepFigures({...about, partners: baseline.rows, baseline: baseline.name}, 'sweep-ratio-');
    return {about, baseline, own, ratios, all: [...own.figures, ...(ratios ? ratios.figures : [])]};
  }

  update() {
    this.settle();
    this.drawControls();
    const {about, baseline, own, ratios, all} = this.figures();
    for (const node of this.drawn) node.forget();
    this.drawn = all.map((figure) => figureElement(figure, {height: 340}));
    this.main.replaceChildren(...this.drawn);
    this.table.replaceChildren(el('h3', {text: 'The same as a table'}), estimatesTable(about, own, ratios && ratios.cells, baseline));
    const {facet} = this.chosen;
    this.multiplesTitle.textContent = facet ? `${capitalised(about.metric.title)}${baseline ? ` relative to ${baseline.name}` : ''}: a picture for each value of ${this.parameter(facet).title}` : '';
    const small = facet ? this.facets(about, this.parameter(facet), baseline) : [];
    this.drawn.push(...small);
    this.multiples.replaceChildren(...small);
    redrawAll();
  }

  /** One small figure for each value of the facet, all with the range of all: of ratios if there is a baseline. */
  facets(about, facet, baseline) {
    const keep = this.keeps(facet.key), figures = facet.names.map((_, code) => {
      const part = {...about, keep: (run) => keep(run) && facet.codes[run] === code, ...(baseline ? {partners: baseline.rows, baseline: baseline.name} : {})};
      const [figure] = sweepFigures(part, `sweep-part-${code}-`).figures;
      return {...figure, title: `${facet.title} = ${titlesOf(facet)[code]}`, caption: ''};
    });
    const [low, high] = minMax(figures.flatMap((figure) => figure.series.flatMap((s) => [...s.y, ...(s.high || [])])));
    return figures.slice(0, MOST_PICTURES).map((figure) => {
      figure.y.at_least = high;
      figure.y.at_most = figure.y.log ? low : undefined;
      return figureElement(figure, {height: 200});
    });
  }
}

/** The estimates of the pictures: a row for each, with its runs, and its ratio as `contend results` prints it. */
function estimatesTable({metric, x, by}, {cells, xCode}, ratios, baseline) {
  const rows = cells.flatMap((row, b) => row.map((cell, i) => ({cell, b, i: xCode(i), ratio: ratios && ratios[b][i]}))).filter(({cell}) => cell);
  const half = (cell) => (cell.low === null ? null : cell.mean - cell.low), intervals = rows.some(({cell}) => cell.low !== null);
  const columns = (by ? [[by, 'b']] : []).concat([[x, 'i']]).map(([parameter, place]) => {
    const numeric = isNumeric(parameter), levels = numeric ? parameter.numbers : parameter.names;
    return {
      name: columnName(parameter.key, numeric ? parameter.unit : ''), title: parameter.title, values: rows.map((row) => levels[row[place]]),
      text: (_, row) => titlesOf(parameter)[rows[row][place]],
    };
  });
  columns.push({name: 'runs', values: rows.map(({cell}) => cell.runs)});
  columns.push({name: metric.name, title: metric.title, unit: metric.unit, values: rows.map(({cell}) => cell.mean), text: (value, row) => withSpread(value, half(rows[row].cell), metric.unit)});
  if (intervals) columns.push({name: `${metric.name}_ci95`, hidden: true, values: rows.map(({cell}) => half(cell))});
  if (ratios) {
    const value = (name) => rows.map(({ratio}) => (ratio ? ratio[name] : null));
    columns.push({
      name: `${metric.name}_ratio`, title: `/ ${baseline.name}`, values: value('mean'),
      text: (ratio, row) => (isMissing(ratio) ? '–' : ratio.toFixed(3) + (rows[row].ratio.low === null ? '' : ` [${rows[row].ratio.low.toFixed(3)}, ${rows[row].ratio.high.toFixed(3)}]`)),
    });
    if (intervals) {
      columns.push({name: `${metric.name}_ratio_low`, hidden: true, values: value('low')}, {name: `${metric.name}_ratio_high`, hidden: true, values: value('high')});
      columns.push({name: `${metric.name}_detectable`, title: 'detectable', values: value('detectable'), text: detectableText});
    }
  }
  return sortableTable(columns, {name: 'estimates', filter: false, caption: `${capitalised(metric.title)} as in the figures above${intervals ? ', with 95% Student-t intervals over seeds' : ''}`});
}

function sweepPage(data) {
  const {sweep} = data, explorer = new SweepExplorer(sweep), parts = [];
  const points = new Set(sweep.points).size;
  const facts = [['points', points.toLocaleString('en-US')], ['runs', sweep.points.length.toLocaleString('en-US')],
                 ...(sweep.baseline ? [['baseline', sweep.baseline]] : []),
                 ...sweep.parameters.map((p) => [p.key, `${p.names.length.toLocaleString('en-US')} values: ${titlesOf(p).slice(0, 12).join(', ')}${p.names.length > 12 ? ', …' : ''}`])];
  if (sweep.x && sweep.metric) {
    const few = data.few_seeds ? el('p', {class: 'lead', text: `${data.few_seeds}.`}) : null;
    parts.push(section('explore', 'Explore', failuresNotice(sweep), unfinishedNotice(sweep), few, explorer.controls, explorer.main, explorer.multiplesTitle, explorer.multiples, explorer.table));
    page.afterwards.push(() => explorer.update());
  } else {
    parts.push(section('explore', 'Explore', failuresNotice(sweep), el('p', {class: 'notice', text: 'No parameter varies in this sweep, so there is nothing to draw.'})));
  }
  if (data.figures.length) parts.push(section('pareto', 'Pareto front', ...data.figures.map((figure) => figureElement(figure, {height: 340}))));
  parts.push(section('runs', 'Runs', runsTable(sweep)),
    section('scenario', 'What was simulated', factTable(facts, 'The sweep'), el('details', {}, el('summary', {text: 'The scenario that the points differ from'}), el('pre', {text: data.scenario}))),
    section('provenance', 'Where it comes from', factTable(data.provenance, 'Provenance')));
  page.explorer = explorer;
  return parts;
}
