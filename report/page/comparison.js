// The page about several runs side by side. The first is what the others are measured by.

/** Whether something is the same of all runs. */
function isShared(runs, value) {
  return new Set(runs.map(value)).size === 1;
}

function metricOf(run, name) {
  return run.metrics.find((m) => m.name === name);
}

/** Figures of the table, and of them those that are the same in all runs; the average JCT always has a column. */
function comparedMetrics(runs) {
  const plain = (name) => ['avg_jct_s', 'median_jct_s', 'p95_jct_s', 'makespan_s', 'avg_queueing_s', 'avg_waiting_s', 'preemptions', 'lost_gpu_s', 'gpu_utilisation', 'network_utilisation', 'contended_share', 'finished'].includes(name);
  const metrics = runs[0].metrics.filter((metric) => plain(metric.name));
  const same = (metric) => metric.name !== 'avg_jct_s' && isShared(runs, (run) => metricOf(run, metric.name).value)
    && isShared(runs, (run) => metricOf(run, metric.name).half_width);
  return {shared: metrics.filter(same), differing: metrics.filter((metric) => !same(metric))};
}

function comparisonTable(runs) {
  const columns = [{name: 'run', values: runs.map((run) => run.name), text: (name, row) => name + (isCensored(runs[row].metrics) ? ' *' : '')}];
  if (!isShared(runs, (run) => run.replicas)) columns.push({name: 'replicas', values: runs.map((run) => run.replicas)});
  const ratioAt = columns.length;
  for (const metric of comparedMetrics(runs).differing) {
    const own = runs.map((run) => metricOf(run, metric.name));
    columns.push({
      name: metric.name, title: metric.title, unit: metric.unit, values: own.map((m) => m.value),
      text: (value, row) => {
        return withSpread(value, own[row].half_width, metric.unit);
      },
    });
    if (own.some((m) => !isMissing(m.half_width))) columns.push({name: metric.name + '_half_width_95', values: own.map((m) => m.half_width), hidden: true});
  }
  const ratioColumn = (name, title, member) => ({
    name, title, values: runs.map((run) => run[member] && run[member].ratio),
    text: (value, row) => {
      if (isMissing(value)) return '–';
      const {low, high} = runs[row][member];
      return row === 0 ? '1' : value.toFixed(3) + (isMissing(low) ? '' : ` [${low.toFixed(3)}, ${high.toFixed(3)}]`);
    },
  });
  columns.splice(ratioAt, 0, ratioColumn('jct_ratio_to_first', 'JCT / first', 'ratio'));
  if (runs.some((run) => run.ratio && !isMissing(run.ratio.low)))
    columns.splice(ratioAt + 1, 0,
      {name: 'jct_ratio_p_value', title: 'p', values: runs.map((run) => run.p_value), text: (p) => (isMissing(p) ? '–' : p.toPrecision(2))},
      {name: 'jct_ratio_detectable', title: 'detectable', values: runs.map((run) => run.detectable), text: detectableText},
      ratioColumn('jct_ratio_of_means_to_first', 'ratio of means', 'ratio_of_means'));
  return sortableTable(columns, {name: 'comparison', filter: runs.length > 8, caption: 'Figures of the runs'});
}

/** Figures of one pair at a time, chosen from a list. */
function pairSection(runs, figures) {
  const pairs = runs.slice(1).map((run, i) => ({
    name: run.name, figures: figures.filter((figure) => figure.id === `jobs-${i + 1}` || figure.id === `winners-${i + 1}`),
  })).filter((pair) => pair.figures.length > 0);
  if (pairs.length === 0)
    return section('pairs', 'Job by job', el('p', {class: 'notice', text: 'No two runs share a seed and finished jobs, so jobs can\'t be compared one by one.'}));
  const place = el('div', {});
  const show = (i) => {
    const pair = pairs[i], scatter = pair.figures.find((figure) => figure.id.startsWith('jobs-'));
    place.replaceChildren(el('div', {class: 'grid'}, ...pair.figures.map((figure) => figureElement(figure, {height: 340}))),
      changesTable(scatter.series[0], runs[0].name, pair.name));
    redrawAll();
  };
  const choice = el('select', {'aria-label': 'Which run against the first', onchange: (event) => show(Number(event.currentTarget.value))},
    ...pairs.map((pair, i) => el('option', {value: i, text: `${pair.name} against ${runs[0].name}`})));
  const result = section('pairs', 'Job by job', el('p', {class: 'lead'}, choice), place);
  page.afterwards.push(() => show(0));
  return result;
}

