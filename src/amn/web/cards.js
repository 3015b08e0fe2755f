// The questions that stand beside the story: each with its answer, how sure it is, and when that last changed.

import { button, element, setText } from "./dom.js";
import { kindOf, percent, said } from "./reading.js";

export class Cards {
  // Acts: `select(number)` and `goTo(time)`; where questions may change also `change(now)`, else they are fixed.
  constructor(list, acts) {
    Object.assign(this, { list, acts, cards: [] });
  }

  // What stands in each card; `waiting` where it is still being typed.
  get questions() {
    return this.cards.map((card) => ({ text: card.question(), waiting: Boolean(card.waiting) }));
  }

  // Which card has the focus; -1 for none.
  get focused() {
    return this.cards.findIndex((card) => card.root.contains(document.activeElement));
  }

  set(questions) {
    this.cards = [];
    this.list.replaceChildren();
    questions.forEach((question) => this.add(question));
  }

  add(question = "") {
    const card = this.acts.change ? this.editable(question) : this.fixed(question);
    for (const touched of ["focusin", "click"]) card.root.addEventListener(touched, () => this.acts.select(this.cards.indexOf(card)));
    card.line = element("p", "answer-line");
    card.word = element("strong", "answer-word");
    card.sure = element("span", "sure");
    card.verdict = element("span", "verdict");
    card.line.append(card.word, card.sure, card.verdict);
    card.meter = element("span", "meter");
    card.meter.append(element("i"));
    card.since = element("p", "since muted");
    card.error = element("p", "error");
    card.error.setAttribute("role", "alert");
    card.root.append(card.line, card.meter, card.since, card.error);
    this.cards.push(card);
    this.list.append(card.root);
    return card;
  }

  fixed(question) {
    const root = element("li", "asked");
    const name = button("question", question, () => {});
    root.append(name);
    return { root, question: () => question };
  }

  editable(question) {
    const root = element("li", "asked");
    const head = element("div", "asked-head");
    const field = element("textarea", "question"); // it grows with what is typed; a question has one line all the same
    Object.assign(field, { value: question, placeholder: "Where is Mary?", rows: 1, spellcheck: false, maxLength: 500 });
    field.setAttribute("aria-label", "Question");
    const card = { root, field, question: () => field.value.trim() };
    field.addEventListener("input", () => this.typed(card, !/[?？]\s*$/.test(field.value)));
    field.addEventListener("change", () => this.typed(card, false));
    field.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" || event.isComposing) return;
      event.preventDefault();
      this.typed(card, false);
    });
    const remove = button("quiet remove", "×", () => this.remove(card));
    remove.setAttribute("aria-label", "Remove this question");
    head.append(field, remove);
    root.append(head);
    return card;
  }

  // A question is asked when its question mark has come, or when one leaves it.
  typed(card, waiting) {
    card.waiting = waiting;
    this.acts.change(!waiting);
  }

  remove(card) {
    const place = this.cards.indexOf(card);
    this.cards.splice(place, 1);
    card.root.remove();
    const next = this.cards[Math.min(place, this.cards.length - 1)];
    (next?.field ?? this.list.parentElement.querySelector("#add"))?.focus();
    this.acts.change(true);
  }

  setError(number, text) {
    const card = this.cards[number];
    if (!card) return;
    setText(card.error, text);
    if (text) card.field?.setAttribute("aria-invalid", "true");
    else card.field?.removeAttribute("aria-invalid");
  }

  // `places` says which question of the reading each card shows; a card that was not asked yet shows none.
  draw(reading, selected, time, places) {
    this.cards.forEach((card, i) => {
      const number = places[i];
      card.root.classList.toggle("selected", number === selected && this.cards.length > 1);
      if (number === selected) card.root.setAttribute("aria-current", "true");
      else card.root.removeAttribute("aria-current");
      this.drawAnswer(card, reading, number, time);
    });
  }

  drawAnswer(card, reading, number, time) {
    const answer = number === undefined ? undefined : reading.answer(number, time);
    const kind = answer ? kindOf(answer) : "none";
    for (const name of ["known", "guess", "unknown", "none"]) card.root.classList.toggle(name, name === kind);
    setText(card.word, answer ? said(answer) : number === undefined ? "" : "nothing told yet");
    const sure = answer && percent(answer.score);
    setText(card.sure, { known: `${sure} sure`, unknown: `${sure} sure of that` }[kind] ?? "");
    card.meter.style.setProperty("--score", answer?.score ?? 0);
    this.drawVerdict(card, answer, time === reading.length ? reading.expected.get(reading.questions[number]) : undefined);
    this.drawSince(card, answer && reading, number, time, kind);
  }

  drawVerdict(card, answer, expected) {
    const right = answer && answer.answer.toLowerCase() === expected?.toLowerCase();
    card.verdict.classList.toggle("right", Boolean(right));
    setText(card.verdict, !answer || expected == null ? "" : right ? "✓ as expected" : `expected: ${expected}`);
  }

  drawSince(card, reading, number, time, kind) {
    const since = reading ? reading.since(number, time) : 0;
    const silent = since === 1 && kind === "unknown";
    const text = silent ? "" : (reading?.sentences[since - 1] ?? "");
    if (card.since.dataset.said === `${since} ${text}`) return;
    card.since.dataset.said = `${since} ${text}`;
    if (!text) card.since.replaceChildren(silent ? "nothing so far" : "");
    else card.since.replaceChildren(`since sentence ${since}: `, button("link", text, () => this.acts.goTo(since)));
  }
}
