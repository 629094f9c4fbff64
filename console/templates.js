// Changes templates by the public API, with a token of their client, and tries one on a transcript.
addEventListener('DOMContentLoaded', () => {
  const { root, send, toast, ask } = window.scribe, box = document.querySelector('[data-templates]'), client = box.dataset.client;
  const make = (tag, text, name = '') => Object.assign(document.createElement(tag), { textContent: text, className: name });
  const read = async answer => { const body = await answer.json().catch(() => ({})); if (!answer.ok) throw new Error(body.detail ?? body.error?.message ?? body.message ?? `${answer.status}`); return body; };
  const guarded = async work => { try { await work(); } catch (error) { toast(error.message, true); } };
  const api = async (method, path, body) => {
    const { access_token: token } = await read(await send('POST', `${root}/token`, { client }));
    return read(await fetch(`/voice/api/v1/template${path}`, { method, headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' }, body: body && JSON.stringify(body) }));
  };
  for (const set of box.querySelectorAll('[data-chosen]')) {
    const chosen = new Set(set.dataset.chosen.split(' '));
    set.append(document.querySelector('[data-sections]').content.cloneNode(true));
    for (const one of set.querySelectorAll('input')) one.checked = chosen.has(one.value);
  }
  const write = async () => {
    const out = box.querySelector('[data-written]');
    const answer = await read(await send('POST', `${root}/note`, { client, template: box.querySelector('[data-template]').value, transcript: box.querySelector('#said').value }));
    out.replaceChildren();
    for (const section of answer.sections) {
      const list = make('ul', '');
      for (const { text, words } of section.statements) {
        const item = make('li', text);
        if (words) item.append(document.createElement('br'), make('q', words, 't2'));
        list.append(item);
      }
      out.append(make('h3', section.title), list);
    }
    if (!answer.sections.length) out.append(make('pre', answer.note, 'words'));
  };
  box.addEventListener('click', event => {
    const data = event.target.closest('button')?.dataset, edit = event.target.closest('[data-own]');
    if (!data) return;
    if ('write' in data) guarded(write);
    if ('save' in data) guarded(async () => {
      const body = { title: edit.querySelector('[data-title]').value, desc: edit.querySelector('[data-summary]').value, section_ids: [...edit.querySelectorAll(':checked')].map(one => one.value) };
      await api(edit.dataset.own ? 'PATCH' : 'POST', edit.dataset.own && `/${encodeURIComponent(edit.dataset.own)}`, body);
      location.reload();
    });
    if ('archive' in data) guarded(async () => { if (!await ask('Archive this template?', { verb: 'Archive', isGrave: true })) return; await api('DELETE', `/${encodeURIComponent(edit.dataset.own)}`); location.reload(); });
  });
  // The verb knows the built-in templates alone.
  const named = () => { const command = document.querySelector('[data-command]'), chosen = document.querySelector('[data-template]').value; command.parentNode.hidden = document.querySelector(`[data-own="${CSS.escape(chosen)}"]`) !== null; if (chosen) command.textContent = `scribe-emulator note --template ${chosen} --explain <transcript.txt`; };
  document.querySelector('[data-template]').addEventListener('change', named);
  named();
});
