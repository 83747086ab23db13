// Start: reads the data, builds the page of its kind, and keeps it drawn when the width or the theme changes.

/** What tests and a curious reader at the console may look at. */
const page = {timeline: null, explorer: null, afterwards: [], ready: 0};
globalThis.contend = page;

function redrawAll() {
  for (const draw of drawings) draw();
}

function setTheme(theme) {
  document.documentElement.dataset.theme = theme;
  redrawAll();
}

function themeButton() {
  const label = () => (document.documentElement.dataset.theme === 'dark' ? 'Light' : 'Dark');
  return el('button', {type: 'button', class: 'theme', text: label(), title: 'Switch between light and dark', onclick: (event) => {
    setTheme(document.documentElement.dataset.theme === 'dark' ? 'light' : 'dark');
    event.currentTarget.textContent = label();
  }});
}

function header(data, sections) {
  const names = sections.map((node) => el('a', {href: '#' + node.id, text: node.querySelector('h2').textContent}));
  return [el('header', {class: 'top'}, el('div', {}, el('h1', {text: data.title}), data.description && data.description !== data.title ? el('p', {class: 'lead', text: data.description}) : null), themeButton()),
          el('nav', {'aria-label': 'Parts of this page'}, ...names)];
}

function watchKeys() {
  document.addEventListener('keydown', (event) => {
    const typing = /^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName);
    if (typing || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === '/' && page.timeline) {
      event.preventDefault();
      page.timeline.search.focus();
    }
  });
}

function watchSize() {
  let width = document.documentElement.clientWidth, pending = 0;
  new ResizeObserver(() => {
    const now = document.documentElement.clientWidth;
    if (now === width || pending) return;
    pending = requestAnimationFrame(() => {
      pending = 0;
      width = document.documentElement.clientWidth;
      redrawAll();
    });
  }).observe(document.documentElement);
  // Paper is white, hides nothing, and has a width of its own.
  let before = null;
  addEventListener('beforeprint', () => {
    if (before) return;
    const closed = [...document.querySelectorAll('details:not([open])')];
    before = {theme: document.documentElement.dataset.theme, closed};
    for (const node of closed) node.open = true;
    document.documentElement.classList.add('printing');
    setTheme('light');
    page.timeline?.toPaper();
  });
  addEventListener('afterprint', () => {
    if (!before) return;
    for (const node of before.closed) node.open = false;
    document.documentElement.classList.remove('printing');
    page.timeline?.fromPaper();
    setTheme(before.theme);
    before = null;
  });
}

async function start() {
  const root = document.getElementById('report');
  setTheme(matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light');
  try {
    const data = JSON.parse(new TextDecoder().decode(await unpackBlock('data')));
    const sections = await {run: runPage, comparison: comparisonPage, sweep: sweepPage}[data.kind](data);
    root.append(...header(data, sections), ...sections);
    // Each of these draws all that there is.
    for (const action of page.afterwards) action();
    if (!page.afterwards.length) redrawAll();
    watchKeys();
    watchSize();
  } catch (error) {
    root.append(el('p', {class: 'notice', text: `This page could not be drawn: ${error.message}`}));
    throw error;
  } finally {
    page.ready = performance.now();
  }
}

start();
