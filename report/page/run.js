// The page about one run.

function tile(metric, replicas, censored) {
  const [value, unit] = isMissing(metric.value) ? ['–', ''] : metric.unit === 's' ? timeText(metric.value, 3).split(' ')
    : metric.unit === 'share' ? [percent(metric.value), ''] : [number(metric.value), metric.unit];
  const spread = replicas > 1 && !isMissing(metric.half_width) && metric.half_width > 0
    ? el('div', {class: 'spread', text: withSpread(metric.value, metric.half_width, metric.unit).replace(/^.*(?=±)/, '')}) : null;
  const exact = exactText(metric.value, metric.unit);
  return el('div', {class: 'tile', title: metric.text + (exact ? `: ${exact}` : '')}, el('div', {class: 'name', text: metric.title + (censored && metric.over_finished ? ' *' : '')}),
    el('div', {class: 'value'}, value, unit ? el('small', {text: ' ' + unit}) : null), spread);
}

/** One tile for the counts of jobs. */
function jobsTile(metrics, replicas) {
  const value = (name) => (metrics.find((metric) => metric.name === name) || {value: 0}).value;
  const all = value('jobs'), finished = value('finished'), text = finished === all ? `all ${number(all)}` : number(finished);
  const rest = [['failed', value('failed')], ['given up', value('given_up')], ['unfinished', value('unfinished')],
    ['not submitted', value('not_submitted')]].filter(([, count]) => count > 0)
    .map(([name, count]) => `${number(count)} ${name}`).join(', ');
  return el('div', {class: 'tile', title: 'jobs that finished'}, el('div', {class: 'name', text: replicas > 1 ? 'jobs finished, a replica' : 'jobs finished'}),
    el('div', {class: 'value'}, text, finished === all ? null : el('small', {text: ` of ${number(all)}`})), rest ? el('div', {class: 'spread', text: rest}) : null);
}

function factTable(pairs, caption) {
  return el('table', {class: 'facts'}, el('caption', {text: caption}), el('tbody', {}, ...pairs.map(([name, value]) =>
    el('tr', {}, el('th', {scope: 'row', text: name}), el('td', {text: value})))));
}

function section(id, title, ...children) {
  return el('section', {id}, el('h2', {text: title}), ...children);
}

/** A drawing that is a whole SVG document, in a tree of its own so that its styles stay inside. */
function drawingElement(name, title, text) {
  const host = el('div', {class: 'drawing'});
  const root = host.attachShadow({mode: 'open'});
  const parsed = new DOMParser().parseFromString(text, 'image/svg+xml').documentElement;
  parsed.setAttribute('role', 'img');
  parsed.setAttribute('aria-label', title);
  parsed.style.maxWidth = '100%';
  parsed.style.height = 'auto';
  root.append(document.importNode(parsed, true));
  // The figure has the title above it; what is exported keeps its own.
  for (const words of root.querySelectorAll('text')) if (words.textContent === title) words.remove();
  // Its style sheet follows the system; the page follows the reader.
  const style = root.querySelector('style'), rules = style ? style.textContent : '', dark = /@media \(prefers-color-scheme:dark\)\{(.*)\}\s*$/s;
  const paint = () => {
    if (!style) return;
    const found = rules.match(dark);
    style.textContent = !found ? rules : rules.replace(dark, '') + (document.documentElement.dataset.theme === 'dark' ? found[1] : '');
  };
  paint();
  drawings.add(paint);
  const size = parsed.viewBox.baseVal;
  const tools = exportButtons(name, {svg: () => ({text, width: size.width, height: size.height})});
  return el('figure', {class: 'figure', id: name, 'aria-label': title}, el('header', {}, el('h3', {text: title}), tools), host);
}

const COLUMN_UNITS = {of_its_time_on_GPUs: 'share', there_of_its_time: 'share', compute_gpu_s: 's', utilisation: 'share', scaling_efficiency: 'share', above_bound: 'share'};

/** The unit of a column of a result file, by its name. */
function unitOfColumn(name) {
  if (COLUMN_UNITS[name]) return COLUMN_UNITS[name];
  return name.endsWith('_per_s') ? 'per_s' : name.endsWith('_s') ? 's' : name.endsWith('_bytes') ? 'B' : '';
}

