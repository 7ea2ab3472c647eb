// A turn's waiting time as a small stacked bar: end of speech, words, first token, first sound.

const PARTS = [
  ["end_of_speech_to_words_ms", "words", "p1"],
  ["words_to_first_token_ms", "first token", "p2"],
  ["first_token_to_first_sound_ms", "first sound", "p3"],
];
const FULL_MS = 1500;

export function strip(data) {
  const parts = PARTS.map(([key, label, color]) => ({ ms: Math.max(0, Math.round(data[key] ?? 0)), label, color }));
  const total = Math.round(data.total_ms ?? parts.reduce((sum, part) => sum + part.ms, 0));
  const box = element("div", "strip");
  const bar = box.appendChild(element("div", "bar"));
  bar.setAttribute("aria-hidden", "true");
  const legend = box.appendChild(element("p", "legend"));
  legend.append(bold(`${total} ms`), " from end of speech to sound");
  for (const part of parts) {
    const piece = bar.appendChild(element("i", part.color));
    piece.style.width = `${(100 * part.ms) / Math.max(FULL_MS, total)}%`;
    const label = legend.appendChild(element("span", part.color));
    label.textContent = `${part.label} ${part.ms}`;
  }
  return box;
}

function element(tag, name) {
  const made = document.createElement(tag);
  made.className = name;
  return made;
}

function bold(text) {
  const made = document.createElement("b");
  made.textContent = text;
  return made;
}
