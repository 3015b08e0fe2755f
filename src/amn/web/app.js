// The page: reads a story into a live memory, and lets one walk through what happened.

import { drawAnswers } from "./answers.js";
import { BanksView, describe, element, memoryAt } from "./banks.js";
import * as client from "./client.js";
import { GraphView } from "./graph.js";
import { EXAMPLE, MAX_FILE_BYTES, TASKS, parseFile, splitSentences, upTo } from "./stories.js";

const STEP_MS = 420; // between sentences while the story plays
const LONGEST_PLAY_MS = 8000;
const REST_MS = 160; // the slider rests this long before the answer at that time is fetched
const MAX_SEED = 2 ** 31;

const at = (id) => document.getElementById(id);
const banksView = new BanksView(at("banks"));
const graphView = new GraphView(at("graph"));

// One reading of a story; a new one replaces it whole.
let run = newRun([], new Map(), undefined);
function newRun(questions, expected, model) {
  const found = { traces: [], time: 0, answers: new Map(), changes: new Map(), abort: new AbortController() };
  return { ...found, questions, expected, model, generated: expected };
}

let playing = null;
let resting = null;
let lastAction = () => readStory();

// What a person asked for clears the last notice and can be tried again with a token.
async function kindly(action) {
  lastAction = action;
  hideNotice();
  await told(action);
}

// What the page does by itself leaves a notice alone: nobody may have read it yet.
async function told(action) {
  try {
    await action();
  } catch (error) {
    if (error.name !== "AbortError") showNotice(error);
  }
}

function showNotice(error) {
  const known = error instanceof client.Problem;
  at("notice-text").textContent = known ? error.message : `This page stumbled: ${error.message}`;
  at("token-form").hidden = error.status !== 401;
  at("notice").hidden = false;
  if (error.status === 401) at("token").focus();
}

function hideNotice() {
  at("notice").hidden = true;
}

// --- reading

function questionsTyped() {
  return at("questions").value.split("\n").map((line) => line.trim()).filter(Boolean);
}

async function readStory() {
  const questions = questionsTyped();
  const story = at("story").value;
  if (!questions.length) throw new client.Problem("Type a question first: the memory is built for it before it reads.");
  if (!story.trim()) throw new client.Problem("There is no story yet: type one, load a file, or generate one.");
  startRun(questions);
  const mine = run;
  setBusy(true);
  try {
    await fillMemory(mine, splitSentences(story));
  } finally {
    if (run === mine) setBusy(false);
  }
}

function startRun(questions) {
  leaveRun();
  pause();
  clearTimeout(resting);
  run = newRun(questions, run.generated, at("model").value || undefined);
}

function leaveRun() {
  run.abort.abort();
  if (run.memory) client.forget(run.memory);
  run.memory = null;
}

function setBusy(busy) {
  document.body.classList.toggle("busy", busy);
  at("read").setAttribute("aria-busy", String(busy));
}

async function fillMemory(mine, sentences) {
  const { signal } = mine.abort;
  const { id } = await client.openMemory({ questions: mine.questions, model: mine.model }, signal);
  if (run !== mine) return client.forget(id);
  mine.memory = id;
  followAnswers(mine);
  for await (const trace of client.tell(id, sentences, signal)) mine.traces.push(trace);
  const last = await client.ask(id, { banks: 1 }, signal);
  const all = await client.ask(id, { banks: 0 }, signal);
  mine.answers.set(mine.traces.length, { last: last.answers, all: all.answers });
  showRun();
}

// Notes which sentences change an answer. It is an extra: where the server has no stream to spare, the page does without.
async function followAnswers(mine) {
  try {
    for await (const { sentence, changes } of client.changes(mine.memory, mine.abort.signal)) {
      mine.changes.set(sentence, changes.map(({ question, answer }) => [mine.questions[question], answer.answer]));
      if (run === mine) markChange(sentence);
    }
  } catch (error) {
    if (error.name !== "AbortError" && !(error instanceof client.Problem)) throw error;
  }
}

