// Tables that sort by a click on a title, filter by a word, and show long ones piece by piece.

const TABLE_PIECE = 100;

/** Numbers by size, texts by their letters and the numbers in them, what is missing last. */
function compareCells(a, b) {
  const missing = [isMissing(a) || a === '', isMissing(b) || b === ''];
  if (missing[0] || missing[1]) return missing[0] - missing[1];
  if (typeof a === 'number' && typeof b === 'number') return a - b;
  return naturalOrder(String(a), String(b));
}

/**
 * all: columns [{name, title?, unit?, values, text?(value, row), hidden?}]; the values of one are numbers or texts, and
 * hidden ones are only copied. options: {name, caption, filter, onrow(row)}
 */
function sortableTable(all, {name, caption, filter = true, onrow = null} = {}) {
  const columns = all.filter((column) => !column.hidden), rows = columns.length ? columns[0].values.length : 0;
  const state = {by: -1, down: false, word: '', shown: TABLE_PIECE};
  const body = el('tbody'), count = el('span', {class: 'count'}), more = el('button', {type: 'button', class: 'more'});
  const numeric = columns.map((c) => c.values.some((v) => typeof v === 'number'));
  const heads = columns.map((column, i) => el('th', {scope: 'col', class: numeric[i] ? 'number' : null, 'aria-sort': 'none'},
    el('button', {type: 'button', text: column.title || column.name, title: 'Sort', onclick: () => {
      state.down = state.by === i ? !state.down : numeric[i];
      state.by = i;
      draw();
    }})));
  const order = () => {
    let picked = [...Array(rows).keys()];
    const word = state.word.toLowerCase();
    if (word) picked = picked.filter((row) => columns.some((c) => !isMissing(c.values[row]) && String(c.values[row]).toLowerCase().includes(word)));
    if (state.by >= 0) {
      const values = columns[state.by].values, sign = state.down ? -1 : 1;
      picked.sort((a, b) => {
        const blank = (v) => isMissing(v) || v === '';
        if (blank(values[a]) || blank(values[b])) return blank(values[a]) - blank(values[b]) || a - b;
        return sign * compareCells(values[a], values[b]) || a - b;
      });
    }
    return picked;
  };
  const draw = () => {
    const picked = order();
    heads.forEach((head, i) => head.setAttribute('aria-sort', i !== state.by ? 'none' : state.down ? 'descending' : 'ascending'));
    body.replaceChildren(...picked.slice(0, state.shown).map((row) => {
      const line = el('tr', onrow ? {tabindex: 0, class: 'action', onclick: () => onrow(row), onkeydown: (event) => { if (event.key === 'Enter') onrow(row); }} : {});
      columns.forEach((column, i) => {
        const value = column.values[row];
        const text = column.text ? column.text(value, row) : typeof value === 'number' ? quantity(value, column.unit) : isMissing(value) ? '–' : value;
        line.append(el('td', {class: numeric[i] ? 'number' : String(text).length > 48 ? 'long' : null, title: exactText(value, column.unit), text}));
      });
      return line;
    }));
    count.textContent = picked.length === rows ? `${rows.toLocaleString('en-US')} rows` : `${picked.length.toLocaleString('en-US')} of ${rows.toLocaleString('en-US')} rows`;
    more.hidden = picked.length <= state.shown;
    more.textContent = `Show ${Math.min(10 * TABLE_PIECE, picked.length - state.shown)} more`;
  };
  more.addEventListener('click', () => {
    state.shown += 10 * TABLE_PIECE;
    draw();
  });
  const bar = el('div', {class: 'tablebar'});
  if (filter) bar.append(el('input', {type: 'search', placeholder: 'Filter…', 'aria-label': 'Filter rows', oninput: (event) => {
    state.word = event.currentTarget.value;
    state.shown = TABLE_PIECE;
    draw();
  }}));
  bar.append(count, exportButtons(name, {rows: () => [all.map((c) => c.name), ...order().map((row) => all.map((c) => c.values[row]))]}));
  draw();
  return el('div', {class: 'table'}, bar, el('div', {class: 'scroll'}, el('table', {}, el('caption', {text: caption}), el('thead', {}, el('tr', {}, ...heads)), body)), more);
}

/** Columns of a result file: texts that are all numbers become numbers. */
function tableColumns(table) {
  return table.map((column) => {
    const numeric = column.values.some((v) => v !== '') && column.values.every((v) => v === '' || /^-?\d+(\.\d+)?(e[+-]?\d+)?$/i.test(v));
    return {name: column.name, values: numeric ? column.values.map((v) => (v === '' ? null : Number(v))) : column.values};
  });
}
