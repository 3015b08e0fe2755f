// The page: answers as one types, with what was read on the stage, and its whole state in the address.

import { memoryAt } from "./banks.js";
import { Cards } from "./cards.js";
import * as client from "./client.js";
import { copyOnClick } from "./copying.js";
import { at, button, element, setText, speak } from "./dom.js";
import { clearErrors, showError, showStoryError } from "./errors.js";
import { EXAMPLES } from "./examples.js";
import { TASKS, readFile, upTo } from "./files.js";
import { GraphView } from "./graph.js";
import { Live } from "./live.js";
import { Race } from "./race.js";
import { Reading } from "./reading.js";
import { hasEnded, hasWord, placesOf } from "./sentences.js";
import { asCurl, asPython, fromHash, toHash, toTell } from "./share.js";
import { Stage } from "./stage.js";
import { StoryView } from "./story.js";

const PAUSE_MS = 220; // of typing, before what was typed is read
const REST_MS = 140; // on one time, before its reasons are fetched
const SPEAK_MS = 600; // of rest, before a screen reader is told
const MAX_SEED = 2 ** 31;

const field = at("story");
const story = new StoryView(at("marks"), field);
const cards = new Cards(at("questions"), {
  select: (card) => stage.select(card),
  goTo: (time) => stage.goTo(time),
  change: (now) => changed({ now }),
});
const stage = new Stage(story, cards, moved);
const graph = new GraphView(at("graph"));
const live = new Live({ hear, show: showLive, fail: failLive });
const race = new Race(at("race"), modelChosen);

let whole = true; // whether a last sentence without a full stop counts as told
let example = null; // whose story this is, while nobody has changed it
let expected = new Map();
let reading = new AbortController();
let reasoning = new AbortController();
const timers = {};
let lastAction = () => read();

function later(name, milliseconds, act) {
  clearTimeout(timers[name]);
  timers[name] = setTimeout(act, milliseconds);
}

async function kindly(action) {
  lastAction = action;
  try {
    await action();
  } catch (error) {
    if (error.name !== "AbortError") showError(error);
  }
}

// --- reading what was typed

// The model that was chosen, where it is not the server's own.
function modelChosen() {
  const [option] = at("model").selectedOptions;
  return option && !option.defaultSelected ? option.value : undefined;
}

// The questions to ask, and which of them each card shows; one that is still being typed waits.
function asked() {
  const questions = [];
  const places = cards.questions.map(({ text, waiting }, i) => {
    const wrong = text && !hasWord(text);
    cards.setError(i, wrong ? "A question needs a word." : "");
    return text && !wrong && !waiting ? questions.push(text) - 1 : undefined;
  });
  return { questions, places };
}

// Something was typed: it is read after a pause, or `now`.
function changed({ now = false } = {}) {
  example = null;
  markExample();
  setText(at("file-error"), "");
  race.close();
  story.edit(field.value);
  stage.draw();
  later("read", now ? 0 : PAUSE_MS, () => kindly(read));
}

// `stay` keeps the time that one looks at; so does whoever goes to another one while the reply is on its way. The card
// that has the focus when the reply comes shows the question.
async function read({ time, question, stay = false } = {}) {
  const text = field.value;
  const before = stage.time;
  const typing = !whole && !hasEnded(text); // then the last sentence waits
  const { questions, places } = asked();
  reading.abort();
  reading = new AbortController();
  if (!questions.length || !hasWord(text)) {
    showNothing(questions, places);
    return;
  }
  const model = modelChosen();
  const reply = await client.history({ story: text, questions, model }, reading.signal);
  clearErrors();
  const sentences = typing ? reply.sentences.slice(0, -1) : reply.sentences;
  story.tell(text, sentences);
  story.edit(field.value); // who types does not wait for the reply
  if (!sentences.length) return;
  const found = new Reading({ sentences, questions, history: reply.history.slice(0, sentences.length), expected });
  found.model = model;
  const keep = (stay && !stage.atEnd) || stage.time !== before;
  stage.show(found, { time: keep ? stage.time : time, question: places[cards.focused] ?? question, places });
  if (live.on) await live.follow(found.sentences, questions, model).catch(failLive);
}