function withUnits(columns) {
  return columns.map((column) => ({...column, title: column.name.replace(/_gpu_s$/, '_GPU_time').replace(/_per_s$/, '').replace(/_s$/, '').replace(/_bytes$/, '').replaceAll('_', ' '), unit: unitOfColumn(column.name)}))
    .filter((column) => column.values.some((value) => !isMissing(value) && value !== ''));
}

function summaryNote(data) {
  const summarised = data.lanes.find((lane) => lane.bin_ns > 0 && lane.group !== 'link');
  if (!summarised) return null;
  const together = data.kinds.some((kind) => kind.job < 0 && !kind.op);
  return el('p', {class: 'notice'}, el('strong', {text: 'Summarised. '}),
    `The run has ${data.recorded.toLocaleString('en-US')} spans, more than a page holds one by one. Here they are in bins of `
    + `${timeText(summarised.bin_ns / 1e9)}: the height of a colour is the share of the bin in which ${together ? 'a lane was busy, as there are too many jobs to show each' : 'a job was busy'}. `
    + `contend report --from TIME --to TIME shows a part of the run in full.`);
}

async function timelineSection(data) {
  if (!data.timeline) return section('timeline', 'Timeline', el('p', {class: 'notice', text: `There is no timeline. ${data.no_timeline}`}));
  const jobs = tableColumns(data.jobs), column = (name) => jobs.find((c) => c.name === name).values;
  const decoded = decodeTimeline(data.timeline, await unpackBlock('spans'));
  // Of jobs that the table leaves out, the page knows the number alone.
  const ofAll = (values, otherwise) => data.jobs_step === 1 ? values
    : Array.from({length: data.all_jobs}, (_, job) => job % data.jobs_step === 0 ? values[job / data.jobs_step] : otherwise(job));
  const timeline = new Timeline(data.timeline, decoded, {names: ofAll(column('job_id').map(String), (job) => `row ${job + 1} of jobs.csv`),
    models: ofAll(column('model').map(String), () => 'not in the table'), gpus: ofAll(column('gpus'), () => '?')});
  const help = el('p', {class: 'help'}, 'Drag to move, ', el('kbd', {text: 'Ctrl'}), ' + wheel or ', el('kbd', {text: '+'}), ' ', el('kbd', {text: '−'}),
    ' to zoom, ', el('kbd', {text: 'Shift'}), ' + drag to choose a part, double click on a span to fill the view with it, ',
    el('kbd', {text: '/'}), ' to search, ', el('kbd', {text: 'n'}), ' ', el('kbd', {text: 'p'}), ' for the next and previous match, ', el('kbd', {text: '0'}), ' for all.');
  page.timeline = timeline;
  const count = decoded.count.toLocaleString('en-US');
  const what = `${decoded.lanes.length.toLocaleString('en-US')} lanes, ${count} ${decoded.count < data.timeline.recorded ? 'summaries of ' + data.timeline.recorded.toLocaleString('en-US') + ' spans' : 'spans'}`;
  return section('timeline', 'Timeline', el('p', {class: 'lead', text: `${what}. ${data.replicas > 1 ? `Seed ${data.seed}.` : ''}`}),
    summaryNote({...data.timeline, lanes: decoded.lanes}), timeline.root, help);
}

/** What the passes of pipelines did, drawn with stages as lanes and micro-batches as numbers. */
function pipelineSection(data) {
  if (!data.pipelines?.length) return null;
  return section('pipelines', 'Pipelines', el('p', {class: 'lead', text: 'One iteration of the first job of each model and size: a lane for each pipeline rank, a box for each pass with the number of its micro-batch. A box lasts from the begin of its pass to its end, with what the pass waits for inside; updates and exchanges are left out.'}),
    ...data.pipelines.map(({name, title, svg}) => drawingElement(name, title, svg)));
}

/** Who fills which link, and which jobs lose time to which others there. */
function networkSection(data, figures) {
  if (data.study || !figures.length && !data.delays) return null;
  const lead = data.delays ? 'The table has, for each job, how much longer the bytes of its transfers took because of others, and the job and the link that took most of that.'
    : 'With network.delays: true a run also says which jobs lose time to which others.';
  return section('network', 'Who is in whose way', el('p', {class: 'lead', text: lead}), el('div', {class: 'grid'}, ...figures),
    data.delays?.[0].values.length ? sortableTable(withUnits(tableColumns(data.delays)), {name: 'delays', caption: 'Jobs that lose time to others in the network'}) : null);
}

