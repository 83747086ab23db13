// Drives the reports that run.sh has written: report_test.mjs BROWSER FOLDER

import {existsSync, readFileSync, statSync} from 'node:fs';
import {check, finish, inkOfFigures, labelFaults, launch, layoutFaults, nameFaults, open, pagesOfPdf, parseCsv, sameRows, settle} from './checks.mjs';

const [executable, folder] = process.argv.slice(2);
const file = (name) => `${folder}/data/${name}`;
const HOSTILE = '</script><img src=x onerror="alert(\'job\')">';

async function pictures(page, name) {
  await page.evaluate(() => scrollTo(0, 0));
  await page.screenshot({path: `${folder}/pictures/${name}.png`, fullPage: true});
}

function checkClean(page, what) {
  check(page.sins.length === 0, `${what}: ${page.sins.join('; ')}`);
}

/** A page in both themes, on a desk and in a hand, without a figure that is blank or a fault of layout; `wide`: on a wall, too. */
async function checkLooks(browser, name, wide) {
  for (const [width, scheme] of [[1400, 'light'], [420, 'dark'], ...wide ? [[1400, 'dark'], [2200, 'light']] : []]) {
    const page = await open(browser, file(`${name}.html`), {width, scheme});
    const what = `${name} ${width} ${scheme}`;
    const faults = [...await layoutFaults(page), ...await labelFaults(page), ...await nameFaults(page)];
    check(faults.length === 0, `${what}: ${faults.join('; ')}`);
    if (scheme === 'light') {
      const inks = await inkOfFigures(page);
      check(Object.keys(inks).length >= 2 || name === 'study', `${what}: has figures`);
      for (const [id, ink] of Object.entries(inks)) check(ink > 0.005, `${what}: ${id} is blank (${ink})`);
    }
    await pictures(page, `${name}-${width}-${scheme}`);
    checkClean(page, what);
    await page.context().close();
  }
}

/** The numbers that the page copies are those that the program writes. */
async function checkNumbers(page, name, least = 2) {
  const figures = await page.evaluate(async () => {
    const data = JSON.parse(new TextDecoder().decode(await unpackBlock('data')));
    const own = data.kind === 'sweep' ? contend.explorer.figures().all : data.figures;
    return own.map((figure) => [figure.id, csvText(KINDS[figure.kind].csv(figure))]);
  });
  check(figures.length >= least, `${name}: the page has figures`);
  for (const [id, text] of figures) {
    const path = file(`${name}-figures/${id}.csv`);
    check(existsSync(path), `${path} is there`);
    check(sameRows(parseCsv(text), parseCsv(readFileSync(path, 'utf8'))), `${name} ${id}: the page and the file have the same numbers`);
  }
}

const span = (page, i) => page.evaluate((index) => ({start: contend.timeline.data.start[index], end: contend.timeline.data.end[index]}), i);
const view = (page) => page.evaluate(() => ({...contend.timeline.view, length: contend.timeline.view.to - contend.timeline.view.from}));
const canvasInk = (page) => page.evaluate(() => {
  const {canvas} = contend.timeline, colours = new Set();
  const {data} = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
  for (let i = 0; i < data.length; i += 4) colours.add(data[i] << 16 | data[i + 1] << 8 | data[i + 2]);
  return colours.size;
});

async function checkHostileNames(page) {
  check(await page.title() === '</title><script>alert(\'name\')</script>', 'the title is text');
  check(await page.locator('h1').textContent() === '</title><script>alert(\'name\')</script>', 'the heading is text');
  check(await page.locator('img').count() === 0, 'no element came out of a name');
  check(await page.locator('#jobs td').first().textContent() === HOSTILE, 'the name of a job is text');
  const ran = await page.evaluate(() => new Promise((done) => {
    const violations = [];
    addEventListener('securitypolicyviolation', (event) => violations.push(event.violatedDirective));
    document.body.append(Object.assign(document.createElement('script'), {textContent: 'globalThis.leaked = true'}));
    fetch('http://127.0.0.1:9/').catch(() => {});
    setTimeout(() => done({leaked: Boolean(globalThis.leaked), violations}), 200);
  }));
  check(!ran.leaked, 'a script that is not the page\'s does not run');
  check(ran.violations.some((v) => v.startsWith('connect-src')), 'the network is forbidden');
  page.sins.length = 0;  // the violations were asked for
}

