// What the test of the page needs: a browser that tells on every console message and request, and counted checks.

import {inflateSync} from 'node:zlib';

import {chromium} from 'playwright-core';

const ARGUMENTS = ['--headless', '--no-sandbox', '--disable-gpu', '--no-first-run', '--disable-background-networking',
                   '--disable-component-update', '--disable-sync'];

let failures = 0, passed = 0;

/** A check that goes on after a failure; what went wrong is printed with its place. */
export function check(truth, what) {
  if (truth) {
    ++passed;
    return;
  }
  ++failures;
  console.log(`FAILED: ${what}\n${new Error().stack.split('\n')[2]}`);
}

export function finish() {
  console.log(`${passed} checks passed, ${failures} failed`);
  return failures === 0 ? 0 : 1;
}

export function launch(executablePath) {
  return chromium.launch({executablePath, args: ARGUMENTS});
}

/** Opens a file and waits until it is drawn. What the page does that it must not is collected in `page.sins`. */
export async function open(browser, file, {width = 1400, height = 950, scheme = 'light'} = {}) {
  const context = await browser.newContext({viewport: {width, height}, colorScheme: scheme, acceptDownloads: true});
  const page = await context.newPage();
  page.sins = [];
  page.clock = await mainThreadClock(page);
  page.on('console', (message) => page.sins.push(`console ${message.type()}: ${message.text()}`));
  page.on('pageerror', (error) => page.sins.push(`error: ${error.stack}`));
  page.on('dialog', (dialog) => {
    page.sins.push(`dialog: ${dialog.message()}`);
    dialog.dismiss();
  });
  page.on('request', (request) => {
    const own = request.url() === `file://${file}` || /^(data|blob):/.test(request.url());
    if (!own) page.sins.push(`request: ${request.url()}`);
  });
  const begin = performance.now();
  await page.goto(`file://${file}`);
  await page.waitForFunction(() => globalThis.contend && contend.ready);
  await settle(page);
  page.openMs = performance.now() - begin;
  page.openCpuMs = await page.clock();
  return page;
}

/** Two frames later. */
export function settle(page) {
  return page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
}

/** Tells the CPU time of the page's main thread so far, in ms: what a draw costs, whoever else uses the machine. */
async function mainThreadClock(page) {
  const session = await page.context().newCDPSession(page);
  await session.send('Performance.enable', {timeDomain: 'threadTicks'});
  return async () => {
    const {metrics} = await session.send('Performance.getMetrics');
    return 1000 * metrics.find((metric) => metric.name === 'ThreadTime').value;
  };
}

/** Colours other than that of the ground in each figure of the page, by id. */
export function inkOfFigures(page) {
  return page.evaluate(async () => {
    const inks = {};
    for (const node of document.querySelectorAll('.figure .stage > svg')) {
      const box = node.getBoundingClientRect();
      const picture = await createImageBitmap(await pngOf(svgText(node), Math.ceil(box.width), Math.ceil(box.height)));
      const canvas = new OffscreenCanvas(picture.width, picture.height), context = canvas.getContext('2d');
      context.drawImage(picture, 0, 0);
      const {data} = context.getImageData(0, 0, canvas.width, canvas.height);
      let ink = 0;
      for (let i = 0; i < data.length; i += 4) if (Math.abs(data[i] - 255) + Math.abs(data[i + 1] - 255) + Math.abs(data[i + 2] - 255) > 30) ++ink;
      inks[node.closest('.figure').id] = ink / (data.length / 4);
    }
    return inks;
  });
}

/** The page is not wider than its window, and no two tiles or figures lie on each other. */
export function layoutFaults(page) {
  return page.evaluate(() => {
    const faults = [];
    const {scrollWidth, clientWidth} = document.documentElement;
    if (scrollWidth > clientWidth) faults.push(`the page is ${scrollWidth} wide in a window of ${clientWidth}`);
    const boxes = [...document.querySelectorAll('.figure, .tile, .timeline, .table')].map((node) => [node, node.getBoundingClientRect()]);
    boxes.forEach(([a, one], i) => boxes.slice(i + 1).forEach(([b, other]) => {
      if (a.contains(b) || b.contains(a)) return;
      const apart = one.right <= other.left + 1 || other.right <= one.left + 1 || one.bottom <= other.top + 1 || other.bottom <= one.top + 1;
      if (!apart) faults.push(`${a.id || a.className} lies on ${b.id || b.className}`);
    }));
    return faults;
  });
}