async function runPage(data) {
  const network = ['link-shares', 'delays-by-job', 'delays-by-link'], wide = new Set(['gpu-heat', 'nic-heat', 'links', ...network]);
  const figures = data.figures.map((figure) => {
    const rows = figure.kind === 'heat' ? figure.y.categories.length : 0;
    const node = figureElement(figure, {height: rows ? clamp(rows * 13 + 50, 140, 560) : 280});
    if (wide.has(figure.id)) node.classList.add('wide');
    return node;
  });
  const over = (ids) => figures.filter((node) => ids.includes(node.id));
  const time = ['utilisation', 'queue', 'gpu-heat', 'nic-heat', 'links', ...network];
  const jobs = withUnits(tableColumns(data.jobs));
  const names = tableColumns(data.jobs).find((c) => c.name === 'job_id').values.map(String);
  const onrow = data.timeline ? (row) => {
    const {timeline} = page;
    timeline.search.value = names[row];
    timeline.find(names[row]);
    timeline.step(1);
    document.getElementById('timeline').scrollIntoView({behavior: 'smooth', block: 'start'});
  } : null;
  const censored = isCensored(data.metrics);
  const headline = section('figures', 'Headline figures', data.replicas > 1 ? el('p', {class: 'lead', text: `Means over ${data.replicas} replicas with 95% Student-t intervals.`}) : null,
    el('div', {class: 'tiles'}, jobsTile(data.metrics, data.replicas),
      ...data.metrics.filter((metric) => metric.unit !== 'jobs').map((metric) => tile(metric, data.replicas, censored))),
    censored ? el('p', {class: 'help', text: CENSORED}) : null);
  const scenario = section('scenario', 'What was simulated', el('div', {class: 'split'},
    el('div', {}, factTable(data.facts, 'What was simulated')),
    el('div', {}, data.topology ? drawingElement('topology', 'Topology', data.topology) : null, data.topology_note ? el('p', {class: 'help', text: data.topology_note}) : null)),
    el('details', {}, el('summary', {text: 'Effective scenario'}), el('pre', {text: data.scenario})));
  const overTime = section('time', 'Over time', data.replicas > 1 ? el('p', {class: 'lead', text: `Seed ${data.seed}.`}) : null, el('div', {class: 'grid'}, ...over(['utilisation', 'queue'])),
    el('div', {class: 'grid'}, ...over(['gpu-heat', 'nic-heat', 'links'])));
  const distribution = section('distribution', 'Completion times', el('div', {class: 'grid'}, ...figures.filter((node) => !time.includes(node.id))));
  const behind = networkSection(data, over(network));
  const drawings = data.drawings.length ? [section('drawings', 'Iterations', el('div', {class: 'grid'}, ...data.drawings.map(({name, title, svg}) => drawingElement(name, title, svg))))] : [];
  const sampled = data.jobs_step === 1 ? null : el('p', {class: 'notice'}, el('strong', {text: 'A sample. '}),
    `The table has every ${data.jobs_step}th of ${data.all_jobs.toLocaleString('en-US')} jobs; jobs.csv has all. The timeline and the other figures are of all jobs, but there the jobs that the table leaves out have no names.`);
  const table = section('jobs', 'Jobs', sampled, onrow ? el('p', {class: 'lead', text: 'A click on a row shows the job in the timeline.'}) : null, sortableTable(jobs, {name: 'jobs', onrow, caption: 'The jobs of the run'}));
  // The jobs of an iteration study have nothing to do with each other, so nothing is said of all of them.
  const parts = data.study ? [...drawings, scenario, table] : [headline, scenario, await timelineSection(data), overTime, distribution, ...drawings, table];
  const pipelines = pipelineSection(data);
  if (pipelines) parts.splice(3, 0, pipelines);
  if (behind) parts.splice(parts.indexOf(distribution), 0, behind);
  if (data.links) parts.push(section('linktable', 'Links of the fabric', sortableTable(withUnits(tableColumns(data.links)), {name: 'links', caption: 'The links of the fabric'})));
  parts.push(section('provenance', 'Where it comes from', factTable(data.provenance, 'Provenance')));
  return parts;
}