async function checkTimeline(page) {
  check(await canvasInk(page) > 8, 'the timeline is not blank');
  const gpus = parseCsv(readFileSync(file('hostile/gpus.csv'), 'utf8'));
  const busy = await page.evaluate(() => contend.timeline.data.lanes.filter((l) => l.group === 'gpu').map((l) => {
    let sum = 0, ordered = true;
    const {data} = contend.timeline;
    for (let i = l.from; i < l.to; ++i) {
      sum += data.end[i] - data.start[i];
      if (i > l.from && data.start[i] < data.end[i - 1]) ordered = false;
    }
    return {sum, ordered};
  }));
  check(busy.length === 16, 'a lane a GPU');
  busy.forEach(({sum, ordered}, g) => {
    check(ordered, `the spans of GPU ${g} don't overlap`);
    check(sum === Math.round(gpus[g + 1][gpus[0].indexOf('busy_s')] * 1e9), `GPU ${g} is busy as gpus.csv says, to the nanosecond`);
  });
  check(await page.evaluate(() => contend.timeline.data.lanes.some((l) => l.group === 'link')), 'links have lanes');

  // Zoom with the wheel, drag, keys.
  const canvas = page.locator('canvas.lanes');
  await canvas.scrollIntoViewIfNeeded();
  const box = await canvas.boundingBox(), middle = [box.x + 0.5 * box.width, box.y + 60];
  const whole = await view(page);
  await page.mouse.move(...middle);
  await page.keyboard.down('Control');
  for (let i = 0; i < 6; ++i) await page.mouse.wheel(0, -120);
  await page.keyboard.up('Control');
  await settle(page);
  const zoomed = await view(page);
  check(zoomed.length < 0.2 * whole.length, 'the wheel zooms in');
  await page.mouse.down();
  await page.mouse.move(middle[0] + 150, middle[1], {steps: 4});
  await page.mouse.up();
  const dragged = await view(page);
  check(dragged.from < zoomed.from && Math.abs(dragged.length - zoomed.length) < 1, 'dragging pans');
  await canvas.press('ArrowRight');
  check((await view(page)).from > dragged.from, 'an arrow pans');
  await canvas.press('+');
  check((await view(page)).length < 0.6 * dragged.length, 'plus zooms in');
  await canvas.press('0');
  check((await view(page)).length === whole.length, '0 shows all');

  // Search: a part of a name that only one job has.
  await page.keyboard.press('/');
  await page.keyboard.type('quoted');
  check((await page.locator('.timelinebar .count').textContent()) === '1 of 4 jobs', 'a search counts its matches');
  await page.keyboard.press('Enter');
  await settle(page);
  const extent = await page.evaluate(() => contend.timeline.extent[1]), found = await view(page);
  check(found.from <= extent.from && found.to >= extent.to && found.length < 1.2 * (extent.to - extent.from), 'the match fills the view');
  check(await page.evaluate(() => {
    const {colours, data} = contend.timeline, own = data.kinds.findIndex((k) => k.job === 1), other = data.kinds.findIndex((k) => k.job === 0);
    return colours[own] !== colours[other];
  }), 'what was not searched is dimmed');
  await page.locator('input[placeholder^="Search"]').fill('no such');
  check((await page.locator('.timelinebar .count').textContent()) === 'no such job', 'a search without a match says so');
  await canvas.press('Escape');

  // What is under the pointer: the middle of the longest span of the first GPU.
  const longest = await page.evaluate(() => {
    const {data} = contend.timeline, lane = data.lanes[0];
    let best = lane.from;
    for (let i = lane.from; i < lane.to; ++i) if (data.end[i] - data.start[i] > data.end[best] - data.start[best]) best = i;
    contend.timeline.showSpan(best);
    return best;
  });
  await settle(page);
  const place = await page.evaluate(() => ({gutter: contend.timeline.gutter, width: contend.timeline.width}));
  const at = await canvas.boundingBox();
  await page.mouse.move(at.x + place.gutter + (place.width - place.gutter) / 2, at.y + 24 + 6);
  const lines = await page.locator('.tooltip div').allTextContents();
  const {start, end} = await span(page, longest);
  check(lines.some((line) => line.includes('iteration')), `the tooltip tells the iteration: ${lines}`);
  check(lines.some((line) => line.includes(`from ${(start / 1e9).toLocaleString('en-US', {minimumFractionDigits: 9})} s`)), `the tooltip tells the start ${start}..${end}: ${lines}`);
  await page.mouse.down();
  await page.mouse.up();
  check((await page.locator('.detail').textContent()).includes('iteration'), 'a click keeps the span');
  const rows = await page.evaluate(() => contend.timeline.toRows().length);
  check(rows > 1, 'the spans in view can be copied');
  await page.evaluate(() => contend.timeline.show(...contend.timeline.whole));
}

