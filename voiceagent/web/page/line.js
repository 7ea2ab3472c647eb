// The browser's end of the line: microphone out, loudspeaker in.

const PLAYOUT_EVERY_MS = 2000;
const PLAYOUT_STEP_MS = 10;

const SOUND = { echoCancellation: true, noiseSuppression: true, autoGainControl: true };

export class Line {
  // `server` takes the offer, `audio` is the element that sounds, `changed` hears "connected", "lost" and "closed".
  constructor(server, audio, changed) {
    this.server = server;
    this.audio = audio;
    this.changed = changed;
    this.microphone = null;
    this.muted = false;
  }

  async listen(deviceId) {
    const wanted = deviceId ? { ...SOUND, deviceId: { exact: deviceId } } : SOUND;
    const stream = await navigator.mediaDevices.getUserMedia({ audio: wanted });
    this.silence();
    this.microphone = stream;
    this.mute(this.muted);
    if (this.sender) await this.sender.replaceTrack(this.track);
  }

  get track() { return this.microphone ? this.microphone.getAudioTracks()[0] : null; }

  async join(name, key) {
    const peer = this.peer = new RTCPeerConnection();
    const early = [];
    let told = false;
    const tell = (candidate) => this.server.send("candidates", candidate).catch(() => {});
    peer.onicecandidate = ({ candidate }) => {
      const line = candidate ? { candidate: candidate.candidate, sdpMid: candidate.sdpMid, sdpMLineIndex: candidate.sdpMLineIndex } : { candidate: "" };
      if (told) tell(line); else early.push(line);
    };
    peer.ontrack = ({ track }) => { this.remote = new MediaStream([track]); this.audio.srcObject = this.remote; this.changed("sound"); };
    peer.onconnectionstatechange = () => {
      if (peer !== this.peer) return;
      if (peer.connectionState === "connected") this.changed("connected");
      if (["failed", "closed"].includes(peer.connectionState)) this.changed("lost");
    };
    const transceiver = peer.addTransceiver(this.track ?? "audio", { direction: "sendrecv" });
    this.sender = transceiver.sender;
    await peer.setLocalDescription();
    const answer = await this.server.send("offer", { sdp: peer.localDescription.sdp, type: "offer", name, participant: key });
    if (peer !== this.peer) return answer;
    this.session = answer.session;
    this.epoch = answer.epoch;
    await peer.setRemoteDescription({ type: "answer", sdp: answer.sdp });
    const transport = transceiver.sender.transport;
    transport.onstatechange = () => { if (peer === this.peer && ["closed", "failed"].includes(transport.state)) this.changed("lost"); };
    told = true;
    early.forEach(tell);
    this.tellPlayout(peer, transceiver.receiver);
    return answer;
  }

  // Tells how long sound waits here before it is heard, when that has changed: what was heard of an answer is counted by it.
  async tellPlayout(peer, receiver) {
    let before = { delay: 0, count: 0 };
    let last = null;
    while (peer === this.peer) {
      await new Promise((done) => setTimeout(done, PLAYOUT_EVERY_MS));
      if (peer !== this.peer || peer.connectionState !== "connected") continue;
      let inbound = null;
      let loudspeaker = 0;
      for (const one of (await receiver.getStats()).values()) {
        if (one.type === "inbound-rtp") inbound = one;
        if (one.type === "media-playout" && one.totalSamplesCount) loudspeaker = one.totalPlayoutDelay / one.totalSamplesCount;
      }
      const count = (inbound?.jitterBufferEmittedCount ?? 0) - before.count;
      if (count <= 0) continue;
      const ms = Math.round(1000 * ((inbound.jitterBufferDelay - before.delay) / count + loudspeaker));
      before = { delay: inbound.jitterBufferDelay, count: inbound.jitterBufferEmittedCount };
      if (last !== null && Math.abs(ms - last) < PLAYOUT_STEP_MS) continue;
      last = ms;
      this.server.send("playout", { ms: Math.min(Math.max(ms, 0), 10000) }).catch(() => {});
    }
  }

  mute(muted) {
    this.muted = muted;
    if (this.track) this.track.enabled = !muted;
  }

  drop() {
    const peer = this.peer;
    this.peer = this.sender = null;
    if (peer) peer.close();
  }

  silence() {
    if (this.microphone) this.microphone.getTracks().forEach((track) => track.stop());
    this.microphone = null;
  }

  // Tells the server at once, even while the page goes away.
  leave() {
    if (this.session) this.server.send(`line?session=${encodeURIComponent(this.session)}`, undefined, "DELETE", true).catch(() => {});
    this.session = null;
    this.drop();
    this.silence();
  }
}
