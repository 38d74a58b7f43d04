// What pages do beyond being read: they follow what happens, say when they
// cannot, and are reached by the keyboard.
(() => {
  'use strict';

  const connection = document.getElementById('connection');
  let lost = false;

  // A page that is no longer told anything says so, with the time of what it
  // shows, and catches up when it is told again.
  document.body.addEventListener('htmx:sseError', () => {
    if (lost || !connection) return;
    lost = true;
    const at = new Date().toISOString().slice(11, 19);
    connection.textContent = connection.dataset.lost.replace('{0}', at + ' UTC');
    connection.classList.remove('back');
    connection.hidden = false;
  });
  document.body.addEventListener('htmx:sseOpen', () => {
    if (!lost) return;
    lost = false;
    connection.textContent = connection.dataset.back;
    connection.classList.add('back');
    setTimeout(() => { if (!lost) connection.hidden = true; }, 4000);
    const live = document.getElementById('live');
    if (live) htmx.trigger(live, 'refresh');
  });

  // News that comes while the page is being brought up to date would go to what is
  // about to be replaced: it is counted before anybody else hears of it, and when
  // the new content stands and knows less than that, it is asked for again.
  let heard = 0;
  let asked = 0;
  const make = htmx.createEventSource;
  htmx.createEventSource = (url) => {
    const source = make(url);
    source.addEventListener('changed', () => { heard++; });
    return source;
  };
  const catchUp = () => {
    const live = document.getElementById('live');
    if (heard > asked && live && live.hasAttribute('hx-get')) htmx.trigger(live, 'refresh');
  };
  document.body.addEventListener('htmx:beforeRequest', (e) => { if (e.detail.elt.id === 'live') asked = heard; });
  document.body.addEventListener('htmx:afterSettle', catchUp);
  document.body.addEventListener('htmx:responseError', (e) => {
    if (e.detail.elt.id !== 'live') return;
    asked = -1; // what was asked for did not come
    setTimeout(catchUp, 2000);
  });

  // Nothing is replaced under a pointer that is pressed: its click would be lost.
  let pressed = false;
  const released = () => { pressed = false; setTimeout(catchUp); };
  document.addEventListener('pointerdown', () => { pressed = true; }, true);
  document.addEventListener('pointerup', released, true);
  document.addEventListener('pointercancel', released, true);

  // A session that counts no longer is told to whoever reads, with the way back.
  document.body.addEventListener('htmx:sseClose', (e) => {
    if (e.detail.type !== 'message' || !connection) return;
    lost = true; // what the browser says of the connection from here on is no news
    const again = document.createElement('a');
    again.href = '/signin?next=' + encodeURIComponent(location.pathname + location.search);
    again.textContent = connection.dataset.again;
    connection.replaceChildren(connection.dataset.ended + ' ', again);
    connection.classList.remove('back');
    connection.hidden = false;
  });

  // A list moves nothing of what is being read: it says that there is news.
  const news = document.getElementById('news');
  if (news) {
    let first = true; // the first event is the connection's own
    document.body.addEventListener('htmx:sseMessage', () => {
      if (first) { first = false; return; }
      if (!news.hidden) return;
      news.prepend(news.dataset.news + ' ');
      news.hidden = false;
    });
  }

  // What a person has opened or written stays when a page is brought up to date.
  // A tick on a digest stays only while the digest is the same.
  const kept = new Map();
  const fields = (root) => root.querySelectorAll('input[id]:not([type=hidden]), textarea[id], select[id]');
  // Where the keyboard was is kept as well, also within what had to be opened
  // first: keys that go nowhere would else be taken for shortcuts.
  let held = null;
  document.body.addEventListener('htmx:beforeSwap', (e) => {
    if (e.detail.target.id !== 'live') return;
    if (pressed) {
      e.detail.shouldSwap = false;
      asked = -1; // it is asked for again when the pointer is let go
      return;
    }
    kept.clear();
    const at = document.activeElement;
    held = at && at.id && e.detail.target.contains(at) ? { id: at.id, start: at.selectionStart, end: at.selectionEnd } : null;
    for (const d of e.detail.target.querySelectorAll('details[id]')) kept.set(d.id, d.open);
    for (const f of fields(e.detail.target)) {
      kept.set(f.id, f.type === 'checkbox' || f.type === 'radio' ? { checked: f.checked, value: f.value } : f.value);
    }
  });
  document.body.addEventListener('htmx:afterSwap', () => {
    const live = document.getElementById('live');
    if (!live) return;
    for (const d of live.querySelectorAll('details[id]')) if (kept.has(d.id)) d.open = kept.get(d.id);
    for (const f of fields(live)) {
      if (!kept.has(f.id)) continue;
      const was = kept.get(f.id);
      if (typeof was === 'object') { if (was.value === f.value) f.checked = was.checked; } else if (typeof was === 'string') f.value = was;
    }
    kept.clear();
    const at = held && document.getElementById(held.id);
    if (at && document.activeElement !== at) {
      at.focus({ preventScroll: true });
      if (typeof held.start === 'number') at.setSelectionRange(held.start, held.end);
    }
    held = null;
  });

  // g and a letter open a page, / the search.
  let g = 0;
  document.addEventListener('keydown', (e) => {
    if (e.ctrlKey || e.metaKey || e.altKey) return;
    if (/^(INPUT|TEXTAREA|SELECT)$/.test(e.target.tagName)) return;
    if (e.key === 'g') { g = Date.now(); return; }
    if (e.key === '/') {
      const find = document.getElementById('find');
      if (find) { e.preventDefault(); find.focus(); }
      return;
    }
    if (Date.now() - g > 1500) return;
    g = 0;
    const a = document.querySelector(`nav a[data-key="${CSS.escape(e.key)}"]`);
    if (a) a.click();
  });

  // A button that copies what stands beside it.
  document.addEventListener('click', async (e) => {
    const b = e.target.closest('button[data-copy]');
    if (!b) return;
    try { await navigator.clipboard.writeText(b.dataset.copy); b.classList.add('done'); } catch { /* the text is there to be marked */ }
  });
})();