async function checkFiles(page) {
  const tools = page.locator('#jct-cdf .tools');
  const [svg] = await Promise.all([page.waitForEvent('download'), tools.getByText('SVG').click()]);
  const text = readFileSync(await svg.path(), 'utf8');
  check(svg.suggestedFilename() === 'jct-cdf.svg' && text.startsWith('<svg'), 'a figure is saved as SVG');
  const [png] = await Promise.all([page.waitForEvent('download'), tools.getByText('PNG').click()]);
  const bytes = readFileSync(await png.path());
  check(bytes.subarray(1, 4).toString() === 'PNG' && bytes.length > 5000, 'a figure is saved as PNG');
  const [lanes] = await Promise.all([page.waitForEvent('download'), page.locator('.timelinebar .tools').getByText('SVG').click()]);
  const drawn = readFileSync(await lanes.path(), 'utf8');
  check(drawn.includes('<rect') && !drawn.includes('<img'), 'the timeline is saved as SVG');
  const parsed = await page.evaluate((content) => new DOMParser().parseFromString(content, 'image/svg+xml').querySelector('parsererror') === null, drawn);
  check(parsed, 'the SVG of the timeline is XML');
  await tools.getByText('Copy CSV').click();
  await page.waitForFunction(() => /rows copied/.test(document.querySelector('#jct-cdf .tools').textContent));
}

/** On paper: no page is empty, all lanes are there with the legend, and no drawing is cut. */
async function checkPaper(page, what, lanes) {
  const before = await page.evaluate(() => document.documentElement.dataset.theme);
  await page.evaluate(() => {
    addEventListener('beforeprint', () => {
      const sheets = [...document.querySelectorAll('canvas.sheet')];
      contend.paper = {
        sheets: sheets.map((node) => node.getAttribute('aria-label')), legend: document.querySelector('.legend')?.textContent,
        wide: [...document.querySelectorAll('.figure')].filter((node) => node.querySelector('.stage > svg')?.getBoundingClientRect().right > node.getBoundingClientRect().right).map((node) => node.id),
      };
    }, {once: true});
  });
  const pdf = pagesOfPdf(await page.pdf({preferCSSPageSize: true})), paper = await page.evaluate(() => contend.paper);
  check(pdf.count > 0 && pdf.empty.length === 0, `${what}: of ${pdf.count} printed pages these are empty: ${pdf.empty}`);
  check(paper.wide.length === 0, `${what}: figures are cut on paper: ${paper.wide}`);
  if (lanes) {
    check(paper.sheets.length > 0 && pdf.images.filter((width) => width === 2300).length === paper.sheets.length, `${what}: the timeline is printed: ${pdf.images}`);
    check(paper.sheets[0].includes(lanes[0]) && paper.sheets.at(-1).endsWith(lanes.at(-1)), `${what}: all lanes are printed: ${paper.sheets}`);
    check(paper.legend.includes('job'), `${what}: the legend is printed`);
  }
  check(await page.evaluate(() => document.documentElement.dataset.theme) === before && await page.locator('canvas.sheet').count() === 0, `${what}: the page is as it was before`);
}

