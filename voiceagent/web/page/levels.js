// How loud a stream is, many times a second, from 0 (-60 dB and below) to 1.

export class Levels {
  constructor() { this.context = null; this.taps = new Map(); }

  // Browsers start sound only after a click or key; call this from one where possible.
  wake() {
    this.context ??= new AudioContext();
    return this.context.resume();
  }

  watch(name, stream, show) {
    this.forget(name);
    if (!stream || !this.context) return;
    const source = this.context.createMediaStreamSource(stream);
    const analyser = this.context.createAnalyser();
    analyser.fftSize = 1024;
    source.connect(analyser);
    this.taps.set(name, { source, analyser, show, data: new Float32Array(analyser.fftSize) });
    this.turning ??= requestAnimationFrame(() => this.turn());
  }

  forget(name) {
    const tap = this.taps.get(name);
    if (tap) { tap.source.disconnect(); tap.show(0); }
    this.taps.delete(name);
  }

  turn() {
    for (const tap of this.taps.values()) {
      tap.analyser.getFloatTimeDomainData(tap.data);
      let sum = 0;
      for (const value of tap.data) sum += value * value;
      const db = 10 * Math.log10(sum / tap.data.length + 1e-12);
      tap.show(Math.max(0, Math.min(1, (db + 60) / 60)));
    }
    this.turning = this.taps.size ? requestAnimationFrame(() => this.turn()) : null;
  }
}
