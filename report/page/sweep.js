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
    const numeric = isNumeric(parameter), shown = (value, run) => parameter.names[parameter.codes[run]] || '–';
    columns.push({
      name: columnName(parameter.key, numeric ? parameter.unit : ''), title: parameter.key, text: shown,
      values: parameter.codes.slice(0, sweep.points.length).map((code) => (numeric ? parameter.numbers[code] : parameter.names[code])),
    });
  }
  if (sweep.states.some((state) => state !== 'done')) columns.push({name: 'status', values: sweep.states}, {name: 'error', values: sweep.errors});
  for (const metric of sweep.metrics)
    if (metric.values.some((value) => !isMissing(value))) columns.push({name: metric.name, title: metric.title, unit: metric.unit, values: metric.values});
  return sortableTable(columns, {name: 'runs'});
}

class SweepExplorer {
  constructor(sweep) {
    this.sweep = sweep;
    const free = varying(sweep);
    this.free = free.length ? free : sweep.parameters;
    this.chosen = {x: sweep.x, by: sweep.by, metric: sweep.metric, facet: ''};
    const third = this.free.find((p) => p.key !== sweep.x && p.key !== sweep.by && new Set(p.codes).size <= 12);
    if (third) this.chosen.facet = third.key;
    this.filters = new Map();  // parameter -> code
    this.controls = el('div', {class: 'controls'});
    this.main = el('div', {class: 'grid'});
    this.multiples = el('div', {class: 'multiples'});
    this.multiplesTitle = el('h3');
  }

  parameter(key) {
    return this.sweep.parameters.find((parameter) => parameter.key === key);
  }

  drawControls() {
    const {free, chosen, sweep} = this, set = (name) => (value) => {
      // Two roles for one parameter make no sense: they change places.
      const roles = ['x', 'by', 'facet'];
      if (roles.includes(name) && value) for (const other of roles) if (other !== name && chosen[other] === value) chosen[other] = other === 'x' ? (chosen[name] || chosen.x) : chosen[name];
      chosen[name] = value;
      this.update();
    };
    const keys = free.map((parameter) => [parameter.key, parameter.key]), none = [['', '(none)']];
    const metrics = sweep.metrics.filter((m) => m.values.some((v) => !isMissing(v))).map((m) => [m.name, m.title]);
    const used = new Set([chosen.x, chosen.by, chosen.facet]);
    this.controls.replaceChildren(choice('metric', metrics, chosen.metric, set('metric')), choice('along x', keys, chosen.x, set('x')),
      choice('lines and rows', [...none, ...keys], chosen.by, set('by')), choice('small multiples', [...none, ...keys], chosen.facet, set('facet')),
      ...free.filter((parameter) => !used.has(parameter.key)).map((parameter) => {
        const levels = levelsOf(parameter), codes = [];
        levels.rank.forEach((place, code) => { codes[place] = code; });
        const now = this.filters.has(parameter.key) ? String(this.filters.get(parameter.key)) : '';
        return choice(parameter.key, [['', '(all, averaged)'], ...codes.map((code) => [String(code), parameter.names[code] || '(none)'])], now, (value) => {
          if (value === '') this.filters.delete(parameter.key); else this.filters.set(parameter.key, Number(value));
          this.update();
        });
      }));
    for (const key of this.filters.keys()) if (used.has(key)) this.filters.delete(key);
  }

  keeps() {
    const filters = [...this.filters].map(([key, code]) => [this.parameter(key).codes, code]);
    return (run) => filters.every(([codes, code]) => codes[run] === code);
  }

  update() {
    this.drawControls();
    const {sweep, chosen} = this, metric = sweep.metrics.find((m) => m.name === chosen.metric), keep = this.keeps();
    const x = this.parameter(chosen.x), by = chosen.by ? this.parameter(chosen.by) : null, facet = chosen.facet ? this.parameter(chosen.facet) : null;
    const figures = [lineFigure(sweep, metric, x, by, keep, 'sweep-lines', `${metric.title} over ${x.key}`)];
    if (by) figures.push(mapFigure(sweep, metric, x, by, keep, 'sweep-map', `${metric.title} over ${x.key} and ${by.key}`));
    this.main.replaceChildren(...figures.map((figure) => figureElement(figure, {height: 340})));
    this.multiplesTitle.textContent = facet ? `${metric.title}, a picture a value of ${facet.key}` : '';
    this.multiples.replaceChildren(...(facet ? this.facets(metric, x, by, facet, keep) : []));
    redrawAll();
  }

  /** One small figure a value of the facet, all with the range of all. */
  facets(metric, x, by, facet, keep) {
    const levels = levelsOf(facet), figures = levels.names.map((name, place) => {
      const code = levels.rank.indexOf(place);
      return lineFigure(this.sweep, metric, x, by, (run) => keep(run) && facet.codes[run] === code, `sweep-part-${place}`, `${facet.key} = ${name}`);
    });
    const most = Math.max(...figures.flatMap((figure) => figure.series.flatMap((s) => [...s.y, ...s.high]).filter((v) => !isMissing(v))));
    return figures.slice(0, 24).map((figure) => {
      figure.y.at_least = most;
      figure.caption = '';
      return figureElement(figure, {height: 200});
    });
  }
}

function sweepPage(data) {
  const {sweep} = data, explorer = new SweepExplorer(sweep), parts = [];
  const points = new Set(sweep.points).size;
  const facts = [['points', points.toLocaleString('en-US')], ['runs', sweep.points.length.toLocaleString('en-US')],
                 ...sweep.parameters.map((p) => [p.key, `${p.names.length} values: ${levelsOf(p).names.slice(0, 12).join(', ')}${p.names.length > 12 ? ', …' : ''}`])];
  if (sweep.x && sweep.metric) {
    parts.push(section('explore', 'Explore', failuresNotice(sweep), explorer.controls, explorer.main, explorer.multiplesTitle, explorer.multiples));
    page.afterwards.push(() => explorer.update());
  } else {
    parts.push(section('explore', 'Explore', failuresNotice(sweep), el('p', {class: 'notice', text: 'No parameter varies in this sweep, so there is nothing to draw.'})));
  }
  parts.push(section('runs', 'Runs', runsTable(sweep)),
    section('scenario', 'What was simulated', factTable(facts), el('details', {}, el('summary', {text: 'The scenario that the points differ from'}), el('pre', {text: data.scenario}))),
    section('provenance', 'Where it comes from', factTable(data.provenance)));
  page.explorer = explorer;
  return parts;
}
