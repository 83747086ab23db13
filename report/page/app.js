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
  let width = 0, pending = 0;
  new ResizeObserver(() => {
    const now = document.documentElement.clientWidth;
    if (now === width || pending) return;
    pending = requestAnimationFrame(() => {
      pending = 0;
      width = document.documentElement.clientWidth;
      redrawAll();
    });
  }).observe(document.documentElement);
  // Paper is white, and hides nothing.
  let before = '';
  addEventListener('beforeprint', () => {
    before = document.documentElement.dataset.theme;
    setTheme('light');
    page.timeline?.draw();
    for (const node of document.querySelectorAll('details')) node.open = true;
  });
  addEventListener('afterprint', () => setTheme(before));
}

async function start() {
  const root = document.getElementById('report');
  setTheme(matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light');
  try {
    const data = JSON.parse(new TextDecoder().decode(await unpackBlock('data')));
    const sections = await {run: runPage, comparison: comparisonPage, sweep: sweepPage}[data.kind](data);
    root.append(...header(data, sections), ...sections);
    for (const action of page.afterwards) action();
    redrawAll();
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
