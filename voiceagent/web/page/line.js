// The browser's end of the line: microphone out, loudspeaker in.

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
    return answer;
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
