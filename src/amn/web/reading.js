// What was read of a story for its questions: the answers after each sentence, and the reasons for them.

const KEPT_TRACES = 1000; // how many of the latest sentences an explanation goes back

export const kindOf = ({ answer, known }) => (answer === "unknown" ? "unknown" : known ? "known" : "guess");

export const percent = (score) => (score >= 0.9995 ? "> 99.9\u00a0%" : `${(100 * score).toFixed(score > 0.995 ? 1 : 0)}\u00a0%`);

const DIRECTIONS = { n: "north", e: "east", s: "south", w: "west" };
const PATH = /^[nesw](,[nesw])+$/;
const WORDS = /[\p{L}\p{N}'’-]+/gu;

// Items of a list with space between them, and the steps of a path as words.
export function spaced({ answer }) {
  const items = answer.split(",");
  return (PATH.test(answer) ? items.map((step) => DIRECTIONS[step]) : items).join(", ");
}

// How sentences write their words: "Mary", not "mary". The first word of a sentence counts where there is no other.
export function spellingOf(sentences) {
  const found = new Map();
  for (const sentence of sentences) {
    [...sentence.matchAll(WORDS)].forEach(([word], place) => {
      const known = word.toLowerCase().replaceAll("’", "'");
      if (place || !found.has(known)) found.set(known, word);
    });
  }
  return found;
}

// An answer in the words of the story; models know small letters alone.
export function spelled(answer, spelling) {
  const written = (text) => text.replace(WORDS, (word) => spelling.get(word) ?? word);
  return kindOf(answer) === "unknown" ? answer : { ...answer, answer: written(answer.answer) };
}

// The answer as one says it to a person: a guess as a guess, and an unknown as what it means.
export function said(answer) {
  const sayings = { unknown: "the story does not say", guess: `not sure: ${spaced(answer)}, ${percent(answer.score)}` };
  return sayings[kindOf(answer)] ?? spaced(answer);
}

const same = (one, other) => one.answer === other.answer && kindOf(one) === kindOf(other);

// Times count sentences: the answer at time 3 is the one after the third sentence, and at time 0 there is none.
export class Reading {
  // `history` has for each sentence the answers to all questions; `reasons` and `traces` may come later.
  constructor({ sentences, questions, history, expected = new Map() }) {
    this.spelling = spellingOf(sentences);
    Object.assign(this, { sentences, questions, expected, history: history.map((answers) => answers.map((one) => spelled(one, this.spelling))) });
    this.reasons = new Map();
    this.traces = new Map();
  }

  get length() {
    return this.sentences.length;
  }

  answer(question, time) {
    return this.history[time - 1]?.[question];
  }

  // Stretches of time with one answer: [{ first, last, answer }], times from 1.
  runs(question) {
    const found = [];
    this.history.forEach((answers, i) => {
      const answer = answers[question];
      const run = found.at(-1);
      if (run && same(run.answer, answer)) run.last = i + 1;
      else found.push({ first: i + 1, last: i + 1, answer });
    });
    return found;
  }

  // When the answer at a time had come.
  since(question, time) {
    return this.runs(question).findLast((run) => run.first <= time)?.first ?? 0;
  }

  reason(question, time) {
    return this.reasons.get(`${question} ${time}`);
  }

  // Why an answer was given, as the server explains it; that of the last sentence tells what each one did.
  setReason(question, time, { explanation, ...answer }) {
    const attention = new Map();
    for (const bank of explanation.banks) {
      for (const { word, attention: share } of bank.entities) attention.set(word, Math.max(share, attention.get(word) ?? 0));
    }
    const top = answer.top.map((other) => spelled(other, this.spelling));
    this.reasons.set(`${question} ${time}`, { ...answer, top, attention });
    const heard = explanation.sentences.length || explanation.let_in === 0;
    if (heard && time > (this.traces.get(question)?.length ?? 0)) {
      this.traces.set(question, tracesOf(this.sentences.slice(0, time), explanation.sentences));
    }
  }
}

// A trace for each sentence. What a gate turned away has left none; of a long story only the latest are kept.
function tracesOf(sentences, traces) {
  const told = new Map(traces.map((trace) => [trace.sentence, trace]));
  const cut = traces.length >= KEPT_TRACES;
  let banks = 1;
  return sentences.map((text, sentence) => {
    const trace = told.get(sentence) ?? { sentence, text, banks, moves: [], depth: {}, strengths: {}, let_in: cut };
    banks = trace.banks;
    return trace;
  });
}
