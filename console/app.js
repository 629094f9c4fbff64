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
      let answer;
      for (const [method, path, body] of acts) answer = await call(method, path, body);
      if (data.then) return void (location.href = data.then);
      // The text may name members of the answer.
      const made = data.done?.includes('{') ? await answer.json() : {};
      toast((data.done ?? 'Done').replace(/\{(\w+)\}/g, (_, name) => made[name]));
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
    if ('pause' in data) { isPaused = !isPaused; button.setAttribute('aria-pressed', isPaused); live(); if (!isPaused) refresh(true); }
    if ('news' in data) refresh(true);
    if ('logout' in data) send('POST', `${root}/logout`, {}).then(() => location.reload());
    if ('har' in data) har();
    if ('arm' in data) arm();
    if ('opens' in data) openForm($(`#${data.opens}`));
    if ('submit' in data) submit(button.closest('dialog'));
    if ('closes' in data) button.closest('dialog').close();
    if ('goto' in data) openGoto();
    if ('exports' in data) copy($$('[data-variable]', button.closest('dialog')).map(one => `export ${one.dataset.variable}=${one.textContent}`).join('\n'));
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
    if (data.fn === 'operation') showAnswers();
    if ('fn' in data) showFault();
  });

  // forms: dialogs whose fields are the members of a call's body
  const openForm = box => {
    $('[data-problem]', box).textContent = '';
    box.showModal();
    $('.fld, .sel', box).focus();
  };
  const submit = async box => {
    const [method, path] = JSON.parse(box.dataset.form), body = {};
    for (const field of $$('[name]', box)) {
      const value = 'list' in field.dataset ? field.value.split(/[\s,]+/).filter(Boolean) : field.value.trim();
      if (value.length) body[field.name] = value;
    }
    try {
      const made = await (await call(method, path, body)).json();
      box.close();
      if (box.dataset.done) toast(box.dataset.done);
      if (box.dataset.shows) {
        const shown = $(`#${box.dataset.shows}`);
        for (const one of $$('[data-value]', shown)) one.textContent = made[one.dataset.value] ?? '';
        shown.showModal();
      }
    } catch (error) { $('[data-problem]', box).textContent = error.message; }
    refresh(true);
  };

  // "Fail the next": each operation has the answers of its group
  const showAnswers = () => {
    const form = $('[data-answers]'), list = $('[data-fn=answer]');
    const chosen = $('[data-fn=operation]').selectedOptions[0];
    const answers = chosen ? JSON.parse(form.dataset.answers)[chosen.dataset.kind] : [];
    list.replaceChildren(...answers.map(([rule, words]) => new Option(words, rule)));
  };
  const showFault = () => { $('[data-fn-out]').textContent = `scribe-emulator fault next operation=${$('[data-fn=operation]').value} ${$('[data-fn=answer]').value}${$('[data-answers]').dataset.at}`; };
  if ($('[data-answers]')) {
    const list = $('[data-fn=operation]'), groups = $$('optgroup', list);
    $('[data-fn-find]').addEventListener('input', event => {
      const text = event.target.value.trim().toLowerCase();
      const found = groups.map(group => {
        const copy = group.cloneNode(false);
        copy.append(...$$('option', group).filter(one => `${one.value} ${group.label}`.toLowerCase().includes(text)).map(one => one.cloneNode(true)));
        return copy;
      }).filter(group => group.children.length);
      list.replaceChildren(...found);
      list.disabled = !found.length;
      const arm = $('[data-arm]');
      arm.hidden = !found.length;
      if (!found.length) return void ($('[data-fn-out]').textContent = 'scribe-emulator fault next --help');
      showAnswers();
      showFault();
    });
    showAnswers();
  }
  const arm = async () => {
    const typed = (name, value) => (name === 'status' || name === 'close' || name === 'after_received' ? +value : value === 'true' ? true : value);
    const rule = $('[data-fn=answer]').value.split(' ').map(part => part.split('=')).map(([name, value]) => [name, typed(name, value)]);
    try {
      await call('POST', 'faults/next', { operation: $('[data-fn=operation]').value, ...Object.fromEntries(rule) });
      toast(`Armed: the next ${$('[data-fn=operation]').value} fails`);
    } catch (error) { toast(error.message, true); }
    refresh(true);
  };
  const snapshot = async () => {
    const taken = $$('#snapshots b').map(one => one.textContent);
    let text = 'before-test';
    for (let number = 2; taken.includes(text); number += 1) text = `before-test-${number}`;
    const name = await ask('Name of the snapshot; one of the same name is replaced', { verb: 'Save', text });
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
    const isTyping = /INPUT|SELECT|TEXTAREA/.test(document.activeElement.tagName);
    if (event.key === '/' && search && !isTyping) { event.preventDefault(); search.focus(); }
    if (event.key === '?' && !isTyping) $('#keys')?.showModal();
    if (event.key.toLowerCase() === 'k' && (event.ctrlKey || event.metaKey)) { event.preventDefault(); openGoto(); }
    if (event.key === 'Enter' && event.target.matches('dialog[data-form] input')) submit(event.target.closest('dialog'));
  });

  // "Go to": pages are known here, consultations and requests come from the server
  const box = $('#goto'), list = $('#goto-l'), field = box && $('input', box);
  let finding, asked = 0;
  const openGoto = () => { if (!box || box.open) return; field.value = ''; box.showModal(); field.focus(); find(); };
  const point = index => {
    const all = $$('[role=option]', list);
    all.forEach((one, at) => one.setAttribute('aria-selected', at === index));
    field.setAttribute('aria-activedescendant', all[index]?.id ?? '');
    all[index]?.scrollIntoView({ block: 'nearest' });
  };
  const find = async () => {
    const text = field.value.trim(), number = asked += 1;
    const pages = $$('#nav a').map(one => ({ title: one.firstChild.nextSibling.textContent, detail: 'page', href: one.href }))
      .filter(one => one.title.toLowerCase().includes(text.toLowerCase()));
    const headers = { 'X-Scribe-Search': encodeURIComponent(text) };
    const found = await fetch(scoped(`${root}/found`), { headers }).then(answer => (answer.ok ? answer.json() : {}), () => ({}));
    if (number !== asked) return;
    const all = [...(text ? pages : []), ...found.consultations ?? [], ...found.requests ?? [], ...(text ? [] : pages)].slice(0, 20);
    list.replaceChildren(...all.map((one, index) => {
      const item = document.createElement('li'), detail = document.createElement('span');
      Object.assign(item, { id: `goto-${index}`, textContent: one.title });
      item.setAttribute('role', 'option');
      item.dataset.href = one.href;
      Object.assign(detail, { className: 't3', textContent: one.detail });
      item.append(detail);
      return item;
    }));
    if (!all.length) list.replaceChildren(Object.assign(document.createElement('li'), { className: 't3', role: 'option', textContent: 'Nothing is found.' }));
    point(0);
  };
  field?.addEventListener('input', () => { clearTimeout(finding); finding = setTimeout(find, 120); });
  field?.addEventListener('keydown', event => {
    const all = $$('[role=option]', list), at = all.findIndex(one => one.getAttribute('aria-selected') === 'true');
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step) { event.preventDefault(); point((at + step + all.length) % all.length); }
    if (event.key === 'Enter' && all[at]?.dataset.href) location.href = all[at].dataset.href;
  });
  list?.addEventListener('click', event => { const one = event.target.closest('[data-href]'); if (one) location.href = one.dataset.href; });

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

  // times: they go on between two reads
  const span = seconds => seconds < 60 ? `${seconds} s` : seconds < 3600 ? `${seconds / 60 | 0} min` : seconds < 86_400 ? `${seconds / 3600 | 0} h` : `${seconds / 86_400 | 0} d`;
  setInterval(() => {
    const offset = $('[data-live=clock-of-page] data')?.value;
    if (offset === undefined || document.hidden) return;
    const now = Date.now() + +offset;
    for (const one of $$('time[data-ago]')) one.textContent = `${span(Math.max(0, now - Date.parse(one.dateTime)) / 1000 | 0)} ago`;
    for (const one of $$('time[data-clock]')) one.textContent = new Date(now).toISOString().slice(11, 19);
  }, 1000);

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
        const focused = document.activeElement?.id, keyed = one => one.dataset.key ?? $$('details', one.closest('[data-live]')).indexOf(one), wasOpen = new Set($$('details[open]', part).map(keyed));
        part.replaceChildren(...other.childNodes);
        $$('details', part).forEach(one => { one.open = wasOpen.has(keyed(one)); });
        showTabs();
        if (focused && part.contains(document.getElementById(focused))) document.getElementById(focused).focus();
        readied(part);
      }
      for (const [card, twin] of twins) { const out = $(`[aria-labelledby="${card}"] [data-twin-out]`); if (out) out.textContent = twin; }
      if (isWanted) { const button = $('[data-news]'); if (button) button.hidden = true; }
      if (isCut && (!source || source.readyState === EventSource.OPEN)) lost(false);
    } catch {
      // What this read would have shown may be the last change for long.
      lost(true);
      if (!document.hidden) { isStale = true; isStaleWanted ||= isWanted; }
    } finally {
      isBusy = false;
      // A server that has much to do is asked less often.
      if (isStale) {
        const wanted = isStaleWanted;
        isStale = isStaleWanted = false;
        setTimeout(() => refresh(wanted), wanted && !isCut ? 0 : Math.min(3000, Math.max(250, 10 * (performance.now() - begin))));
      }
    }
  };
  let isCut = false;
  const lost = isLost => { isCut = isLost; live(); };
  const live = () => {
    const strip = $('#lost');
    if (strip) strip.hidden = !isCut;
    $$('[data-liveness]').forEach(one => { one.textContent = isCut ? 'Not live' : isPaused ? 'Paused' : 'Live'; });
    $$('.live').forEach(one => one.classList.toggle('off', isCut || isPaused));
    $$('.led').forEach(one => one.classList.toggle('off', isCut));
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

  // What a part needs when it is new: times in the browser's zone, and what other scripts add.
  const readied = part => { localise(part); here(); for (const work of window.scribe.onNews) work(part); };
  const padded = (number, digits = 2) => String(number).padStart(digits, '0');
  const localise = part => {
    for (const one of $$('time[datetime]', part)) {
      const time = new Date(one.dateTime);
      one.title = one.dateTime;
      const clock = [time.getHours(), time.getMinutes(), time.getSeconds()].map(number => padded(number)).join(':');
      if (one.dataset.shown === 'clock') one.textContent = `${clock}.${padded(time.getMilliseconds(), 3)}`;
      if (one.dataset.shown === 'day') one.textContent = `${time.getFullYear()}-${padded(time.getMonth() + 1)}-${padded(time.getDate())} ${clock}`;
    }
  };
  // Several entries of the navigation lead to one page.
  const here = () => {
    const own = $$('#nav a').filter(one => one.pathname === location.pathname);
    if (own.length < 2) return;
    const current = own.find(one => one.hash === location.hash) ?? own[0];
    for (const one of own) if (one === current) one.setAttribute('aria-current', 'page'); else one.removeAttribute('aria-current');
  };
  addEventListener('hashchange', here);
  localise(document);
  here();
  $('.seg [aria-current]')?.scrollIntoView({ block: 'nearest', inline: 'center' });

  window.scribe = { root, scoped, send, toast, namespace, ask, onNews: [] };
})();
