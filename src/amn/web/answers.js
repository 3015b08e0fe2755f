// The answers: from the last bank and from all banks side by side, with what each of them read.

import { element } from "./banks.js";

const MAX_SQUARES = 60;

const percent = (score) => (score >= 0.9995 ? "> 99.9 %" : `${(100 * score).toFixed(score > 0.995 ? 1 : 0)} %`);
const milliseconds = (value) => `${value < 10 ? value.toFixed(1) : Math.round(value)} ms`;

// Draws one card for each question; `last` and `all` are answers in the order of the questions.
export function drawAnswers(container, last, all, expected) {
  container.replaceChildren(...last.map((answer, i) => card(answer, all[i], expected[i])));
}

function card(last, all, expected) {
  const root = element("article", "answer");
  root.append(element("p", "question", last.question));
  const line = element("p", "answer-line");
  const kind = last.known ? "answer-word" : "answer-word unsure";
  line.append(element("strong", kind, said(last)), element("span", "score", percent(last.score)));
  if (expected != null) line.append(verdict(last.answer, expected));
  root.append(line, others(last), table(last, all), element("p", "saving", saving(last, all)));
  return root;
}

// The answer as one says it to a person: a guess as a guess, and an unknown as what it means.
function said(answer) {
  if (answer.answer === "unknown") return "the story does not say";
  return answer.known ? answer.answer : `not sure: ${answer.answer}`;
}

function verdict(answer, expected) {
  const right = answer.toLowerCase() === expected.toLowerCase();
  return element("span", right ? "verdict right" : "verdict", right ? "✓ as expected" : `expected: ${expected}`);
}

function others(answer) {
  const listed = answer.top.filter((other) => other.answer !== answer.answer && other.score >= 0.005).slice(0, 3);
  const text = listed.map((other) => `${other.answer} ${percent(other.score)}`).join(" · ");
  return element("p", "muted others", text ? `next: ${text}` : "no other answer comes near");
}

function table(last, all) {
  const root = element("table", "compare");
  const head = element("tr");
  for (const name of ["From", "Answer", "Score", "Read / stored", "Time"]) {
    const cell = element("th", "", name);
    cell.scope = "col";
    head.append(cell);
  }
  const rows = [row("Last bank", last), row(all.banks_created > 1 ? `All ${all.banks_created} banks` : "All banks", all)];
  root.append(element("thead"), element("tbody"));
  root.tHead.append(head);
  root.tBodies[0].append(...rows);
  return root;
}

function row(name, answer) {
  const root = element("tr");
  const title = element("th", "", name);
  title.scope = "row";
  const read = element("td", "read");
  read.append(squares(answer), element("span", "count", `${answer.entities_read} / ${answer.entities}`));
  const time = element("td", "figure", milliseconds(answer.milliseconds));
  root.append(title, element("td", "", answer.answer), element("td", "figure", percent(answer.score)), read, time);
  return root;
}

// A square for each entity, full where it was read; an entity that several banks hold is read more than once.
function squares({ entities_read: read, entities: stored }) {
  const root = element("span", "squares");
  root.setAttribute("aria-hidden", "true");
  const most = Math.max(read, stored);
  const scale = Math.min(1, MAX_SQUARES / Math.max(1, most));
  for (let i = 0; i < Math.round(most * scale); i++) {
    const kind = i >= Math.round(read * scale) ? "" : i < Math.round(stored * scale) ? "full" : "full again";
    root.append(element("i", kind));
  }
  return root;
}

function saving(last, all) {
  if (!last.entities_read || all.entities_read <= last.entities_read) return "";
  const factor = (all.entities_read / last.entities_read).toFixed(1).replace(/\.0$/, "");
  const result = last.answer === all.answer ? "the same answer" : "another answer";
  return `All banks give ${result}, for ${factor} times the reading.`;
}
