// Records and speaks to the public API as a client of the session protocol does; words come by the live socket.
addEventListener('DOMContentLoaded', () => {
  const { root, send, toast } = window.scribe;
  const box = document.querySelector('[data-try]'), $ = name => box.querySelector(`[data-${name}]`);
  const RATE = 16000, CHUNK = 10 * RATE, prefix = box.dataset.prefix;
  const icon = name => { const one = document.createElement('i'); one.className = `i i-${name}`; return one; };
  let run = null;

  class Steps {
    count = 0;
    constructor() { $('steps').replaceChildren(); }
    // Shows a call while it lasts, and what came of it.
    async of(text, work) {
      const line = document.createElement('li'), state = document.createElement('span'), label = document.createElement('span'), took = document.createElement('span');
      state.className = 'acc run'; state.append(icon('s-run')); label.textContent = text; took.className = 't3';
      line.append(state, label, took);
      $('steps').append(line);
      $('count').textContent = `${this.count += 1} so far`;
      const begin = performance.now();
      try {
        const value = await work();
        state.className = 'ok'; state.replaceChildren(icon('chk'));
        return value;
      } catch (error) {
        state.className = 'bad'; state.replaceChildren(icon('s-fail'));
        label.append(document.createElement('br'), Object.assign(document.createElement('span'), { className: 'bad', textContent: error.message }));
        throw error;
      } finally { took.textContent = `${Math.round(performance.now() - begin)} ms`; }
    }
  }

  const wav = samples => {
    const view = new DataView(new ArrayBuffer(44 + 2 * samples.length)), text = (at, word) => [...word].forEach((letter, index) => view.setUint8(at + index, letter.charCodeAt(0)));
    text(0, 'RIFF'); view.setUint32(4, 36 + 2 * samples.length, true); text(8, 'WAVEfmt '); view.setUint32(16, 16, true); view.setUint16(20, 1, true);
    view.setUint16(22, 1, true); view.setUint32(24, RATE, true); view.setUint32(28, 2 * RATE, true); view.setUint16(32, 2, true); view.setUint16(34, 16, true);
    text(36, 'data'); view.setUint32(40, 2 * samples.length, true);
    samples.forEach((sample, index) => view.setInt16(44 + 2 * index, Math.max(-1, Math.min(1, sample)) * 32767, true));
    return view.buffer;
  };

  // What an error body says to people, in the forms of this API.
  const reason = text => {
    try {
      const body = JSON.parse(text), error = body.error ?? body;
      return String(error.message ?? error.detail ?? error.code ?? error.err_msg ?? text).slice(0, 200);
    } catch { return text.slice(0, 200); }
  };

  const empty = Object.fromEntries(['words', 'note', 'note-state'].map(name => [name, $(name).innerHTML]));
  class Run {
    constructor() {
      for (const [name, html] of Object.entries(empty)) $(name).innerHTML = html;
      $('timer').textContent = '0:00';
      levels = [];
      $('level').setAttribute('d', '');
    }
    steps = new Steps(); samples = []; length = 0; filled = 0; chunk = 0; said = []; heard = ''; uploads = Promise.resolve();

    async call(method, path, body, type) {
      for (let attempt = 0; ; attempt += 1) {
        const answer = await fetch(prefix + path, { method, headers: { Authorization: `Bearer ${this.token}`, ...(type ? { 'Content-Type': type } : {}) }, body });
        if (answer.ok) return answer;
        const text = await answer.text();
        if (answer.status < 500 && answer.status !== 429 || attempt === 3) throw new Error(`${answer.status}: ${reason(text)}`);
        await new Promise(done => setTimeout(done, 1000 * (+answer.headers.get('Retry-After') || 1)));
      }
    }

    // A whole file is not heard while it is sent.
    async begin(isWhole = false) {
      const language = $('language').value;
      const client = $('client')?.value;
      const login = await this.steps.of('Get a token', async () => {
        const answer = await send('POST', `${root}/token`, client ? { client } : {});
        const body = await answer.json();
        if (!answer.ok) throw new Error(body.detail);
        return body;
      });
      [this.token, this.business] = [login.access_token, login.business];
      const fixture = $('fixture').value;
      const body = {
        session_mode: 'consultation', templates: [$('template').value], model: 'lite', upload_type: isWhole ? 'single' : 'chunked', communication_protocol: 'http', language_hint: [language],
        ...(fixture ? { additional_data: { fixture: `fixture:${fixture}` } } : {}),
      };
      this.session = await this.steps.of('Create a session', async () => (await (await this.call('POST', '/voice/v1/sessions', JSON.stringify(body), 'application/json')).json()).session_id);
      if (!isWhole) await this.steps.of('Open the live socket', () => this.listen(language));
    }

    listen(language) {
      const query = `encoding=linear16&sample_rate=${RATE}&interim_results=true&language=${language}`;
      const socket = new WebSocket(`${location.protocol === 'https:' ? 'wss' : 'ws'}://${location.host}${prefix}/v1/listen?${query}`, ['bearer', this.token]);
      this.socket = socket;
      socket.onmessage = event => {
        const message = JSON.parse(event.data), text = message.channel?.alternatives?.[0]?.transcript;
        if (text === undefined) return;
        if (message.is_final) { if (text) this.said.push(text); this.heard = ''; } else this.heard = text;
        const soft = Object.assign(document.createElement('span'), { className: 'soft', textContent: this.heard }), line = document.createElement('p');
        line.append(this.said.join(' ') + ' ', soft);
        $('words').replaceChildren(line);
      };
      return new Promise((done, fail) => { socket.onopen = () => done(); socket.onerror = () => fail(new Error('The socket was refused')); });
    }

    // Takes samples at 16 kHz.
    add(piece) {
      if (this.socket?.readyState === WebSocket.OPEN) this.socket.send(Int16Array.from(piece, sample => Math.max(-1, Math.min(1, sample)) * 32767));
      this.samples.push(piece); this.length += piece.length; this.filled += piece.length;
      if (this.filled >= CHUNK) this.upload();
    }

    upload() {
      const all = new Float32Array(this.filled), name = `chunk_${this.chunk++}.wav`;
      let at = 0;
      for (const piece of this.samples) { all.set(piece, at); at += piece.length; }
      [this.samples, this.filled] = [[], 0];
      const bytes = wav(all);
      this.uploads = this.uploads.then(() => this.steps.of(`Upload ${name}, ${Math.round(bytes.byteLength / 1000)} KB`,
        () => this.call('POST', `/voice/v1/sessions/${this.session}/audio/${name}`, bytes, 'audio/wav')));
      this.uploads.catch(() => {});
    }

    async give(name, bytes, type) {
      this.chunk = 1;
      await this.steps.of(`Upload ${name}, ${Math.round(bytes.byteLength / 1000)} KB`,
        () => this.call('POST', `/voice/v1/sessions/${this.session}/audio/${name}`, bytes, type));
    }

    async finish() {
      if (this.filled > 0) this.upload();
      if (this.socket?.readyState === WebSocket.OPEN) this.socket.send(JSON.stringify({ type: 'CloseStream' }));
      await this.uploads;
      await this.steps.of('End the session', () => this.call('POST', `/voice/v1/sessions/${this.session}/end`, JSON.stringify({ audio_files_sent: this.chunk }), 'application/json'));
      $('note-state').textContent = 'is being written';
      const result = await this.steps.of('Poll until there is a note', async () => {
        for (;;) {
          const answer = await (await this.call('GET', `/voice/v1/sessions/${this.session}`)).json();
          if (['completed', 'partial', 'failed', 'expired'].includes(answer.status)) return answer;
        }
      });
      const { root, scoped } = window.scribe;
      show(result, scoped(`${root}/consultations/${encodeURIComponent(this.business)}/${this.session}`));
    }
  }

  const make = (tag, text, name = '') => Object.assign(document.createElement(tag), { textContent: text, className: name });
  // A text of Markdown lists and paragraphs.
  const lines = text => {
    const all = document.createDocumentFragment();
    let list = null;
    for (const line of text.split('\n').filter(Boolean)) {
      if (!line.startsWith('- ')) { list = null; all.append(make('p', line.replace(/^#+ /, ''))); continue; }
      if (!list) all.append(list = make('ul', ''));
      list.append(make('li', line.slice(2)));
    }
    return all;
  };
  const show = (result, link) => {
    $('note-state').textContent = result.status;
    const note = $('note');
    note.replaceChildren();
    for (const entry of result.templates ?? []) {
      for (const [id, document] of Object.entries(entry)) {
        for (const section of document.data ?? []) note.append(make('h3', section.title ?? id), lines(String(section.value ?? '')));
        for (const problem of [...document.errors ?? [], ...document.warnings ?? []]) note.append(make('p', problem.message ?? problem.code ?? String(problem), 'warn'));
      }
    }
    if (!note.children.length) note.append(make('p', result.error?.message ?? 'There is no result.', 't3'));
    const transcript = result.transcript?.text ?? result.transcript;
    if (typeof transcript === 'string') $('words').replaceChildren(lines(transcript));
    const more = make('p', '', 'small');
    more.append(Object.assign(make('a', 'Its timeline, audio and exchanges', 'link'), { href: link }));
    note.append(more);
  };

  // The microphone
  let context, levels = [], timer;
  const button = $('record'), hint = text => { $('hint').textContent = text; };
  // One run at a time: they share the page's words, note and calls.
  let isWorking = false;
  const guarded = async (work, stops = false) => {
    if (isWorking || context && !stops) return void toast('One is being made; wait for its note', true);
    isWorking = true;
    try { await work(); } catch (error) { toast(error.message, true); hint(error.message); await stopMicrophone(); run = null; face(false); } finally { isWorking = false; }
  };
  const face = isOn => { button.replaceChildren(icon(isOn ? 'stop' : 'mic')); button.setAttribute('aria-label', isOn ? 'Stop and make the note' : 'Record'); button.classList.toggle('on', isOn); };
  const level = piece => {
    levels.push(Math.max(...piece.map(Math.abs)));
    levels = levels.slice(-90);
    $('level').setAttribute('d', levels.map((most, index) => `M${index * 8 + 4} ${(30 - Math.max(1, 26 * most)).toFixed(0)}v${(2 * Math.max(1, 26 * most)).toFixed(0)}`).join(''));
  };
  const stopMicrophone = async () => {
    clearInterval(timer);
    context?.stream?.getTracks().forEach(track => track.stop());
    await context?.audio.close().catch(() => {});
    context = null;
  };
  const withoutMicrophone = {
    NotFoundError: 'This machine has no microphone. Play the sample, or choose a file.',
    NotAllowedError: 'The browser may not use the microphone. Allow it beside the address, or play the sample.',
    NotReadableError: 'Another program has the microphone. Close it, or play the sample.',
  };
  const record = () => guarded(async () => {
    if (!navigator.mediaDevices) throw new Error('Browsers give a microphone only over https, or on this machine.');
    run = new Run();
    const stream = await navigator.mediaDevices.getUserMedia({ audio: { channelCount: 1 } }).catch(error => { throw new Error(withoutMicrophone[error.name] ?? error.message); });
    const audio = new AudioContext({ sampleRate: RATE });
    context = { audio, stream };
    const code = URL.createObjectURL(await (await fetch(`${root}/recorder.js`)).blob());
    await audio.audioWorklet.addModule(code);
    URL.revokeObjectURL(code);
    await run.begin();
    const node = new AudioWorkletNode(audio, 'recorder');
    node.port.onmessage = event => { run?.add(event.data); level(event.data); };
    audio.createMediaStreamSource(stream).connect(node);
    face(true);
    hint('Listening. Stop makes the note.');
    timer = setInterval(() => { const seconds = run ? run.length / RATE | 0 : 0; $('timer').textContent = `${seconds / 60 | 0}:${String(seconds % 60).padStart(2, '0')}`; }, 250);
  });
  const stop = () => guarded(async () => {
    const current = run;
    run = null;
    await stopMicrophone();
    face(false);
    hint('Making the note.');
    await current.finish();
    hint('Done. Record another one.');
  }, true);
  button.addEventListener('click', () => (context ? stop() : record()));

  // The sample, which goes as it is
  const sample = () => guarded(async () => {
    hint('Sending a consultation that was spoken for this page.');
    const bytes = await (await fetch(`${root}/sample.ogg`)).arrayBuffer();
    const current = new Run();
    await current.begin(true);
    await current.give('1.ogg', bytes, 'audio/ogg');
    await current.finish();
    hint('Done. Record one of your own, or play it again.');
  });
  $('sample').addEventListener('click', sample);
  if (location.hash === '#sample') { history.replaceState(null, '', location.pathname + location.search); sample(); }

  // A file
  const file = chosen => guarded(async () => {
    if (!chosen) return;
    hint(`Reading ${chosen.name}`);
    const sound = await new OfflineAudioContext(1, 1, RATE).decodeAudioData(await chosen.arrayBuffer()).catch(() => { throw new Error('The browser cannot read this file.'); });
    const current = new Run();
    await current.begin();
    const samples = sound.getChannelData(0);
    for (let at = 0; at < samples.length; at += 1600) current.add(samples.slice(at, at + 1600));
    hint('Making the note.');
    await current.finish();
    hint('Done. Record, or drop another one.');
  });
  $('file').addEventListener('change', event => file(event.target.files[0]));
  const drop = $('drop');
  drop.addEventListener('dragover', event => { event.preventDefault(); drop.classList.add('over'); });
  drop.addEventListener('dragleave', () => drop.classList.remove('over'));
  drop.addEventListener('drop', event => { event.preventDefault(); drop.classList.remove('over'); file(event.dataTransfer.files[0]); });
});
