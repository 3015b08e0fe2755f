// Why: the sentences that an answer rests on, and how little was read for it, in words.

import { button, count, element } from "./dom.js";
import { kindOf, said } from "./reading.js";

export function drawWhy(root, reading, question, time, goTo) {
  const answer = reading.answer(question, time);
  const reason = reading.reason(question, time);
  if (!reading.length) root.replaceChildren();
  else if (!answer) root.replaceChildren(element("p", "muted", "Nothing has been told yet."));
  else if (!reason) root.replaceChildren(element("p", "muted", reading.unexplained ?? "…"));
  else root.replaceChildren(restsOn(reading, reason, answer, goTo), read(reason), others(reason));
}

function restsOn(reading, { sentences }, answer, goTo) {
  const root = element("p", "rests-on");
  const parts = sentences.map((number) => button("link rests", reading.sentences[number], () => goTo(number + 1)));
  if (parts.length) root.append(element("span", "muted", `“${said(answer)}” rests on `), ...parts.flatMap((part) => [part, " "]));
  else root.append(element("span", "muted", unsupported(answer)));
  return root;
}

function unsupported(answer) {
  const known = `“${said(answer)}” rests on no single sentence: without any one of them it stays.`;
  return { unknown: "No sentence says so yet.", guess: "A guess: it rests on no sentence." }[kindOf(answer)] ?? known;
}

function read({ entities_read: held, entities, banks_read: banks, banks_created: created }) {
  const where = created > 1 ? ` from ${banks === 1 ? "the last" : banks} of ${count(created, "bank")}` : "";
  return element("p", "muted", `Read ${held} of ${count(entities, "word")}${where}.`);
}

function others({ top }) {
  const listed = top.filter((other) => other.score >= 0.005).slice(0, 3);
  const text = listed.map(({ answer, score }) => `${answer} ${(100 * score).toFixed(score < 0.1 ? 1 : 0)} %`).join(" · ");
  return element("p", "muted", text ? `Next: ${text}` : "No other answer is close.");
}