function showNothing(questions, places) {
  const waiting = cards.questions.some((one) => one.waiting);
  clearErrors();
  if (!hasWord(field.value)) showStoryError("There is no story yet: type one, or click an example.");
  if (!cards.questions.some((one) => one.text)) setText(at("questions-error"), "Type a question: the memory is built for it before it reads.");
  if (!waiting) stage.show(new Reading({ sentences: [], questions, history: [] }), { places });
}

// --- what follows when time or question has changed

function moved() {
  later("reason", stage.reading.reason(stage.question, stage.time) ? 0 : REST_MS, () => kindly(reason));
  speak(stage.spoken, SPEAK_MS);
  later("hash", REST_MS, remember);
  drawGraph();
}

async function reason() {
  reasoning.abort();
  reasoning = new AbortController();
  const { reading: shown, question, time } = stage;
  try {
    await explain(shown, question, time, reasoning.signal);
  } catch (error) {
    if (error.field !== "explain") throw error;
    shown.unexplained = error.message; // a story may be too long for that
  }
  if (stage.reading !== shown) return;
  stage.draw();
  story.reveal(1 + (shown.reason(question, time)?.sentences[0] ?? -1));
  drawGraph();
}

// Fetches why: at this time, and for the whole story, which tells what each sentence did.
async function explain(shown, question, time, signal) {
  for (const moment of new Set([shown.traces.has(question) ? time : shown.length, time])) {
    if (!moment || shown.reason(question, moment)) continue;
    const body = { story: shown.sentences.slice(0, moment), question: shown.questions[question], model: shown.model, explain: true };
    const { answers: [answer] } = await client.answer(body, signal);
    shown.setReason(question, moment, answer);
  }
}

function drawGraph() {
  if (!at("graph-fold").open) return;
  const traces = stage.reading.traces.get(stage.question) ?? [];
  if (graph.traces !== traces) graph.setStory(traces);
  graph.draw(memoryAt(traces, stage.time), stage.time);
}

// --- the state in the address

const state = () => ({
  story: field.value,
  questions: cards.questions.map((one) => one.text).filter(Boolean),
  model: modelChosen(),
  time: stage.atEnd ? undefined : stage.time,
  question: stage.question,
  example,
});

async function remember() {
  const hash = await toHash(state());
  if (hash !== location.hash) history.replaceState(null, "", hash);
}

// Shows what a link holds, or the first example.
async function restore() {
  const found = (await fromHash(location.hash)) ?? {};
  if (found.model) at("model").value = found.model;
  if (!at("model").value) at("model").selectedIndex = 0;
  if (found.example === Race.ID) await startRace();
  else if (found.story != null) await showStory({ story: found.story, questions: found.questions.map((question) => ({ question })) }, found);
  else await showExample(EXAMPLES.find(({ id }) => id === found.example) ?? EXAMPLES[0], found);
}

// What is handed on as Python and as curl.
const shown = () => ({ ...stage.reading, model: modelChosen(), token: client.hasToken() });

// --- where stories come from

async function showStory({ story: text, questions }, { time, question = 0, named = null } = {}) {
  race.close();
  setText(at("file-error"), "");
  field.value = text;
  story.edit(text);
  expected = new Map(questions.filter(({ answer }) => answer != null).map(({ question: asking, answer }) => [asking, answer]));
  if (questions.length || !cards.cards.length) cards.set(questions.length ? questions.map((one) => one.question) : [""]);
  whole = true;
  example = named;
  markExample();
  try {
    await read({ time, question });
  } catch (error) {
    if (error.name !== "AbortError") stage.clear(); // what was read before is of another story
    throw error;
  }
}

async function showExample({ id, story: text, questions }, { time, question } = {}) {
  await showStory({ story: text, questions: questions.map(([asking]) => ({ question: asking })) }, { time, question, named: id });
}

async function startRace() {
  if (!cards.cards.length) await showExample(EXAMPLES[0]);
  example = Race.ID;
  markExample();
  await remember();
  await race.run();
}

function markExample() {
  for (const one of at("examples").querySelectorAll("button")) {
    one.setAttribute("aria-pressed", String(one.dataset.id === example));
    if (one.dataset.id === example) one.scrollIntoView({ block: "nearest", inline: "nearest" }); // on a phone they are one long row
  }
}

async function generate() {
  const task = at("task").value;
  const { sentences, questions } = await client.generate(task, Math.floor(Math.random() * MAX_SEED));
  chooseModelFor(task);
  await showStory(upTo(sentences, questions.at(-1)));
}

