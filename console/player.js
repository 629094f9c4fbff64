// The audio of a consultation: one player for all files, and waves drawn from what the browser decodes.
addEventListener('DOMContentLoaded', () => {
  const { toast, onNews } = window.scribe;
  const $$ = (selector, root = document) => [...root.querySelectorAll(selector)];
  const player = new Audio(), sounds = new Map();
  let current = '', queue = [];
  const BARS = 100;
  const tracks = () => $$('[data-track]');
  const track = src => tracks().find(one => one.dataset.track === src);
  const clock = seconds => `${seconds / 60 | 0}:${String(seconds % 60 | 0).padStart(2, '0')}`;

  // bars and length of a file, or why it cannot be played
  let decoder;
  const decoded = async src => {
    const answer = await fetch(src).catch(() => null);
    if (!answer) return { problem: 'The server did not give the file.' };
    if (answer.status === 404) return { problem: 'No browser plays this file: its bytes are not in a known audio format, such as raw samples.' };
    if (!answer.ok) return { problem: `The server answered ${answer.status}.` };
    try {
      decoder ??= new OfflineAudioContext(1, 1, 16000);
      const sound = await decoder.decodeAudioData(await answer.arrayBuffer()), samples = sound.getChannelData(0);
      const size = Math.max(1, Math.floor(samples.length / BARS));
      const bars = Array.from({ length: BARS }, (_, bar) => {
        let most = 0;
        for (let at = bar * size; at < Math.min((bar + 1) * size, samples.length); at += 8) most = Math.max(most, Math.abs(samples[at]));
        const height = Math.max(.5, most * 13);
        return `M${bar * 3 + 1} ${(14 - height).toFixed(1)}v${(2 * height).toFixed(1)}`;
      });
      return { bars, seconds: sound.duration };
    } catch { return { problem: `This browser cannot decode ${answer.headers.get('Content-Type')}, or the file is damaged.` }; }
  };

  // shows what is known of a file, and where the player is in it
  const show = one => {
    const sound = sounds.get(one.dataset.track);
    if (!sound) return;
    const cannot = one.querySelector('.cannot'), wave = one.querySelector('.wave'), button = one.querySelector('[data-play]');
    cannot.hidden = !sound.problem;
    cannot.textContent = sound.problem ?? '';
    button.disabled = !!sound.problem;
    wave.hidden = !!sound.problem;
    if (sound.problem) return;
    const isCurrent = one.dataset.track === current, at = isCurrent ? player.currentTime : 0, isOn = isCurrent && !player.paused;
    const passed = Math.round(at / sound.seconds * BARS);
    wave.setAttribute('aria-valuemax', Math.ceil(sound.seconds));
    wave.setAttribute('aria-valuenow', Math.round(at));
    wave.setAttribute('aria-valuetext', `${clock(at)} of ${clock(sound.seconds)}`);
    wave.firstElementChild.innerHTML = `<path class="pd" d="${sound.bars.slice(0, passed).join('')}"/><path d="${sound.bars.slice(passed).join('')}"/>`;
    one.querySelector('[data-position]').textContent = isCurrent ? `${clock(at)} of ` : '';
    button.classList.toggle('on', isOn);
    button.firstElementChild.className = `i i-${isOn ? 'pause' : 'play'}`;
    button.setAttribute('aria-label', `${isOn ? 'Pause' : 'Play'} ${one.dataset.name}`);
    let last;
    for (const word of $$('[data-at]', one)) { word.classList.remove('at'); if (isCurrent && at > 0 && +word.dataset.at <= at + .05) last = word; }
    last?.classList.add('at');
  };
  const read = async one => {
    const src = one.dataset.track;
    if (!sounds.has(src)) { sounds.set(src, null); sounds.set(src, await decoded(src)); }
    for (const each of tracks()) if (each.dataset.track === src) show(each);
  };
  const readAll = async () => { for (const one of tracks()) await read(one); };

  const start = (src, at = 0) => {
    const before = current;
    current = src;
    if (player.dataset.src !== src) { player.dataset.src = src; player.src = src; }
    player.playbackRate = +document.querySelector('[data-speed]').value;
    const place = () => { player.currentTime = at; player.play().catch(error => toast(`It does not play: ${error.message}`, true)); };
    if (player.readyState > 0) place(); else player.addEventListener('loadedmetadata', place, { once: true });
    if (before !== src && track(before)) show(track(before));
  };
  player.addEventListener('error', () => toast(`It does not play: ${player.error?.message || 'the browser gives no reason'}`, true));
  const follow = () => {
    if (track(current)) show(track(current));
    if (!player.paused) requestAnimationFrame(follow);
  };
  for (const name of ['play', 'pause', 'seeked', 'ended']) player.addEventListener(name, follow);
  player.addEventListener('ended', () => { const next = queue.shift(); if (next) start(next); });

  const seek = (one, seconds) => {
    const sound = sounds.get(one.dataset.track);
    if (!sound?.seconds) return;
    queue = [];
    start(one.dataset.track, Math.max(0, Math.min(sound.seconds - .05, seconds)));
  };
  document.addEventListener('click', event => {
    const one = event.target.closest('[data-track]');
    if (event.target.closest('[data-play-all]')) {
      queue = tracks().map(each => each.dataset.track).filter(src => !sounds.get(src)?.problem);
      const first = queue.shift();
      if (first) start(first);
    }
    if (!one) return;
    const wave = event.target.closest('.wave'), word = event.target.closest('[data-at]');
    if (wave) { const box = wave.getBoundingClientRect(); seek(one, (event.clientX - box.left) / box.width * sounds.get(one.dataset.track)?.seconds); }
    if (word) seek(one, +word.dataset.at);
    if (event.target.closest('[data-play]')) {
      queue = [];
      if (one.dataset.track !== current || player.ended) start(one.dataset.track);
      else if (player.paused) player.play(); else player.pause();
    }
  });
  document.addEventListener('keydown', event => {
    const wave = event.target.closest?.('.wave');
    if (!wave) return;
    const one = wave.closest('[data-track]'), at = one.dataset.track === current ? player.currentTime : 0, end = sounds.get(one.dataset.track)?.seconds ?? 0;
    const to = { ArrowLeft: at - 1, ArrowRight: at + 1, ArrowDown: at - 1, ArrowUp: at + 1, PageDown: at - 10, PageUp: at + 10, Home: 0, End: end }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    seek(one, to);
  });
  document.addEventListener('change', event => { if ('speed' in event.target.dataset) player.playbackRate = +event.target.value; });
  onNews.push(part => { if (part.querySelector('[data-track]')) { for (const one of tracks()) show(one); readAll(); } });
  readAll();
});