const laneNames = (page) => page.evaluate(() => contend.timeline.shown.map((lane) => lane.name));

/** The names of lanes that a draw writes beside them. */
function labelledLanes(page) {
  return page.evaluate(() => {
    const written = [], {prototype} = CanvasRenderingContext2D, fillText = prototype.fillText;
    prototype.fillText = function (text, ...rest) {
      written.push(text);
      fillText.call(this, text, ...rest);
    };
    const {timeline} = contend, shown = timeline.shown.filter((_, l) => (l + 1) * timeline.laneHeight - timeline.scroll <= timeline.height - 24);
    timeline.draw();
    prototype.fillText = fillText;
    return {missing: shown.map((lane) => lane.name).filter((name) => !written.includes(name)), shown: shown.length};
  });
}

async function checkLegend(page) {
  const items = await page.evaluate(() => {
    contend.timeline.drawLegend();
    return contend.timeline.legendItems().map((item) => item.name);
  });
  const names = await page.evaluate(() => contend.timeline.jobs.names);
  check(items.length === 5 && names.every((name) => items.includes(name)), `the legend names all jobs: ${items}`);
  check(await page.locator('.legend button i').count() === 4, 'each with its colour');
  await page.locator('.timelinebar select').selectOption('model');
  check(await page.evaluate(() => {
    contend.timeline.drawLegend();
    return [...document.querySelectorAll('.legend > *')].slice(0, -1).map((node) => node.textContent).sort().join();
  }) === 'links, as high as they are utilised,lstm,resnet50,vgg16', 'the legend names models and links');
  await page.locator('.timelinebar select').selectOption('job');
  await page.evaluate(() => contend.timeline.drawLegend());
  await page.locator('.legend button', {hasText: 'job-three'}).click();
  check((await page.locator('.timelinebar .count').textContent()) === '1 of 4 jobs', 'a click on the legend lights up the job');
  await page.locator('canvas.lanes').press('Escape');
}

async function checkTheme(page) {
  const ground = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  const before = await ground();
  await page.locator('button.theme').click();
  check(await ground() !== before, 'the theme changes');
  await page.locator('button.theme').click();
  check(await ground() === before, 'and back');
}

async function checkRun(browser) {
  const page = await open(browser, file('hostile.html'));
  await checkNumbers(page, 'hostile');
  await checkTimeline(page);
  await checkLegend(page);
  await checkFiles(page);
  await checkPaper(page, 'hostile', await laneNames(page));
  await checkTheme(page);
  checkClean(page, 'hostile');
  await checkHostileNames(page);
  await page.context().close();
}

async function checkComparison(browser) {
  const page = await open(browser, file('several.html'));
  await checkNumbers(page, 'several');
  const cells = await page.locator('#comparison tbody tr').first().locator('td').allTextContents();
  check(cells[0] === 'srsf-1' && cells[1] === '1' && cells.some((cell) => cell.includes('±')), `the table has intervals: ${cells}`);
  const scenario = await page.locator('#scenario').textContent();
  check(scenario.includes('replicas3') && !/cluster.*What all share/s.test(scenario), `what all runs share is told once: ${scenario}`);
  check(/What differs.*policies\.communication.*What all share/s.test(scenario), `what differs is told by key: ${scenario}`);
  check(await page.locator('#jobs-1 circle').count() >= 160, 'the scatter has a dot a job');
  check(await page.locator('#winners-1 rect').count() > 20, 'winners and losers have bars');
  // The table of changes, sorted by the difference: downwards at first.
  await page.locator('#pairs th button', {hasText: 'difference'}).click();
  const column = await page.locator('#pairs tbody tr td:nth-child(4)').allTextContents();
  const values = column.map((cell) => Number(cell.replace(/[^0-9.-]/g, '')));
  check(values.length === 100 && values.every((value, i) => i === 0 || value <= values[i - 1]), 'a table sorts by a click');
  checkClean(page, 'several');
  await page.context().close();
}

