// A page of somebody else's: Pipecat's client as its documentation has it used, and a record of all that it is told.
// Its default media manager loads code from the internet, so the other one that it ships takes the microphone.

import { PipecatClient } from "@pipecat-ai/client-js";
import { SmallWebRTCTransport, WavMediaManager } from "@pipecat-ai/small-webrtc-transport";

const CALLBACKS = [
  "onConnected", "onDisconnected", "onError", "onBotConnected", "onBotReady", "onBotDisconnected", "onServerMessage", "onMessageError",
  "onUserStartedSpeaking", "onUserStoppedSpeaking", "onUserTranscript", "onBotStartedSpeaking", "onBotStoppedSpeaking",
  "onBotOutput", "onBotTranscript", "onBotLlmStarted", "onBotLlmText", "onBotLlmStopped", "onBotTtsStarted", "onBotTtsStopped",
  "onLLMFunctionCallStarted", "onLLMFunctionCallInProgress", "onLLMFunctionCallStopped", "onUIJobGroup",
];

window.told = [];
window.called = [];

class Listening extends PipecatClient {
  handleMessage(message) {
    window.told.push({ at: Date.now(), ...message });
    super.handleMessage(message);
  }
}

window.dial = async (endpoint, { headers = {}, requestData, microphone = true } = {}) => {
  const callbacks = Object.fromEntries(CALLBACKS.map((name) => [name, (data) => window.called.push({ at: Date.now(), name, data: plain(data) })]));
  callbacks.onTrackStarted = (track, participant) => {
    if (!participant?.local) document.querySelector("#line").srcObject = new MediaStream([track]);
  };
  window.transport = new SmallWebRTCTransport({ mediaManager: new WavMediaManager() });
  window.client = new Listening({ transport: window.transport, enableMic: microphone, enableCam: false, callbacks });
  return window.client.connect({ webrtcRequestParams: { endpoint, headers: new Headers(headers), requestData } });
};

function plain(data) {
  try { return JSON.parse(JSON.stringify(data ?? null)); } catch { return null; }
}