function showRun() {
  drawTold();
  graphView.setStory(run.traces);
  at("time").max = run.traces.length;
  showAnswers(run.traces.length);
  if (banksView.still.matches) {
    setTime(run.traces.length);
  } else {
    setTime(0);
    play();
  }
}

function drawTold() {
  const items = run.traces.map((trace, i) => {
    const item = element("li");
    const button = element("button", "told-sentence", trace.text);
    button.type = "button";
    button.addEventListener("click", () => {
      pause();
      setTime(i + 1);
    });
    item.append(button);
    if (trace.created) item.append(element("span", "told-mark", `+ bank ${trace.banks - 1}`));
    return item;
  });
  at("told").replaceChildren(...items);
  [...run.changes.keys()].forEach(markChange);
  if (!run.edited) showEditor(false); // who types already keeps the box
}

function markChange(sentence) {
  const item = at("told").children[sentence];
  if (!item || item.querySelector(".told-answer")) return;
  const answers = run.changes.get(sentence).map(([question, answer]) => (run.questions.length > 1 ? `${question} ${answer}` : answer));
  item.append(element("span", "told-mark told-answer", `→ ${answers.join(", ")}`));
}

function showEditor(editing) {
  at("story").hidden = !editing;
  at("told").hidden = editing;
  at("edit").hidden = editing;
}

// --- time

function setTime(time) {
  run.time = Math.min(Math.max(time, 0), run.traces.length);
  at("time").value = run.time;
  drawTime();
  clearTimeout(resting);
  if (!playing) resting = setTimeout(() => told(() => answerAt(run.time)), REST_MS);
}

function drawTime() {
  const { traces, time } = run;
  const memory = memoryAt(traces, time);
  banksView.draw(memory);
  graphView.draw(memory, time);
  at("time-label").textContent = `${time} / ${traces.length}`;
  at("time").setAttribute("aria-valuetext", `after ${time} of ${traces.length} sentences`);
  at("sentence").textContent = memory.current?.text ?? "Before the first sentence.";
  at("happened").textContent = memory.current ? describe(memory.current) : "The memory is empty; it knows the questions.";
  [...at("told").children].forEach((item, i) => markTold(item, i, time));
}

function markTold(item, i, time) {
  item.classList.toggle("ahead", i >= time);
  const current = i === time - 1;
  item.classList.toggle("current", current);
  if (!current) item.removeAttribute("aria-current");
  else item.setAttribute("aria-current", "step");
  const list = item.parentElement;
  if (current && list.scrollHeight > list.clientHeight) {
    list.scrollTop = item.offsetTop - list.offsetTop - list.clientHeight / 2;
  }
}

function play() {
  if (!run.traces.length) return;
  pause();
  if (run.time >= run.traces.length) setTime(0);
  const step = Math.min(STEP_MS, LONGEST_PLAY_MS / run.traces.length);
  playing = setInterval(() => {
    if (run.time + 1 >= run.traces.length) pause();
    setTime(run.time + 1);
  }, step);
  at("play").textContent = "Pause";
}

function pause() {
  clearInterval(playing);
  playing = null;
  at("play").textContent = "Play";
}

// --- answers

// The answers from the first sentences alone, as if the story ended there.
async function answerAt(time) {
  const mine = run;
  if (!mine.traces.length || !time) return;
  if (!mine.answers.has(time)) {
    const story = mine.traces.slice(0, time).map((trace) => trace.text);
    const body = { story, question: mine.questions, model: mine.model };
    const [last, all] = await Promise.all([1, 0].map((banks) => client.answer({ ...body, banks }, mine.abort.signal)));
    mine.answers.set(time, { last: last.answers, all: all.answers });
  }
  if (run === mine && mine.time === time) showAnswers(time);
}

function showAnswers(time) {
  const { last, all } = run.answers.get(time);
  const whole = time === run.traces.length;
  const expected = run.questions.map((question) => (whole ? run.expected.get(question) : undefined));
  drawAnswers(at("answer-list"), last, all, expected);
  at("answers-title").textContent = run.questions.length > 1 ? "Answers" : "Answer";
  at("answers-when").textContent = whole ? `after all ${time} sentences` : `after ${time} of ${run.traces.length} sentences`;
}