/** Labels of the axes of a figure that lie on each other or on the title of their axis, or leave the drawing. */
export function labelFaults(page) {
  return page.evaluate(() => {
    const faults = [], overlap = (a, b) => a.left < b.right - 0.5 && b.left < a.right - 0.5 && a.top < b.bottom - 2 && b.top < a.bottom - 2;
    for (const root of document.querySelectorAll('.figure .stage > svg')) {
      const name = root.closest('.figure').id, frame = root.getBoundingClientRect(), all = (query) => [...root.querySelectorAll(query)].map((node) => [node, node.getBoundingClientRect()]);
      const upright = all('.xlabel, .ylabel, .scale').filter(([node]) => !node.hasAttribute('transform')), titles = all('.xtitle, .ytitle');
      upright.forEach(([a, one], i) => [...upright.slice(i + 1), ...titles].forEach(([b, other]) => {
        if (overlap(one, other)) faults.push(`${name}: "${a.textContent}" lies on "${b.textContent}"`);
      }));
      for (const [node, box] of all('text')) if (box.left < frame.left - 2 || box.right > frame.right + 2 || box.top < frame.top - 2 || box.bottom > frame.bottom + 2) faults.push(`${name}: "${node.textContent}" leaves the drawing`);
      // Numbers that are printed under a box lie on no line of it.
      const numbers = all('.xlabel').filter(([node]) => /^n=/.test(node.textContent));
      for (const [node, box] of numbers) for (const [, other] of all('g[stroke] path, g[stroke] rect, g[stroke] circle')) if (overlap(box, other)) faults.push(`${name}: a whisker strikes through "${node.textContent}"`);
    }
    return faults;
  });
}

/** What a reader who does not see the page would miss: names of drawings and of tables. */
export function nameFaults(page) {
  return page.evaluate(() => {
    const faults = [], drawings = [...document.querySelectorAll('svg, canvas')];
    for (const host of document.querySelectorAll('.drawing')) drawings.push(...host.shadowRoot.querySelectorAll('svg'));
    for (const node of drawings) if (!node.getAttribute('role') || !node.getAttribute('aria-label')) faults.push(`a ${node.tagName} in ${node.closest('[id]')?.id} has no name`);
    for (const node of document.querySelectorAll('table')) if (!node.caption || !node.caption.textContent) faults.push(`a table in ${node.closest('[id]')?.id} has no caption`);
    for (const node of document.querySelectorAll('svg[role="img"] [role="button"]')) faults.push(`a button of ${node.closest('.figure').id} is hidden in an image`);
    return faults;
  });
}

/** The pages of a PDF that Chromium has printed: {empty: numbers of pages with neither text nor image, count, images: widths}. */
export function pagesOfPdf(pdf) {
  const text = pdf.toString('latin1'), empty = [], pages = [...text.matchAll(/\/Type \/Page\b(?!s)[\s\S]*?\/Contents (\d+) 0 R/g)];
  pages.forEach(([, id], i) => {
    const at = text.search(new RegExp(`(^|\\n)${id} 0 obj`)), begin = text.indexOf('stream', at) + 6, from = begin + (text[begin] === '\r' ? 2 : 1);
    const content = inflateSync(pdf.subarray(from, text.indexOf('endstream', from))).toString('latin1');
    if (!/\b(Tj|TJ|Do)\b/.test(content)) empty.push(i + 1);
  });
  const images = [...text.matchAll(/\/Subtype \/Image[\s\S]{0,80}?\/Width (\d+)/g)].map(([, width]) => Number(width));
  return {count: pages.length, empty, images};
}

/** Rows of CSV, with numbers as numbers: two writers may spell one number in two ways. */
export function parseCsv(text) {
  const rows = [];
  let row = [''], quoted = false;
  for (let i = 0; i < text.length; ++i) {
    const c = text[i];
    if (quoted) {
      if (c !== '"') row[row.length - 1] += c;
      else if (text[i + 1] === '"') row[row.length - 1] += text[++i];
      else quoted = false;
    } else if (c === '"') {
      quoted = true;
    } else if (c === ',') {
      row.push('');
    } else if (c === '\n') {
      rows.push(row);
      row = [''];
    } else {
      row[row.length - 1] += c;
    }
  }
  return rows.map((each) => each.map((field) => (field !== '' && Number.isFinite(Number(field)) ? Number(field) : field)));
}

export function sameRows(a, b) {
  const near = (x, y) => x === y || (typeof x === 'number' && typeof y === 'number' && Math.abs(x - y) <= 1e-9 * Math.max(Math.abs(x), Math.abs(y)));
  return a.length === b.length && a.every((row, i) => row.length === b[i].length && row.every((field, j) => near(field, b[i][j])));
}
