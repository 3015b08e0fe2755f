// The story: a text that can be edited at any time, and behind it the same text with its sentences marked.

import { element } from "./dom.js";
import { sentencesOf } from "./sentences.js";

export class StoryView {
  // `field` is left out where the story is only replayed.
  constructor(marks, field) {
    Object.assign(this, { marks, field, spans: [], parts: [] });
  }

  // Draws a text; its sentences keep their marks until they are marked anew.
  write(text, parts = sentencesOf(text)) {
    this.parts = parts;
    const before = this.spans.map((span) => span.className);
    this.spans = this.parts.map((part, i) => element("span", before[i] ?? "", part.text));
    const gaps = this.parts.map((part, i) => text.slice(this.parts[i - 1]?.end ?? 0, part.start));
    const rest = text.slice(this.parts.at(-1)?.end ?? 0);
    // a last empty line has no height by itself
    this.marks.replaceChildren(...this.spans.flatMap((span, i) => [gaps[i], span]), `${rest}\u200b`);
  }

  // Marks what was told by now, what the answer rests on, and what was turned away.
  mark(reading, question, time) {
    const rests = new Set(reading.reason(question, time)?.sentences);
    const traces = reading.traces.get(question) ?? [];
    this.spans.forEach((span, i) => {
      const told = i < reading.length && reading.sentences[i] === this.parts[i].text;
      span.className = told ? "told" : "untold";
      span.classList.toggle("ahead", told && i >= time);
      span.classList.toggle("now", i === time - 1 && time < reading.length);
      span.classList.toggle("rests", told && rests.has(i));
      span.classList.toggle("turned-away", told && traces[i]?.let_in === false);
    });
  }

  // Brings a sentence into view where the text is longer than its frame; whoever types is left alone.
  reveal(time) {
    const span = this.spans[time - 1];
    const frame = this.marks.parentElement;
    if (!span || this.field === document.activeElement) return;
    const below = span.offsetTop + span.offsetHeight - frame.scrollTop - frame.clientHeight;
    if (below > 0 || span.offsetTop < frame.scrollTop) frame.scrollTop = span.offsetTop - frame.clientHeight / 3;
  }
}