// --- where stories come from

function setStory({ sentences, questions }) {
  at("story").value = sentences.join("\n");
  if (questions.length) at("questions").value = questions.map((asked) => asked.question).join("\n");
  run.generated = new Map(questions.map((asked) => [asked.question, asked.answer]));
  fitQuestions();
  showEditor(true);
}

async function generate() {
  const task = at("task").value;
  const { sentences, questions } = await client.generate(task, Math.floor(Math.random() * MAX_SEED));
  chooseModelFor(task);
  setStory(upTo(sentences, questions.at(-1)));
  await readStory();
}

// A model of one task knows no other: where that of the new task is at hand, it takes over.
function chooseModelFor(task) {
  const models = at("model");
  const own = `qa${task}`;
  if (/^qa\d+$/.test(models.value) && [...models.options].some((option) => option.value === own)) models.value = own;
}

async function loadFile(file) {
  if (file.size > MAX_FILE_BYTES) throw new client.Problem(`${file.name} is too big: at most 1 MB fits here.`);
  let story;
  try {
    story = parseFile(new TextDecoder("utf-8", { fatal: true }).decode(await file.arrayBuffer()));
  } catch {
    throw new client.Problem(`${file.name} is no text that this page can read: try plain text, bAbI or JSON lines.`);
  }
  setStory(story);
  await readStory();
}

function fitQuestions() {
  const lines = at("questions").value.split("\n").length;
  at("questions").rows = Math.min(Math.max(lines, 1), 6);
}

// --- wiring

function listen() {
  at("ask").addEventListener("submit", (event) => {
    event.preventDefault();
    kindly(readStory);
  });
  at("generate").addEventListener("click", () => kindly(generate));
  at("task").addEventListener("change", () => kindly(generate));
  at("file").addEventListener("change", (event) => {
    const [file] = event.target.files;
    if (file) kindly(() => loadFile(file));
    event.target.value = "";
  });
  at("model").addEventListener("change", () => kindly(readStory));
  at("edit").addEventListener("click", () => {
    showEditor(true);
    at("story").focus();
  });
  for (const touched of ["focus", "input"]) at("story").addEventListener(touched, () => (run.edited = true));
  at("questions").addEventListener("input", fitQuestions);
  at("notice-close").addEventListener("click", hideNotice);
  at("token-form").addEventListener("submit", useToken);
  listenToTime();
  addEventListener("pagehide", leaveRun);
}

function listenToTime() {
  const step = (by) => () => {
    pause();
    setTime(run.time + by);
  };
  at("time").addEventListener("input", (event) => {
    pause();
    setTime(Number(event.target.value));
  });
  at("back").addEventListener("click", step(-1));
  at("forward").addEventListener("click", step(1));
  at("play").addEventListener("click", () => (playing ? pause() : play()));
  document.addEventListener("keydown", (event) => onKey(event, step));
}

function onKey(event, step) {
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
    event.preventDefault();
    kindly(readStory);
    return;
  }
  if (event.altKey || event.ctrlKey || event.metaKey || event.target.closest("textarea, input, select, button, a, .banks")) return;
  const actions = { ArrowLeft: step(-1), ArrowRight: step(1), " ": () => (playing ? pause() : play()) };
  if (actions[event.key]) {
    event.preventDefault();
    actions[event.key]();
  }
}

async function useToken(event) {
  event.preventDefault();
  client.setToken(at("token").value.trim());
  at("token").value = "";
  await kindly(lastAction);
}

async function start() {
  if (!at("model").options.length) {
    const served = await client.models();
    at("model").replaceChildren(...served.models.map((name) => new Option(name, name, false, name === served.default)));
  }
  await readStory();
}

at("task").replaceChildren(...TASKS.map((name, i) => new Option(`${i + 1}  ${name}`, i + 1)));
setStory(EXAMPLE);
listen();
kindly(start);
