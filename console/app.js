// Pages work without this file, but for acts, search, copying and what is live.
(() => {
  const $ = (selector, root = document) => root.querySelector(selector), $$ = (selector, root = document) => [...root.querySelectorAll(selector)];
  const meta = name => $(`meta[name="${name}"]`)?.content ?? '';
  const root = '/__console', namespace = meta('scribe-namespace');
  const scoped = path => path + (namespace && namespace !== 'default' ? (path.includes('?') ? '&' : '?') + 'namespace=' + encodeURIComponent(namespace) : '');

  let toastEnd;
  const toast = (text, isBad = false) => {
    const box = $('.toast');
    box.textContent = text;
    box.classList.toggle('err', isBad);
    box.classList.add('on');
    clearTimeout(toastEnd);
    toastEnd = setTimeout(() => box.classList.remove('on'), isBad ? 6000 : 2200);
  };
  const copy = text => navigator.clipboard
    ? navigator.clipboard.writeText(text).then(() => toast('Copied'), () => toast('The browser did not allow copying'))
    : toast('Browsers copy only over https, or on this machine');

  // acts: calls of the operator API, with the token of this page
  const send = (method, path, body) => fetch(scoped(path), {
    method, headers: { 'X-Scribe-Console': meta('scribe-console'), ...(body === undefined ? {} : { 'Content-Type': 'application/json' }) },
    body: body === undefined ? undefined : JSON.stringify(body),
  });
  const call = async (method, path, body) => {
    const answer = await send(method, `${root}/admin/${path}`, body);
    if (answer.status === 401) location.reload();
    if (!answer.ok) throw new Error((await answer.json().catch(() => ({}))).detail ?? `${answer.status}`);
    return answer;
  };
  // a question of the page's own, for a yes, a text or a choice; null for no
  const ask = (question, { verb = 'OK', text, choices, isGrave = false } = {}) => new Promise(done => {
    const box = $('#ask'), field = $('input', box), list = $('select', box), yes = $('[data-answer=yes]', box);
    $('h2', box).textContent = question;
    field.hidden = text === undefined;
    field.value = text ?? '';
    list.hidden = !choices;
    list.replaceChildren(...(choices ?? []).map(([value, label]) => new Option(label, value)));
    $('[data-answer=""]', box).textContent = isGrave ? 'Keep' : 'Not now';
    yes.textContent = verb;
    yes.classList.toggle('dng', isGrave);
    box.returnValue = '';
    box.onclose = () => done(box.returnValue ? (choices ? list.value : text === undefined || field.value.trim()) || null : null);
    box.showModal();
    (choices ? list : text === undefined ? $('[data-answer=""]', box) : field).focus();
  });
  const act = async element => {
    const data = element.dataset, acts = JSON.parse(data.acts);
    if (data.ask) {
      const choices = data.choices && JSON.parse(data.choices);
      const answer = await ask(data.ask, { verb: (element.getAttribute('aria-label') ?? element.innerText).split(/[ …]/)[0], choices, isGrave: !choices });
      if (!answer) return;
      if (choices) acts[0][2][data.member] = answer;
    }
    try {
      for (const [method, path, body] of acts) await call(method, path, body);
      if (data.then) return void (location.href = data.then);
      toast(data.done ?? 'Done');
    } catch (error) { toast(error.message, true); }
    const card = element.closest('section')?.getAttribute('aria-labelledby');
    if (data.twin && card) twins.set(card, data.twin);
    await refresh(true);
  };

  document.addEventListener('click', event => {
    const button = event.target.closest('button, a');
    if (!button) return;
    const data = button.dataset;
    if ('acts' in data) act(button);
    if ('answer' in data) $('#ask').close(data.answer);
    if ('copy' in data) copy(data.copy);
    if ('copyNext' in data) copy($('pre', button.parentNode).innerText);
    if ('copyPrev' in data) copy($('code', button.parentNode).innerText);
    if ('copyPre' in data) { const all = $$('pre', button.closest('section')); copy((all.find(one => one.offsetParent) ?? all[0]).textContent); }
    if ('tab' in data) choose(button);
    if ('pause' in data) { isPaused = !isPaused; button.setAttribute('aria-pressed', isPaused); if (!isPaused) refresh(true); }
    if ('news' in data) refresh(true);
    if ('play' in data) play(button);
    if ('playAll' in data) playAll();
    if ('logout' in data) send('POST', `${root}/logout`, {}).then(() => location.reload());
    if ('har' in data) har();
    if ('arm' in data) arm();
    if ('snapshot' in data) snapshot();
  });
  document.addEventListener('change', event => {
    const data = event.target.dataset;
    if ('acts' in data) act(event.target);
    if ('namespace' in data) location.href = event.target.value === 'default' ? root : `${root}?namespace=${encodeURIComponent(event.target.value)}`;
    if ('parameter' in data) {
      const url = new URL(location.href);
      if (event.target.value) url.searchParams.set(data.parameter, event.target.value); else url.searchParams.delete(data.parameter);
      url.searchParams.delete('before');
      location.href = url;
    }
    if ('fn' in data) $('[data-fn-out]').textContent = `scribe-emulator fault next operation=${$('[data-fn=operation]').value} ${$('[data-fn=answer]').value}`;
  });

  const arm = async () => {
    const [name, value] = $('[data-fn=answer]').value.split('=');
    try {
      await call('POST', 'faults/next', { operation: $('[data-fn=operation]').value, [name]: name === 'status' ? +value : value });
      toast(`Armed: the next ${$('[data-fn=operation]').value} fails`);
    } catch (error) { toast(error.message, true); }
    refresh(true);
  };
  const snapshot = async () => {
    const name = await ask('Name of the snapshot', { verb: 'Save', text: 'before-test' });
    if (!name) return;
    try { await call('PUT', `snapshots/${encodeURIComponent(name)}`, {}); toast('Saved'); } catch (error) { toast(error.message, true); }
    refresh(true);
  };
  const har = async () => {
    try {
      const url = URL.createObjectURL(await (await call('GET', 'requests/export')).blob());
      Object.assign(document.createElement('a'), { href: url, download: 'scribe.har' }).click();
      setTimeout(() => URL.revokeObjectURL(url), 10_000);
    } catch (error) { toast(error.message, true); }
  };

  // search: a name has no place in an address, so it goes as a header
  const search = $('[data-search]');
  let searching;
  // Links beside the search keep it, within this tab.
  if (search) {
    const kept = sessionStorage.getItem('scribe-search');
    sessionStorage.removeItem('scribe-search');
    if (kept) { search.value = kept; setTimeout(() => refresh(true)); }
    addEventListener('pagehide', () => {
      const target = document.activeElement?.closest?.('.seg a, [data-live=list] a[href*="before="], select[data-parameter]');
      if (search.value && target) sessionStorage.setItem('scribe-search', search.value);
    });
  }
  search?.addEventListener('input', () => { clearTimeout(searching); searching = setTimeout(() => refresh(true), 200); });
  document.addEventListener('keydown', event => {
    if (event.key === 'Enter' && event.target.matches('#ask input')) $('#ask').close('yes');
    const tab = event.target.closest('[role=tab]'), step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (tab && step) { const all = $$('[role=tab]', tab.parentNode); choose(all.at((all.indexOf(tab) + step) % all.length)); }
    if (event.key === '/' && search && !/INPUT|SELECT|TEXTAREA/.test(document.activeElement.tagName)) { event.preventDefault(); search.focus(); }
  });

  // tabs: the chosen ones outlive a refresh
  const chosen = new Map();
  const showTabs = () => {
    for (const box of $$('[data-tabs]')) {
      const all = $$('[role=tab]', box), name = chosen.get(box.dataset.tabs);
      if (!all.some(one => one.dataset.tab === name)) continue;
      for (const one of all) { const isOn = one.dataset.tab === name; one.setAttribute('aria-selected', isOn); one.tabIndex = isOn ? 0 : -1; }
      for (const one of $$('[data-panel]', box)) one.hidden = one.dataset.panel !== name;
    }
  };
  const choose = tab => { chosen.set(tab.closest('[data-tabs]').dataset.tabs, tab.dataset.tab); showTabs(); tab.focus(); };

  // live: the page is read again, and its live parts are put in place of the old ones
  let isPaused = false, isBusy = false, isStale = false, isStaleWanted = false;
  // The parts as the server sent them, and the command that each card shows.
  const shown = new Map($$('[data-live]').map(part => [part.dataset.live, part.innerHTML])), twins = new Map();
  const isRead = part => part.matches(':hover') || part.contains(document.activeElement);
  const refresh = async (isWanted = false) => {
    if (isBusy) { isStale = true; isStaleWanted ||= isWanted; return; }
    const parts = $$('[data-live]');
    if (!parts.length) return;
    const waits = part => !isWanted && (isPaused || ('waits' in part.dataset && isRead(part)));
    if (parts.some(waits)) {
      const button = $('[data-news]');
      if (button) { button.hidden = false; button.textContent = 'New ones: show'; }
      if (parts.every(waits)) return;
    }
    isBusy = true;
    const begin = performance.now();
    try {
      const headers = search?.value ? { 'X-Scribe-Search': encodeURIComponent(search.value) } : {};
      const answer = await fetch(location.href.split('#')[0], { headers, signal: AbortSignal.timeout(15_000) });
      if (answer.status === 401 || answer.status === 404 && !document.title.startsWith('Not found')) return location.reload();
      // A proxy without a server, or a server without room.
      if (!answer.ok && answer.status !== 404) throw new Error(`${answer.status}`);
      const fresh = new DOMParser().parseFromString(await answer.text(), 'text/html');
      const names = root => $$('[data-live]', root).map(one => one.dataset.live).join();
      if (names(fresh) !== names(document)) return location.reload();
      for (const part of parts) {
        const other = fresh.querySelector(`[data-live="${part.dataset.live}"]`);
        const name = part.dataset.live;
        if (!other || waits(part)) continue;
        // What a script has drawn is no news.
        const isSame = shown.get(name) === other.innerHTML;
        shown.set(name, other.innerHTML);
        if (isSame && (!isWanted || name === 'tracks')) continue;
        const focused = document.activeElement?.id, isOpen = $$('details', part).map(one => one.open);
        part.replaceChildren(...other.childNodes);
        $$('details', part).forEach((one, index) => { one.open = isOpen[index] ?? false; });
        showTabs();
        if (focused && part.contains(document.getElementById(focused))) document.getElementById(focused).focus();
        draw(part);
        mark();
      }
      for (const [card, twin] of twins) { const out = $(`[aria-labelledby="${card}"] [data-twin-out]`); if (out) out.textContent = twin; }
      if (isWanted) { const button = $('[data-news]'); if (button) button.hidden = true; }
    } catch { lost(true); } finally {
      isBusy = false;
      // A server that has much to do is asked less often.
      if (isStale) {
        const wanted = isStaleWanted;
        isStale = isStaleWanted = false;
        setTimeout(() => refresh(wanted), wanted ? 0 : Math.max(250, 10 * (performance.now() - begin)));
      }
    }
  };
  const lost = isLost => {
    const strip = $('#lost');
    if (strip) strip.hidden = !isLost;
    $$('[data-liveness]').forEach(one => { one.textContent = isLost ? 'Not live' : 'Live'; });
    $$('.live, .led').forEach(one => one.classList.toggle('off', isLost));
  };

  // one stream for all tabs of a browser: the tab that holds the lock has it, and tells the others
  const channel = 'BroadcastChannel' in window ? new BroadcastChannel(`scribe-console-${namespace}`) : null;
  let source, release;
  const open = () => {
    source?.close();
    source = new EventSource(scoped(`${root}/events`));
    source.addEventListener('change', () => { refresh(); channel?.postMessage('change'); });
    source.onopen = () => { lost(false); channel?.postMessage('open'); refresh(); };
    const own = source;
    source.onerror = () => {
      lost(true);
      channel?.postMessage('lost');
      // A refused stream ends for good; the page asks why, and tries again.
      if (own.readyState === EventSource.CLOSED) setTimeout(() => { if (source === own) { open(); refresh(); } }, 3000);
    };
  };
  const close = () => { source?.close(); source = null; release?.(); release = null; };
  let waiting;
  const listen = () => {
    if (!navigator.locks) return open();
    waiting?.abort();
    waiting = new AbortController();
    navigator.locks.request(`scribe-console-${namespace}`, { signal: waiting.signal }, () => { open(); return new Promise(done => { release = done; }); }).catch(() => {});
  };
  channel?.addEventListener('message', event => {
    if (document.hidden) return;
    if (event.data === 'change') refresh(); else lost(event.data === 'lost');
  });
  if (meta('scribe-namespace')) {
    document.addEventListener('visibilitychange', () => { if (document.hidden) { waiting?.abort(); close(); } else { listen(); refresh(); } });
    if (!document.hidden) listen();
  }

  // sound: one player, and waves drawn from what the browser decodes
  const player = new Audio();
  let playing = [];
  const play = button => {
    playing = [];
    if (player.dataset.src === button.dataset.play && !player.paused) return player.pause();
    start(button.dataset.play);
  };
  const start = src => { player.dataset.src = src; player.src = src; player.play().catch(() => toast('The browser cannot play this', true)); };
  // a word plays its file from there
  document.addEventListener('click', event => {
    const word = event.target.closest('[data-at]');
    if (!word) return;
    playing = [];
    const at = +word.dataset.at;
    start(word.closest('li').querySelector('[data-play]').dataset.play);
    player.addEventListener('loadedmetadata', () => { player.currentTime = at; }, { once: true });
  });
  player.addEventListener('timeupdate', () => $$('[data-play]').forEach(one => {
    const isOn = one.dataset.play === player.dataset.src;
    let last;
    for (const word of $$('[data-at]', one.closest('li'))) { word.classList.remove('at'); if (isOn && +word.dataset.at <= player.currentTime + .05) last = word; }
    last?.classList.add('at');
  }));
  const playAll = () => { playing = $$('[data-play]').map(one => one.dataset.play); const first = playing.shift(); if (first) start(first); };
  player.addEventListener('ended', () => { const next = playing.shift(); if (next) start(next); mark(); });
  const mark = () => $$('[data-play]').forEach(one => one.classList.toggle('on', !player.paused && one.dataset.play === player.dataset.src));
  for (const name of ['play', 'pause']) player.addEventListener(name, mark);
  const waves = new Map();
  const draw = async part => {
    for (const wave of $$('[data-wave]', part)) {
      const src = wave.dataset.wave;
      if (!waves.has(src)) waves.set(src, outline(src));
      const path = await waves.get(src);
      if (path) wave.innerHTML = `<path d="${path}"/>`;
    }
  };
  let decoder;
  const outline = async src => {
    try {
      decoder ??= new OfflineAudioContext(1, 1, 16000);
      const samples = (await decoder.decodeAudioData(await (await fetch(src)).arrayBuffer())).getChannelData(0);
      const count = 100, size = Math.max(1, Math.floor(samples.length / count));
      return Array.from({ length: count }, (_, bar) => {
        let most = 0;
        for (let at = bar * size; at < Math.min((bar + 1) * size, samples.length); at += 8) most = Math.max(most, Math.abs(samples[at]));
        const height = Math.max(.5, most * 13);
        return `M${bar * 3 + 1} ${(14 - height).toFixed(1)}v${(2 * height).toFixed(1)}`;
      }).join('');
    } catch { return ''; }
  };
  draw(document);

  // login
  const login = $('[data-login]');
  if (login) {
    const field = $('input', login), problem = $('.err', login);
    const enter = async () => {
      const answer = await send('POST', `${root}/login`, { token: field.value }).catch(() => null);
      if (answer?.ok) return location.reload();
      if (answer?.status === 401 && (await answer.clone().json()).code === 'no_session') return location.reload();
      field.setAttribute('aria-invalid', 'true');
      $('span', problem).textContent = answer ? (await answer.json().catch(() => ({}))).detail ?? 'The server refused' : 'The server does not answer';
      problem.hidden = false;
      field.focus();
    };
    $('button', login).addEventListener('click', enter);
    field.addEventListener('keydown', event => { if (event.key === 'Enter') enter(); });
    field.focus();
  }

  window.scribe = { root, scoped, send, toast, namespace, ask };
})();
