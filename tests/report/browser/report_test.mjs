// Drives the reports that run.sh has written: report_test.mjs BROWSER FOLDER

import {existsSync, readFileSync, statSync} from 'node:fs';
import {check, finish, inkOfFigures, launch, layoutFaults, open, parseCsv, sameRows, settle} from './checks.mjs';

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

/** Every page in both themes and three widths, without a figure that is blank or a fault of layout. */
async function checkLooks(browser, name) {
  for (const [width, scheme] of [[1400, 'light'], [1400, 'dark'], [2200, 'light'], [420, 'dark']]) {
    const page = await open(browser, file(`${name}.html`), {width, scheme});
    const what = `${name} ${width} ${scheme}`;
    const faults = await layoutFaults(page);
    check(faults.length === 0, `${what}: ${faults.join('; ')}`);
    if (scheme === 'light') {
      const inks = await inkOfFigures(page);
      check(Object.keys(inks).length >= 2, `${what}: has figures`);
      for (const [id, ink] of Object.entries(inks)) check(ink > 0.005, `${what}: ${id} is blank (${ink})`);
    }
    await pictures(page, `${name}-${width}-${scheme}`);
    checkClean(page, what);
    await page.context().close();
  }
}

/** The numbers that the page copies are those that the program writes. */
async function checkNumbers(page, name) {
  const figures = await page.evaluate(async () => {
    const data = JSON.parse(new TextDecoder().decode(await unpackBlock('data')));
    return data.figures.map((figure) => [figure.id, csvText(KINDS[figure.kind].csv(figure))]);
  });
  check(figures.length >= 2, `${name}: the page has figures`);
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
  const paper = await page.pdf({format: 'A4', landscape: true});
  check(paper.length > 20000, 'the page prints');
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
  await checkFiles(page);
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

/** What the page groups by itself is what the program grouped. */
async function checkGrouping(page, name, count) {
  const own = await page.evaluate(() => {
    const {sweep} = contend.explorer, of = (key) => sweep.parameters.find((p) => p.key === key);
    return csvText(xyCsv(lineFigure(sweep, sweep.metrics[0], of('network.nic'), of('policies.placement.kappa'), () => true, 'x', 'x')));
  });
  const rows = parseCsv(own);
  check(rows.length === count + 1, `${name}: ${rows.length - 1} figures`);
  check(sameRows(rows, parseCsv(readFileSync(file(`${name}-figures/sweep-lines.csv`), 'utf8'))), `${name}: means and intervals of the page are those of the files`);
}

/** A sweep that is not finished: a point without a run leaves its group without a figure. */
async function checkBegun(browser) {
  const page = await open(browser, file('begun.html'));
  await checkGrouping(page, 'begun', 7);
  check((await page.locator('#runs .count').textContent()) === '67 rows', 'the table has the runs that there are');
  checkClean(page, 'begun');
  await page.context().close();
}

async function checkSweep(browser) {
  const page = await open(browser, file('sweep.html'));
  await checkNumbers(page, 'sweep');
  const drawn = await page.evaluate(() => [...document.querySelectorAll('#explore h3')].map((node) => node.textContent));
  check(drawn[0] === 'average JCT over network.nic' && drawn[1] === 'average JCT over network.nic and policies.placement.kappa', `the page begins as the files: ${drawn}`);
  await checkGrouping(page, 'sweep', 16);
  check(await page.locator('.multiples .figure').count() === 3, 'a small multiple a policy');
  check((await page.locator('#explore .notice').textContent()).includes('2 of 146 runs are not in the store yet. One run gave no result'), 'missing and failed runs are told');
  await page.locator('.controls select').first().selectOption('gpu_utilisation');
  check((await page.locator('#sweep-lines h3').textContent()) === 'GPU utilisation over network.nic', 'another metric is drawn');
  await page.locator('.controls select').nth(1).selectOption('policies.communication');
  check((await page.locator('#sweep-lines h3').textContent()) === 'GPU utilisation over policies.communication', 'another parameter is drawn');
  await page.locator('#runs th button', {hasText: 'network.nic'}).click();
  check((await page.locator('#runs tbody td:nth-child(3)').first().textContent()) === '128Gbps', 'quantities sort as quantities');
  await page.locator('#runs input').fill('no <memory>');
  check(await page.locator('#runs tbody tr').count() === 1, 'a table is filtered');
  checkClean(page, 'sweep');
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
  await pictures(page, name);
  await page.locator('#timeline').screenshot({path: `${folder}/pictures/${name}-timeline.png`});
  checkClean(page, name);
  await page.context().close();
}

const browser = await launch(executable);
try {
  await checkRun(browser);
  await checkComparison(browser);
  await checkSweep(browser);
  await checkBegun(browser);
  for (const name of ['hostile', 'several', 'sweep']) await checkLooks(browser, name);
  if (existsSync(file('large.html'))) {
    await checkLarge(browser, 'large', 1e6);
    await checkLarge(browser, 'million', 1.2e6);
  }
} finally {
  await browser.close();
}
process.exitCode = finish();
