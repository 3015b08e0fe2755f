// A reading on the stage: story, answers, time and banks, at one time and for one question. It knows no server.

import { BanksView, describe, memoryAt } from "./banks.js";
import { at, setText } from "./dom.js";
import { Reading, said } from "./reading.js";
import { TimeView } from "./time.js";
import { drawWhy } from "./why.js";

const NOTHING = new Reading({ sentences: [], questions: [], history: [] });

export class Stage {
  // `story` and `cards` are views; `onMove(stage)` is called when time or question has changed.
  constructor(story, cards, onMove = () => {}) {
    Object.assign(this, { story, cards, onMove, reading: NOTHING, question: 0, time: 0, places: [] });
    this.banks = new BanksView(at("banks"));
    const parts = Object.fromEntries(["slider", "label", "play", "back", "forward", "tracks"].map((name) => [name, at(`time-${name}`)]));
    this.clock = new TimeView(parts, (time) => this.goTo(time));
  }

  // Shows a reading. `places` says which of its questions each card shows; `time` is the end where it is left out.
  show(reading, { time = reading.length, question = this.question, places = reading.questions.map((_, i) => i) } = {}) {
    this.clock.pause();
    Object.assign(this, { reading, places });
    this.question = Math.min(question, Math.max(0, reading.questions.length - 1));
    this.time = Math.min(Math.max(time, 0), reading.length);
    this.draw();
    this.onMove(this);
  }

  clear() {
    this.show(NOTHING, { places: [] });
  }

  goTo(time) {
    this.time = Math.min(Math.max(time, 0), this.reading.length);
    this.draw();
    this.story.reveal(this.time);
    this.onMove(this);
  }

  // Selects the question that a card shows.
  select(card) {
    const question = this.places[card];
    if (question === undefined || question === this.question) return;
    this.question = question;
    this.draw();
    this.onMove(this);
  }

  get atEnd() {
    return this.time === this.reading.length;
  }

  draw() {
    const { reading, question, time } = this;
    const traces = reading.traces.get(question) ?? [];
    const memory = memoryAt(traces, time);
    document.body.classList.toggle("has-gate", traces.some((trace) => trace.let_in === false));
    this.story.mark(reading, question, time);
    this.cards.draw(reading, question, time, this.places);
    this.clock.draw(reading, question, time);
    this.banks.draw(memory, reading.reason(question, time)?.attention);
    drawWhy(at("why"), reading, question, time, (there) => this.goTo(there));
    setText(at("now"), reading.sentences[time - 1] ?? (reading.length ? "Before the first sentence." : "Nothing read yet."));
    setText(at("happened"), describe(memory.current));
    setText(at("why-question"), reading.questions.length > 1 ? reading.questions[question] : "");
  }

  // What a screen reader is told when answers have come or time has moved.
  get spoken() {
    const { reading, time } = this;
    const answers = reading.questions.map((question, i) => [question, reading.answer(i, time)]).filter(([, answer]) => answer);
    const when = this.atEnd ? "" : `After ${time} of ${reading.length} sentences. `;
    return when + answers.map(([question, answer]) => `${question} ${said(answer)}.`).join(" ");
  }
}