/** Figures over finished jobs are marked where jobs were left, and only there. */
async function checkCensored(browser) {
  const note = 'over the finished jobs alone';
  const run = await open(browser, file('cut.html'));
  const names = await run.locator('#figures .tile .name').allTextContents();
  check(names.includes('average JCT *') && names.includes('GPU utilisation') && (await run.locator('#figures').textContent()).includes(note), `a run that was cut off: ${names}`);
  await run.context().close();
  const several = await open(browser, file('cuts.html'));
  check((await several.locator('#comparison tbody tr td:first-child').allTextContents()).join() === 'srsf-1 *,ada-srsf *' && (await several.locator('#comparison').textContent()).includes(note), 'runs that were cut off');
  await several.context().close();
  const sweep = await open(browser, file('cut-sweep.html')), text = await sweep.locator('#explore').textContent();
  check(text.includes(`In 20 of 20 runs not all jobs finished, and their averages are ${note}.`) && text.includes('10 seeds are few: take 20 or more'), `a sweep that was cut off: ${text.slice(0, 300)}`);
  await sweep.context().close();
  const whole = await open(browser, file('several.html'));
  check(!(await whole.locator('main').textContent()).includes(note), 'runs that ended');
  await whole.context().close();
}

/** A sweep that is not finished: a point without a run leaves its group without a figure. */
async function checkBegun(browser) {
  const page = await open(browser, file('begun.html'));
  await checkNumbers(page, 'begun');
  check(await page.evaluate(() => contend.explorer.figures().own.cells.flat().filter(Boolean).length) === 7, 'begun: seven figures');
  check((await page.locator('#runs .count').textContent()) === '67 rows', 'the table has the runs that there are');
  check((await page.locator('#sweep-lines figcaption').textContent()).includes('Means over 3 values of communication and 3 seeds.'), 'what is averaged is told');
  checkClean(page, 'begun');
  await page.context().close();
}

const titles = (page) => page.evaluate(() => [...document.querySelectorAll('#explore .grid h3')].map((node) => node.textContent));

async function checkSweep(browser) {
  const page = await open(browser, file('sweep.html'));
  await checkNumbers(page, 'sweep');
  const drawn = await titles(page);
  check(drawn.length === 2 && drawn.every((title) => title === 'Average JCT by NIC and communication (kappa = 1)'), `lines are policies, and what is held is told: ${drawn}`);
  check(await page.evaluate(() => contend.explorer.figures().own.cells.flat().filter(Boolean).length) === 24, 'sweep: a figure for each rate and policy');
  check(await page.locator('.multiples .figure').count() === 2, 'a small multiple for each kappa');
  check((await page.locator('#explore .notice').textContent()).includes('2 of 146 runs are not in the store yet. One run gave no result'), 'missing and failed runs are told');
  await page.locator('.controls select').first().selectOption('gpu_utilisation');
  check((await titles(page))[0] === 'GPU utilisation by NIC and communication (kappa = 1)', 'another metric is drawn');
  await page.locator('.controls select').nth(1).selectOption('policies.communication');
  check((await titles(page))[0] === 'GPU utilisation by communication and NIC (kappa = 1)', 'another parameter is drawn');
  // Without lines two parameters are left over: both are held, until the reader asks for a mean.
  await page.locator('.controls select').nth(2).selectOption('');
  check((await titles(page))[0] === 'GPU utilisation over communication (NIC = 1Gbps, kappa = 1)', `what is left over is held: ${await titles(page)}`);
  await page.locator('.choice', {hasText: 'network.nic'}).last().locator('select').selectOption('all');
  check((await page.locator('#sweep-lines figcaption').textContent()).includes('Means over 8 values of NIC and 3 seeds.'), 'a mean over a parameter is told');
  await page.locator('#runs th button', {hasText: 'network.nic'}).click();
  check((await page.locator('#runs tbody td:nth-child(3)').first().textContent()) === '128Gbps', 'quantities sort as quantities');
  await page.locator('#runs input').fill('no <memory>');
  check(await page.locator('#runs tbody tr').count() === 1, 'a table is filtered');
  checkClean(page, 'sweep');
  await page.context().close();
}

