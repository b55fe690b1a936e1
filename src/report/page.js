'use strict';
// What the page draws and sorts. All it knows stands in the page: the JSON of the results in #data, and
// their tables. Without it the tables are there all the same. Every mark that stands for a number has the
// path that the number has in the JSON (data-path); texts are set as text, never as markup.
(() => {
  const SVG = 'http://www.w3.org/2000/svg', COLOURS = 8;
  const data = JSON.parse(document.getElementById('data').textContent);
  const at = path => path.split('.').reduce((v, key) => v == null ? undefined : v[key], data);

  function fill(element, attributes, inside) {
    for (const [name, value] of Object.entries(attributes))
      if (value != null) element.setAttribute(name, value);
    element.append(...inside);
    return element;
  }
  const put = (tag, attributes, ...inside) => fill(document.createElement(tag), attributes, inside);
  const draw = (tag, attributes, ...inside) => fill(document.createElementNS(SVG, tag), attributes, inside);
  const colour = i => 'c' + i % COLOURS;
  const words = s => s.replace(/_/g, ' ');

  // A figure before the tables of SIDE. Returns what says what the cursor is at, also to screen readers.
  function figure(side, title, ...inside) {
    const said = put('output', {'aria-live': 'polite'});
    side.insertBefore(put('figure', {class: 'plot'}, put('figcaption', {}, title), ...inside, said),
        side.querySelector(':scope > figure:not(.plot), :scope > h3:not(.which), :scope > ul, :scope > .pair'));
    return text => { said.textContent = text; };
  }

  // Left and right, home and end go through N places; GO is told which.
  function keys(element, n, go) {
    let i = -1;
    element.addEventListener('keydown', e => {
      const to = {ArrowRight: i + 1, ArrowLeft: i - 1, Home: 0, End: n - 1, PageUp: i - 10, PageDown: i + 10}[e.key];
      if (to === undefined || n === 0) return;
      e.preventDefault();
      go(i = Math.max(0, Math.min(n - 1, to)));
    });
    return k => { i = k; };
  }

  // ---- curves

  function size(n) {
    const units = ['', 'K', 'M', 'G', 'T'];
    let u = 0;
    for (; n >= 1024 && u + 1 < units.length; u++) n /= 1024;
    return +n.toFixed(n < 10 ? 1 : 0) + units[u];
  }

  function count(n) {
    const units = ['', 'k', 'M', 'G', 'T'];
    let u = 0;
    for (; n >= 1000 && u + 1 < units.length; u++) n /= 1000;
    return +n.toPrecision(3) + units[u];
  }

  function ticks(low, high, most) {
    const rough = (high - low) / most || 1, base = 10 ** Math.floor(Math.log10(rough));
    const step = base * [1, 2, 5, 10].find(m => m * base >= rough), out = [];
    for (let v = Math.ceil(low / step) * step; v <= high * (1 + 1e-9); v += step) out.push(v);
    return out;
  }

  // Curves: {name, path, rows, x, y}: y of each row over its x. LOG: the axis of x; BYTES: what it counts.
  function lines(side, title, curves, {log = false, bytes = false, xName} = {}) {
    const W = 720, H = 250, L = 56, R = 12, T = 10, B = 38;
    curves = curves.map(c => ({...c, points: c.rows.map((r, i) => [+r[c.x], r[c.y], i])
        .filter(p => p[1] != null && (!log || p[0] > 0))})).filter(c => c.points.length);
    if (!curves.length) return;
    const all = curves.flatMap(c => c.points), scale = log ? Math.log2 : v => v;
    const xs = [...new Set(all.map(p => p[0]))].sort((a, b) => a - b);
    const low = scale(xs[0]), high = Math.max(scale(xs[xs.length - 1]), low + (log ? 1e-6 : 1e-9));
    const top = all.reduce((m, p) => Math.max(m, p[1]), 0) || 1;
    const X = v => L + (W - L - R) * (scale(v) - low) / (high - low), Y = v => T + (H - T - B) * (1 - v / top);
    const show = bytes ? size : count;
    const marks = log ? ticks(low, high, 9).filter(Number.isInteger).map(v => 2 ** v) : ticks(low, high, 8);
    const cursor = draw('line', {class: 'cursor', y1: T, y2: H - B, visibility: 'hidden'});
    const picture = draw('svg', {viewBox: `0 0 ${W} ${H}`, tabindex: 0, role: 'img',
      'aria-label': `${title}; arrow keys read the points`},
    ...ticks(0, top, 5).flatMap(v => [draw('line', {class: 'grid', x1: L, x2: W - R, y1: Y(v), y2: Y(v)}),
      draw('text', {x: L - 5, y: Y(v) + 4, 'text-anchor': 'end'}, count(v))]),
    ...marks.flatMap(v => [draw('line', {class: 'grid', x1: X(v), x2: X(v), y1: T, y2: H - B}),
      draw('text', {x: X(v), y: H - B + 14, 'text-anchor': 'middle'}, show(v))]),
    draw('text', {x: (L + W - R) / 2, y: H - 6, 'text-anchor': 'middle'}, xName || words(curves[0].x)),
    ...curves.map((c, i) => draw('polyline', {class: 'curve ' + colour(i), 'data-path': c.path, 'data-x': c.x,
      'data-y': c.y, 'data-n': c.points.length,
      points: c.points.map(p => X(p[0]).toFixed(1) + ',' + Y(p[1]).toFixed(1)).join(' ')})),
    cursor);
    const legend = put('ul', {class: 'legend'}, ...curves.map((c, i) => put('li', {class: colour(i)}, c.name)));
    const say = figure(side, title, picture, legend);
    function go(i) {
      const x = xs[i];
      cursor.setAttribute('x1', X(x));
      cursor.setAttribute('x2', X(x));
      cursor.setAttribute('visibility', 'visible');
      say(`${xName || words(curves[0].x)} ${x}${bytes ? ` (${size(x)})` : ''}: ` + curves.flatMap(c => {
        const p = c.points.find(q => q[0] === x);
        return p ? [`${c.name} ${p[1]}`] : [];
      }).join(', '));
    }
    const is = keys(picture, xs.length, go);
    picture.addEventListener('pointermove', e => {
      const box = picture.getBoundingClientRect(), px = (e.clientX - box.left) * W / box.width;
      let i = 0;
      xs.forEach((x, k) => { if (Math.abs(X(x) - px) < Math.abs(X(xs[i]) - px)) i = k; });
      is(i);
      go(i);
    });
  }

  // ---- bars

  // The first rows of the table at PATH as bars: their NAME, and VALUE of at most MOST.
  function bars(side, path, title, name, value, most) {
    const rows = (at(path) || []).slice(0, 15).map((r, row) => ({...r, row})).filter(r => r[value] != null);
    if (rows.length < 2) return;
    const W = 520, H = 18, L = 190, top = most || Math.max(...rows.map(r => r[value])) || 1;
    const cut = s => s.length > 29 ? s.slice(0, 28) + '…' : s;
    const picture = draw('svg', {viewBox: `0 0 ${W} ${rows.length * H}`, role: 'img', class: 'bars',
      'aria-label': `${title}: ` + rows.map(r => `${r[name]} ${r[value]}`).join(', ')},
    ...rows.flatMap((r, i) => [
      draw('text', {x: L - 6, y: i * H + 13, 'text-anchor': 'end'}, draw('title', {}, String(r[name])),
          cut(String(r[name]))),
      draw('rect', {class: 'c0', x: L, y: i * H + 2, height: H - 5,
        width: Math.max(0, (W - L - 70) * r[value] / top)}),
      draw('text', {class: 'value', 'data-path': `${path}.${r.row}.${value}`, y: i * H + 13,
        x: L + 5 + Math.max(0, (W - L - 70) * r[value] / top)}, String(r[value]))]));
    figure(side, title, picture);
  }

  // What each stack is of the whole, of the first trace where PATH is that of the second; else null.
  function against(path) {
    const first = path.startsWith('second.') ? at(path.replace('second.', 'first.')) : null;
    if (!first || !first.frames) return null;
    const names = [], parts = new Map();
    first.frames.forEach((f, i) => {
      names[i] = f.parent == null ? '' : names[f.parent] + '\n' + f.name;
      parts.set(names[i], (parts.get(names[i]) || 0) + f.total / (first.frames[0].total || 1));
    });
    return parts;
  }

  function change(f, before) {
    let stack = '';
    for (let p = f; p.up; p = p.up) stack = '\n' + p.name + stack;
    const root = (p => { while (p.up) p = p.up; return p; })(f);
    const now = f.total / (root.total || 1), was = before.get(stack) || 0, d = (now - was) / Math.max(now, was, 1e-9);
    return Math.abs(d) < .005 ? 'hsl(0 0% 85%)' : `hsl(${d > 0 ? 5 : 215} 75% ${(88 - 30 * Math.abs(d)).toFixed(0)}%)`;
  }

  // ---- the flame graph: click or Enter zooms, Escape goes back; up, down, left and right lead to neighbours

  function flame(side, path) {
    const found = at(path), rows = found.frames || [];
    if (rows.length < 2) return;
    const W = 1200, H = 18, CHAR = 6.9;
    const frames = rows.map((r, i) => ({...r, row: i, depth: 0, x: 0, used: 0, kids: []}));
    for (const f of frames) {
      if (f.parent == null) continue;
      f.up = frames[f.parent];
      f.depth = f.up.depth + 1;
      f.x = f.up.x + f.up.self + f.up.used;
      f.up.used += f.total;
      f.up.kids.push(f);
    }
    const root = frames[0], depth = Math.max(...frames.map(f => f.depth));
    let zoomed = root, focused = root;
    const before = against(path);
    const hue = s => [...s].reduce((h, c) => (h * 31 + c.codePointAt(0)) % 4093, 7);
    const picture = draw('svg', {viewBox: `0 0 ${W} ${(depth + 1) * H}`, class: 'flame', role: 'group',
      'aria-label': 'flame graph'});
    const reset = put('button', {type: 'button', disabled: ''}, 'Whole graph');
    const search = put('input', {type: 'search', placeholder: 'Search (regular expression)',
      'aria-label': 'search functions'});
    const percent = f => (100 * f.total / root.total).toFixed(2);
    const describe = f => `${f.name}: ${f.total} ${found.weight}, ${percent(f)} % of all; itself ${f.self}`;
    for (const f of frames) {
      f.text = draw('text', {y: f.depth * H + 13});
      f.rect = draw('rect', {y: f.depth * H, height: H - 1, rx: 1,
        fill: before ? change(f, before) :
            `hsl(${10 + hue(f.name) % 45} ${60 + hue(f.name) % 25}% ${62 + hue(f.name) % 14}%)`});
      f.g = draw('g', {tabindex: f === root ? 0 : -1, role: 'button', 'aria-label': describe(f),
        'data-path': `${path}.frames.${f.row}.total`, 'data-value': f.total}, draw('title', {}, describe(f)),
      f.rect, f.text);
      f.g.addEventListener('click', () => zoom(f));
      f.g.addEventListener('focus', () => { focused = f; say(describe(f)); });
      f.g.addEventListener('pointerenter', () => say(describe(f)));
      picture.append(f.g);
    }
    const say = figure(side, before ? 'calls; red: a larger part than in the first trace, blue: a smaller one' :
        'calls, outermost function at the top', put('p', {class: 'tools'}, reset, search), picture);
    const over = (f, z) => { for (let p = z; p; p = p.up) if (p === f) return true; return false; };
    function place() {
      for (const f of frames) {
        const above = over(f, zoomed), x = above ? 0 : W * (f.x - zoomed.x) / zoomed.total;
        const w = above ? W : W * f.total / zoomed.total;
        f.hidden = !above && !over(zoomed, f);
        f.g.style.display = f.hidden || w < .2 ? 'none' : '';
        f.g.classList.toggle('past', above && f !== zoomed);
        f.rect.setAttribute('x', x);
        f.rect.setAttribute('width', Math.max(0, w - .4));
        f.text.setAttribute('x', x + 3);
        const room = Math.floor((w - 6) / CHAR);
        f.text.textContent = room < 3 ? '' : f.name.length <= room ? f.name : f.name.slice(0, room - 1) + '…';
      }
      reset.disabled = zoomed === root;
    }
    function zoom(f) { zoomed = f; place(); go(f); }
    function go(f) {
      if (!f) return;
      focused.g.setAttribute('tabindex', -1);
      f.g.setAttribute('tabindex', 0);
      f.g.focus();
    }
    const beside = (f, step) => f.up && f.up.kids[f.up.kids.indexOf(f) + step];
    picture.addEventListener('keydown', e => {
      const f = focused, to = {ArrowUp: f.up, ArrowDown: f.kids.reduce((a, b) => a && a.total >= b.total ? a : b, null),
        ArrowLeft: beside(f, -1), ArrowRight: beside(f, 1)}[e.key];
      if (e.key === 'Enter' || e.key === ' ') zoom(f);
      else if (e.key === 'Escape') zoom(root);
      else if (!e.key.startsWith('Arrow')) return;
      else go(to && to.g.style.display !== 'none' ? to : null);
      e.preventDefault();
    });
    reset.addEventListener('click', () => zoom(root));
    search.addEventListener('input', () => {
      let like = null, sum = 0, n = 0;
      try { like = search.value ? new RegExp(search.value, 'i') : null; } catch (e) { say(e.message); return; }
      for (const f of frames) {
        f.hit = !!like && f !== root && like.test(f.name);
        f.inside = f.up && (f.up.hit || f.up.inside);
        f.g.classList.toggle('hit', f.hit);
        if (f.hit) n++;
        if (f.hit && !f.inside) sum += f.total;
      }
      say(like ? `${n} functions match: ${sum} ${found.weight}, ${(100 * sum / root.total).toFixed(2)} % of all` : '');
    });
    place();
  }

  // ---- time: who ran where; which phase the run was in

  // Boxes: {row, from, to, kind, about, path}; kinds are what colours stand for.
  function strips(side, title, names, boxes, kinds, low, high) {
    const W = 1000, H = 22, L = 70, X = v => L + (W - L) * (v - low) / (high - low || 1);
    const picture = draw('svg', {viewBox: `0 0 ${W} ${names.length * H + 18}`, tabindex: 0, role: 'img',
      class: 'strips', 'aria-label': `${title}; arrow keys go from box to box`},
    ...names.map((n, i) => draw('text', {x: L - 6, y: i * H + 15, 'text-anchor': 'end'}, n)),
    ...ticks(low, high, 8).map(v => draw('text', {x: X(v), y: names.length * H + 13, 'text-anchor': 'middle'},
        count(v))));
    for (const b of boxes) {
      b.rect = draw('rect', {class: colour(b.kind), x: X(b.from), y: b.row * H + 2, height: H - 4,
        width: Math.max(.5, X(b.to) - X(b.from)), 'data-path': b.path}, draw('title', {}, b.about));
      b.rect.addEventListener('pointerenter', () => say(b.about));
      picture.append(b.rect);
    }
    const legend = put('ul', {class: 'legend'}, ...kinds.slice(0, 24).map((k, i) => put('li', {class: colour(i)}, k)));
    const say = figure(side, title, picture, legend);
    let now = null;
    keys(picture, boxes.length, i => {
      if (now) now.rect.classList.remove('now');
      now = boxes[i];
      now.rect.classList.add('now');
      say(now.about);
    });
  }

  function schedule(side, path) {
    const rows = (at(path).chart || []).map((r, i) => ({...r, i})).filter(r => r.tid != null);
    if (!rows.length) return;
    const cores = [...new Set(rows.map(r => r.core))], tids = [...new Set(rows.map(r => r.tid))];
    strips(side, 'threads on their cores, over time', cores.map(c => 'core ' + c), rows.map(r => ({
      row: cores.indexOf(r.core), from: r.from, to: Math.max(r.to, r.from), kind: tids.indexOf(r.tid),
      path: `${path}.chart.${r.i}`, about: `core ${r.core}, ${r.from} to ${r.to}: thread ${r.tid}`})),
    tids.map(t => 'thread ' + t), Math.min(...rows.map(r => r.from)), Math.max(...rows.map(r => r.to)));
  }

  function phases(side, path) {
    const rows = at(path).interval_phases || [];
    if (rows.length < 2) return;
    const kinds = [...new Set(rows.map(r => r.phase))].sort((a, b) => a - b);
    strips(side, 'phases over the run, in instructions', ['phase'], rows.map((r, i) => ({
      row: 0, from: r.first, to: r.first + r.instructions, kind: kinds.indexOf(r.phase),
      path: `${path}.interval_phases.${i}`,
      about: `interval ${r.interval}, from instruction ${r.first}: phase ${r.phase}, ${r.instructions} instructions, ` +
          `${r.accesses} accesses, ${r.misses} misses`})),
    kinds.map(k => 'phase ' + k), rows[0].first, rows[rows.length - 1].first + rows[rows.length - 1].instructions);
    const over = y => ({name: words(y), path: `${path}.interval_phases`, rows, x: 'first', y});
    lines(side, 'data accesses of each interval', [over('accesses'), over('misses')], {xName: 'first instruction'});
    lines(side, 'working set: different lines of data in each interval', [over('lines')], {xName: 'first instruction'});
  }

  // ---- two traces in one drawing

  function both(section) {
    const id = section.id, first = at(`first.${id}`), second = at(`second.${id}`);
    if (!first || !second || first.absent || second.absent) return;
    const two = (table, x, y) => [['first', first], ['second', second]].map(([name, r]) =>
      ({name, path: `${name}.${id}.${table}`, rows: r[table] || [], x, y}));
    if (id === 'locality')
      lines(section, 'miss ratio of fully associative LRU caches, by their size, of both traces',
          two('miss_ratio_curve', 'bytes', 'miss_ratio'), {log: true, bytes: true});
    if (id === 'phases') {
      lines(section, 'misses of data in each interval, of both traces', two('interval_phases', 'first', 'misses'),
          {xName: 'first instruction'});
      lines(section, 'working sets of both traces', two('interval_phases', 'first', 'lines'), {xName: 'first instruction'});
    }
  }

  // ---- what is drawn of each analysis

  const curve = (path, rows, x, y, name) => ({name: name || words(y), path, rows: rows || [], x, y});
  const plots = {
    info: (s, p) => bars(s, `${p}.streams`, 'rows by stream', 'name', 'rows'),
    mix: (s, p) => {
      bars(s, `${p}.categories`, 'instructions by category, percent', 'category', 'share');
      bars(s, `${p}.mnemonics`, 'most frequent instructions, percent', 'mnemonic', 'share');
    },
    hot: (s, p) => {
      bars(s, `${p}.hot_functions`, 'hottest functions, percent', 'function', 'share');
      bars(s, `${p}.hot_blocks`, 'hottest blocks, percent', 'address', 'share');
    },
    flame,
    profile: (s, p) => bars(s, `${p}.functions`, 'functions by what they cost themselves, percent', 'function', 'share'),
    branches: (s, p) => {
      bars(s, `${p}.kinds`, 'branches by kind, percent', 'kind', 'share');
      bars(s, `${p}.predictors`, 'accuracy of predictors, percent', 'predictor', 'accuracy', 100);
    },
    locality: (s, p) => {
      const r = at(p), mrc = `${p}.miss_ratio_curve`, foot = `${p}.footprint`;
      lines(s, 'miss ratio of fully associative LRU caches, by their size', ['miss_ratio', 'instr', 'data'].map(
          y => curve(mrc, r.miss_ratio_curve, 'bytes', y)), {log: true, bytes: true});
      lines(s, 'distinct lines by the length of the window', ['footprint', 'working_set'].map(
          y => curve(foot, r.footprint, 'window', y)), {log: true, xName: 'references in the window'});
    },
    cache: (s, p) => bars(s, `${p}.caches`, 'misses of the references of each cache, percent', 'cache', 'percent', 100),
    phases,
    schedule,
    syscalls: (s, p) => bars(s, `${p}.calls`, 'system calls', 'name', 'calls'),
    functions: (s, p) => bars(s, `${p}.functions`, 'calls of recorded functions', 'name', 'calls'),
  };

  // ---- tables

  // A table is sorted by the column whose head is pressed: largest numbers first, texts from A; once
  // more: the other way round.
  function sortable(table) {
    const heads = [...table.tHead.rows[0].cells], body = table.tBodies[0];
    const number = s => s === '' ? -Infinity : Number(s.replace(/,/g, ''));
    heads.forEach((th, column) => {
      const button = put('button', {type: 'button'}, ...th.childNodes);
      th.append(button);
      button.addEventListener('click', () => {
        const rows = [...body.rows], cell = r => r.cells[column].textContent.trim(), was = th.getAttribute('aria-sort');
        const numbers = rows.every(r => !Number.isNaN(number(cell(r))));
        const up = was ? was === 'descending' : !numbers;
        rows.sort((a, b) => {
          const x = cell(a), y = cell(b), d = numbers ? number(x) - number(y) : x < y ? -1 : x > y ? 1 : 0;
          return Number.isNaN(d) ? 0 : up ? d : -d;
        });
        for (const h of heads) h.removeAttribute('aria-sort');
        th.setAttribute('aria-sort', up ? 'ascending' : 'descending');
        body.append(...rows);
      });
    });
  }

  for (const side of document.querySelectorAll('.side')) {
    const path = side.dataset.side, plot = plots[path.split('.').pop()];
    if (plot && at(path) && !at(path).absent) plot(side, path);
  }
  document.querySelectorAll('.pair').forEach(pair => both(pair.parentElement));
  document.querySelectorAll('table').forEach(sortable);
})();