// A model of one task knows no other: where that of the new task is at hand, it takes over.
function chooseModelFor(task) {
  const own = `qa${task}`;
  if (/^qa\d+$/.test(at("model").value) && [...at("model").options].some(({ value }) => value === own)) at("model").value = own;
}

async function loadFile(file) {
  try {
    await showStory(await readFile(file));
  } catch (error) {
    if (error instanceof client.Problem || error.name === "AbortError") throw error;
    setText(at("file-error"), error.message);
  }
}

// --- a story that others tell too

// Writes what somebody else told where it was told: behind what was told before, before what is still being typed.
function hear(text, number) {
  const earlier = placesOf(live.told.slice(0, number), field.value);
  const found = earlier.every(({ start }) => start >= 0); // else the story was changed in the meantime
  const place = found ? (earlier.at(-1)?.end ?? 0) : field.value.length;
  const [before, after] = [/\S$/.test(field.value.slice(0, place)), /^\S/.test(field.value.slice(place))];
  field.setRangeText(`${before ? " " : ""}${text}${after ? " " : ""}`, place, place, "preserve");
  changed({ now: true });
}

function showLive(id) {
  setText(at("live-error"), "");
  setText(at("live-command"), toTell(id, "Mary went to the garden.", client.hasToken()));
}

function failLive(error) {
  if (error.name !== "AbortError") setText(at("live-error"), error.message);
}

function toggleLive() {
  live.on = at("live").open;
  if (live.on) kindly(() => read({ stay: true }));
  else live.leave();
}

// --- wiring

function listen() {
  field.addEventListener("input", () => {
    whole = false;
    changed();
  });
  field.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
    event.preventDefault();
    whole = true;
    changed({ now: true });
  });
  field.addEventListener("blur", () => {
    if (!whole && !hasEnded(field.value)) changed({ now: true });
    whole = true;
  });
  at("add").addEventListener("click", () => cards.add().field.focus());
  at("generate").addEventListener("click", () => kindly(generate));
  at("task").addEventListener("change", () => kindly(generate));
  at("file").addEventListener("change", (event) => {
    const [file] = event.target.files;
    if (file) kindly(() => loadFile(file));
    event.target.value = "";
  });
  at("model").addEventListener("change", () => kindly(() => read({ stay: true })));
  at("graph-fold").addEventListener("toggle", drawGraph);
  at("notice-close").addEventListener("click", () => (at("notice").hidden = true));
  at("token-form").addEventListener("submit", useToken);
  copyOnClick("copy-link", "The link", async () => location.href.split("#")[0] + (await toHash(state())));
  copyOnClick("copy-python", "Python", () => asPython(shown()));
  copyOnClick("copy-curl", "curl", () => asCurl(shown()));
  copyOnClick("copy-live", "The command", () => at("live-command").textContent);
  at("live").addEventListener("toggle", toggleLive);
  addEventListener("pagehide", () => live.leave());
  addEventListener("hashchange", async () => {
    if (await fromHash(location.hash)) kindly(restore); // the link past the head leads to a part of the page, not to a story
  });
}

async function useToken(event) {
  event.preventDefault();
  client.setToken(at("token").value.trim());
  at("token").value = "";
  at("notice").hidden = true;
  await kindly(lastAction);
}

async function start() {
  if (!at("model").options.length) {
    const served = await client.models();
    at("model").replaceChildren(...served.models.map((name) => new Option(name, name, name === served.default, name === served.default)));
  }
  try {
    await restore();
  } finally {
    field.readOnly = false; // until there was a story, one would have been lost that was typed
  }
}

function listExamples() {
  const buttons = EXAMPLES.map((one) => [one.id, one.title, () => kindly(() => showExample(one))]);
  buttons.push([Race.ID, "Race: 4 000 sentences", () => kindly(startRace)]);
  at("examples").replaceChildren(...buttons.map(([id, title, act]) => {
    const item = element("li");
    item.append(button("example", title, act));
    item.firstChild.dataset.id = id;
    return item;
  }));
}

at("task").replaceChildren(...TASKS.map((name, i) => new Option(`${i + 1}  ${name}`, i + 1)));
listExamples();
listen();
kindly(start);