/** A sweep with two goals has their front below the figures that people choose. */
async function checkFront(browser) {
  const page = await open(browser, file('front.html'));
  const text = await page.locator('#front').textContent();
  check(text.includes('average JCT') && text.includes('less is better') && text.includes('more is better'), `the goals and their directions: ${text}`);
  check(text.split('Pareto front').length === 2, `the line and its dots have one name in the legend: ${text}`);
  check(await page.locator('#front svg path, #front canvas').count() > 0, 'the front is drawn');
  check((await page.locator('#pareto').count()) === 1 && (await page.locator('#explore').count()) === 1, 'the front has a section of its own');
  checkClean(page, 'front');
  await page.context().close();
}

/** The ratios that the tutorial reads: in the table, as lines and as a map of two sides. */
async function checkRatios(browser) {
  const page = await open(browser, file('need.html'));
  check(await tellsIntervals(page), 'intervals are told where there are several seeds');
  await checkNumbers(page, 'need');
  const [head, ...rows] = parseCsv(readFileSync(file('need.csv'), 'utf8')), at = (name) => head.indexOf(name);
  const cells = await page.locator('#explore .table tbody tr').evaluateAll((lines) => lines.map((line) => [...line.cells].map((cell) => cell.textContent)));
  check(rows.length === 16 && cells.length === 16, `a row for each point: ${cells.length}`);
  rows.forEach((row, i) => {
    const [ratio, low, high] = ['ratio', 'ratio_low', 'ratio_high'].map((name) => row[at(`avg_jct_s_${name}`)].toFixed(3));
    check(cells[i][0] === row[at('policies_placement')] && cells[i][1] === row[at('network_nic')] && cells[i].at(-2) === `${ratio} [${low}, ${high}]`, `the ratio is that of contend results: ${cells[i]} ${ratio}`);
    const least = row[at('avg_jct_s_detectable')], shown = cells[i].at(-1);
    check(typeof least === 'number' ? Math.abs(parseFloat(shown) / (100 * least) - 1) < 1e-3 : shown === '–', `the smallest change to be seen is that of contend results: ${shown} ${least}`);
  });
  check((await titles(page))[3] === 'Average JCT relative to NIC = 200Gbps by NIC and placement', `the map of ratios: ${await titles(page)}`);
  const maps = await page.evaluate(() => {
    const [own, ratio] = contend.explorer.figures().all.filter((figure) => figure.kind === 'heat');
    return {log: own.log, middle: ratio.middle, colours: [1 / 8, 1, 8].map((value) => cellColour(ratio, value, heatRange(ratio))), even: cellColour(own, Math.sqrt(heatRange(own)[0] * heatRange(own)[1]), heatRange(own)), half: heatColour(0.5)};
  });
  check(maps.log && String(maps.even) === String(maps.half), 'values that range widely have logarithmic colours');
  const [less, same, more] = maps.colours;
  check(maps.middle === 1 && String(same) === '255,255,255' && less[0] > less[2] && more[2] > more[0], `colours of ratios part at 1: ${maps.colours}`);
  check(await page.locator('#sweep-ratio-map .parting').getAttribute('d') !== '', 'a line parts the sides');
  const toggle = page.locator('#sweep-map .tools button', {hasText: 'log colours'}), cell = () => page.locator('#sweep-map image').getAttribute('href');
  const before = await cell();
  await toggle.click();
  check(await toggle.getAttribute('aria-pressed') === 'false' && await cell() !== before, 'colours can be made even');
  // Any value of a parameter may be the baseline, and none.
  const choice = page.locator('.choice', {hasText: 'ratio to'}).locator('select');
  await choice.selectOption({label: 'placement = first-fit'});
  const ratio = (await page.locator('#explore .table tbody tr').first().locator('td').allTextContents()).at(-2);
  check(ratio === '1.000 [1.000, 1.000]' && (await titles(page))[2].includes('relative to placement = first-fit'), `another baseline: ${ratio}`);
  await choice.selectOption('');
  check((await titles(page)).length === 2, 'no ratio');
  await checkPaper(page, 'need');
  checkClean(page, 'need');
  await page.context().close();
}

