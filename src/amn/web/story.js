// The story: a text that can be edited at any time, and behind it the same text with its sentences marked.

import { element } from "./dom.js";
import { afterEdit, placesOf } from "./sentences.js";

export class StoryView {
  // `field` is left out where the story is only replayed.
  constructor(marks, field) {
    Object.assign(this, { marks, field, text: "", places: [], spans: new Map(), untold: [] });
  }

  // Draws a text whose sentences are known.
  tell(text, sentences) {
    this.draw(text, placesOf(sentences, text));
  }

  // Draws a text that was edited: what is new in it was not told yet.
  edit(text) {
    this.draw(text, afterEdit(this.places, this.text, text));
  }

  draw(text, places) {
    const before = this.spans;
    Object.assign(this, { text, places, spans: new Map(), untold: [] });
    const ends = [0, ...places.map(({ end }) => end)];
    const nodes = places.flatMap(({ number, start, end }, i) => {
      this.spans.set(number, element("span", before.get(number)?.className ?? "", text.slice(start, end)));
      return [...this.between(text.slice(ends[i], start)), this.spans.get(number)];
    });
    // a last empty line has no height by itself
    this.marks.replaceChildren(...nodes, ...this.between(text.slice(ends.at(-1))), "\u200b");
  }

  // What stands between told sentences: space, and what is still being typed.
  between(text) {
    if (!text.trim()) return [text];
    const [, lead, words, trail] = /^(\s*)(.*?)(\s*)$/s.exec(text);
    this.untold.push(element("span", "", words));
    return [lead, this.untold.at(-1), trail];
  }

  // Marks what was told by now, what the answer rests on, and what was turned away.
  mark(reading, question, time) {
    const rests = new Set(reading.reason(question, time)?.sentences);
    const traces = reading.traces.get(question) ?? [];
    for (const span of this.untold) span.className = "untold";
    for (const [number, span] of this.spans) {
      const marks = {
        told: true,
        ahead: number >= time,
        now: number === time - 1 && time < reading.length,
        rests: rests.has(number),
        "turned-away": traces[number]?.let_in === false,
      };
      span.className = number < reading.length ? Object.keys(marks).filter((name) => marks[name]).join(" ") : "untold";
    }
  }

  // Brings a sentence into view where the text is longer than its frame; whoever types is left alone.
  reveal(time) {
    const span = this.spans.get(time - 1);
    const frame = this.marks.parentElement;
    if (!span || this.field === document.activeElement) return;
    const below = span.offsetTop + span.offsetHeight - frame.scrollTop - frame.clientHeight;
    if (below > 0 || span.offsetTop < frame.scrollTop) frame.scrollTop = span.offsetTop - frame.clientHeight / 3;
  }
}