function changesTable(series, first, other) {
  return sortableTable([
    {name: 'job_id', title: 'job id', values: series.labels},
    {name: `jct_${first}_s`, title: `JCT, ${first}`, unit: 's', values: series.x},
    {name: `jct_${other}_s`, title: `JCT, ${other}`, unit: 's', values: series.y},
    {name: 'difference_s', title: 'difference', unit: 's', values: series.x.map((x, i) => series.y[i] - x)},
    {name: 'ratio', values: series.x.map((x, i) => (x > 0 ? series.y[i] / x : null)), text: (value) => (isMissing(value) ? '–' : value.toFixed(3))},
  ], {name: 'jobs-compared', caption: `Jobs of ${first} and ${other}`});
}

function comparisonPage(data) {
  const own = data.figures.filter((figure) => !/^(jobs|winners)-\d+$/.test(figure.id));
  const {runs} = data, fact = (run, name) => run.facts.find(([n]) => n === name)[1];
  // Every run has the same facts, and a description and a number of replicas.
  const described = runs.map((run) => ({...run, facts: [...run.facts, ['description', run.description], ['replicas', String(run.replicas)]]}));
  const names = described[0].facts.map(([name]) => name), isSame = (name) => isShared(described, (run) => fact(run, name));
  const shared = names.filter((name) => isSame(name) && fact(described[0], name) !== '').map((name) => [name, fact(described[0], name)]);
  for (const metric of comparedMetrics(runs).shared) {
    const {value, half_width: spread} = metricOf(runs[0], metric.name);
    if (!isMissing(value)) shared.push([metric.title, withSpread(value, spread, metric.unit)]);
  }
  const differing = data.differences.map(({key, values}) => ({name: key, values: values.map((value) => value || '–')}));
  if (!isSame('description')) differing.push({name: 'description', values: runs.map((run) => run.description)});
  const what = differing.length ? sortableTable([{name: 'run', values: runs.map((run) => run.name)}, ...differing], {name: 'scenarios', filter: false, caption: 'What differs between the runs'})
    : el('p', {class: 'notice', text: 'No key of the scenarios: the runs differ in their seeds or in the program that ran them.'});
  const intervals = runs.some((run) => run.replicas > 1);
  return [
    section('comparison', 'Side by side', el('p', {class: 'lead', text: (intervals ? 'Means over replicas; intervals are 95% Student-t. ' : '')
      + 'JCT / first is the average completion time over that of the first run, as the geometric mean of the ratios seed by seed; beside it stands the ratio of the means.'
      + (intervals ? ' p is of a ratio of 1, by two-sided t tests that are corrected by Holm for all runs. Where the interval contains 1, detectable is the smallest change that these seeds show in four of five comparisons.' : '')
      + (data.few_seeds ? ` ${data.few_seeds}.` : '')}), comparisonTable(data.runs),
      runs.some((run) => isCensored(run.metrics)) ? el('p', {class: 'help', text: CENSORED}) : null),
    section('scenario', 'What was simulated', el('div', {class: 'split'}, el('div', {}, el('h3', {text: 'What differs'}), what),
      el('div', {}, el('h3', {text: 'What all share'}), factTable(shared, 'What all runs share')))),
    section('distribution', 'Completion times', el('div', {class: 'grid'}, ...own.filter((f) => f.id.startsWith('jct')).map((figure) => figureElement(figure, {height: 320})))),
    section('metrics', intervals ? 'Figures with intervals' : 'Figures', el('div', {class: 'grid small'}, ...own.filter((f) => f.id.startsWith('metric')).map((figure) => figureElement(figure, {height: 240})))),
    pairSection(data.runs, data.figures),
    section('provenance', 'Where it comes from', ...data.runs.map((run) => el('details', {}, el('summary', {text: run.name}), factTable(run.provenance, `Provenance of ${run.name}`)))),
  ];
}