const tellsIntervals = (page) => page.evaluate(() => /95% (Student|interval)/.test(document.querySelector('main').textContent));

/** Policies with parameters, without replicas. */
async function checkMethods(browser) {
  const page = await open(browser, file('methods.html'));
  await checkNumbers(page, 'methods');
  const drawn = await titles(page), legend = await page.locator('#sweep-lines svg [role="button"]').allTextContents();
  check(drawn[0] === 'Samples/s by NIC and compression (workers = 4)', `titles as people write them: ${drawn}`);
  check(legend.join() === 'none,top-k,top-k (gamma 500 ps)', `names as people write them: ${legend}`);
  check(!(await page.evaluate(() => [...document.querySelectorAll('h3, svg, select')].map((node) => node.textContent).join())).includes('gamma_ps'), 'nowhere a raw parameter');
  check(!await tellsIntervals(page), 'no interval without replicas');
  checkClean(page, 'methods');
  await page.context().close();
  const study = await open(browser, file('study.html'));
  check(await study.locator('#drawings .figure').count() === 2, 'a drawing for each number of workers');
  check(await study.locator('#drawings text', {hasText: 'An iteration of'}).count() === 0, 'a drawing has its title above it, and not once more inside');
  check(await study.locator('#jobs tbody tr').count() === 6, 'the jobs of a study');
  const cells = (await study.locator('#jobs tbody tr').first().locator('td').allTextContents()).join(' | ');
  check(/ ms \| .*\/s \| .*%/.test(cells), `figures have their units: ${cells}`);
  await checkPaper(study, 'study');
  checkClean(study, 'study');
  await study.context().close();
}

/** Ten thousand points drawn at random open as a page of dots. */
async function checkMany(browser) {
  const size = statSync(file('many.html')).size, page = await open(browser, file('many.html'));
  await checkNumbers(page, 'many', 1);
  check(size < 8e6, `many: ${size} bytes`);
  check((await page.locator('#runs .count').textContent()) === '10,000 rows', 'all runs are there');
  const lines = await page.evaluate(() => contend.explorer.figures().all[0]);
  check(lines.series.length === 2 && lines.series.every((series) => series.mark === 'dots'), 'a dot for each point');
  check(lines.caption.includes('differ in alpha, too.'), `what else differs is told: ${lines.caption}`);
  console.log(`many: ${(size / 1e6).toFixed(2)} MB, 10000 points; opens in ${page.openMs.toFixed(0)} ms (${page.openCpuMs.toFixed(0)} ms of the main thread)`);
  await pictures(page, 'many');
  checkClean(page, 'many');
  await page.context().close();
}

