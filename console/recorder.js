// Hands the microphone's samples on, in pieces of 1,600 (a tenth of a second at 16 kHz).
registerProcessor('recorder', class extends AudioWorkletProcessor {
  constructor() { super(); this.piece = new Float32Array(1600); this.count = 0; }
  process([channels]) {
    for (const sample of channels[0] ?? []) {
      this.piece[this.count++] = sample;
      if (this.count === this.piece.length) { this.port.postMessage(this.piece.slice()); this.count = 0; }
    }
    return true;
  }
});