/** Times are printed, not judged: the machine may be busy. Sizes don't depend on it. */
async function checkLarge(browser, name, most) {
  const size = statSync(file(`${name}.html`)).size;
  check(size < 8e6, `${name}: ${size} bytes`);
  const page = await open(browser, file(`${name}.html`));
  const spans = await page.evaluate(() => ({count: contend.timeline.data.count, recorded: contend.timeline.meta.recorded, lanes: contend.timeline.data.lanes.length}));
  check(await canvasInk(page) > 20, `${name}: the timeline is not blank`);
  const summarised = await page.locator('#timeline .notice').count() === 1;
  check(summarised === spans.recorded > 2e6, `${name}: the page says whether spans are summarised`);
  check(spans.count <= most && spans.count > 0.3 * most, `${name}: ${spans.count} spans`);
  const frames = await page.evaluate(async () => {
    const {timeline} = contend, frame = () => new Promise((done) => requestAnimationFrame(done)), between = [];
    timeline.drawTimes.length = 0;
    timeline.zoom(0.5);
    await frame();
    let last = performance.now();
    for (let i = 0; i < 120; ++i) {
      timeline.pan(i % 60 < 30 ? 0.01 : -0.01);
      await frame();
      await new Promise((done) => setTimeout(done));  // after the frame was drawn
      const now = performance.now();
      between.push(now - last);
      last = now;
    }
    const sorted = (list) => [...list].sort((a, b) => a - b), draws = sorted(timeline.drawTimes), gaps = sorted(between);
    return {draw: draws[draws.length >> 1], worst: draws.at(-1), gap: gaps[gaps.length >> 1], draws: draws.length};
  });
  check(frames.draws >= 100, `${name}: every pan is drawn`);
  const before = await page.clock();
  await page.evaluate(() => { for (let i = 0; i < 50; ++i) contend.timeline.draw(); });
  const drawing = (await page.clock() - before) / 50;
  console.log(`${name}: ${(size / 1e6).toFixed(2)} MB, ${spans.recorded} spans as ${spans.count} in ${spans.lanes} lanes; opens in ${page.openMs.toFixed(0)} ms (${page.openCpuMs.toFixed(0)} ms of the main thread); `
    + `panning draws in ${frames.draw.toFixed(1)} ms (median), ${frames.worst.toFixed(1)} ms (worst), ${drawing.toFixed(1)} ms of the main thread; `
    + `${(1000 / frames.gap).toFixed(0)} frames a second`);
  // Times in units that people read, whoever tells them; no interval without replicas.
  const told = await page.evaluate(() => [...document.querySelectorAll('.tile, .figure, .table, .legend, .notice, .lead')].map((node) => node.textContent).join('\n'));
  const long = told.match(/\d,\d{3}(\.\d+)? s\b/g);
  check(long === null, `${name}: long times in seconds: ${long?.slice(0, 5)}`);
  check(/makespan[\d.]+ (h|min)/.test(told), `${name}: the makespan is told in hours or minutes`);
  check(!await tellsIntervals(page), `${name}: no interval without replicas`);
  for (const factor of [1, 0.1, 0.001]) {
    await page.evaluate((f) => contend.timeline.zoom(f), factor);
    const {missing, shown} = await labelledLanes(page);
    check(missing.length === 0 && shown >= 70, `${name}: of ${shown} lanes these have no name: ${missing}`);
  }
  await page.evaluate(() => contend.timeline.show(...contend.timeline.whole));
  const order = page.locator('#jobs th button', {hasText: 'job id'});
  await order.click();
  const ids = await page.locator('#jobs tbody tr td:first-child').allTextContents();
  check(ids.slice(0, 12).join() === [...Array(12).keys()].map((i) => `job-${i}`).join(), `job-2 comes before job-10: ${ids.slice(0, 12)}`);
  await checkPaper(page, name, await laneNames(page));
  await pictures(page, name);
  await page.locator('#timeline').screenshot({path: `${folder}/pictures/${name}-timeline.png`});
  checkClean(page, name);
  await page.context().close();
}

const browser = await launch(executable);
try {
  await checkRun(browser);
  await checkComparison(browser);
  await checkCensored(browser);
  await checkSweep(browser);
  await checkBegun(browser);
  await checkRatios(browser);
  await checkFront(browser);
  await checkMethods(browser);
  await checkMany(browser);
  // One page of each kind at every width; the others differ from it in what the figures show.
  for (const name of ['hostile', 'several', 'sweep', 'need', 'front', 'methods', 'study']) await checkLooks(browser, name, ['hostile', 'several', 'sweep'].includes(name));
  if (existsSync(file('large.html'))) {
    await checkLarge(browser, 'large', 1e6);
    await checkLarge(browser, 'million', 1.2e6);
  }
} finally {
  await browser.close();
}
process.exitCode = finish();
