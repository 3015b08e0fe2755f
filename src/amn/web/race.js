// The race: a story of thousands of sentences in a live memory, answered from all banks and from the last one.

import * as client from "./client.js";
import { at, element } from "./dom.js";
import { percent, said, spelled, spellingOf } from "./reading.js";
import { GIVING, longStory } from "./tales.js";

const SENTENCES = 4000;
const PART = 500; // sentences told at once
const WARM_UP = 4; // rounds that do not count
const ROUNDS = 31;
const SHOWN = 50; // sentences of the end of the story
const FASTER = 1.1; // a smaller difference than this is none
const QUESTION = "Who has the apple?";

const count = (number) => number.toLocaleString("en").replaceAll(",", "\u202f");

const median = (values) => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)];

export class Race {
  static ID = "race";

  constructor(root, model) {
    Object.assign(this, { root, model, abort: new AbortController() });
  }

  close() {
    this.abort.abort();
    this.show(false);
  }

  // While it runs, it has the page for itself.
  show(racing) {
    this.root.hidden = !racing;
    at("sides").hidden = racing;
  }

  async run() {
    this.close();
    this.abort = new AbortController();
    const { signal } = this.abort;
    const progress = this.begin();
    const { id } = await client.openMemory({ questions: [QUESTION], model: this.model() }, signal);
    try {
      const story = longStory(SENTENCES, GIVING);
      const heard = await this.tell(id, story, progress, signal);
      this.finish(story, heard, await this.lanes(id, signal));
    } finally {
      client.forget(id);
    }
  }

  // Tells the story in parts; gives how many sentences left something, which those that a gate turns away do not.
  async tell(id, story, progress, signal) {
    let heard = 0;
    for (let from = 0; from < story.length; from += PART) {
      for await (const trace of client.tell(id, story.slice(from, from + PART), signal)) {
        progress.value = trace.sentence + 1;
        heard += Number(Object.keys(trace.depth).length > 0);
      }
    }
    return heard;
  }

  begin() {
    const title = element("h2", "", `Race: ${count(SENTENCES)} sentences, all banks against the last one`);
    title.id = "race-title";
    const progress = element("progress");
    Object.assign(progress, { max: SENTENCES, value: 0 });
    progress.setAttribute("aria-label", "Sentences told");
    this.root.replaceChildren(title, element("p", "muted", `Telling a live memory ${count(SENTENCES)} sentences …`), progress);
    this.show(true);
    this.root.focus();
    return progress;
  }

  // Both ways in turns, so that whatever slows the machine slows both; the first rounds warm up, and medians count.
  async lanes(id, signal) {
    const times = { last: [], all: [] };
    const answers = {};
    for (let round = 0; round < WARM_UP + ROUNDS; round++) {
      for (const [lane, banks] of [["last", 1], ["all", 0]]) {
        const [answer] = (await client.ask(id, { banks }, signal)).answers;
        answers[lane] = spelled(answer, spellingOf(GIVING));
        if (round >= WARM_UP) times[lane].push(answers[lane].milliseconds);
      }
    }
    const { entities } = answers.all;
    return [ // a person counts a word once, however many banks hold it
      { name: "The last bank", answer: answers.last, words: answers.last.entities_read, milliseconds: median(times.last) },
      { name: `All ${answers.all.banks_created} banks`, answer: answers.all, words: entities, milliseconds: median(times.all) },
    ];
  }

  finish(story, heard, lanes) {
    const [title] = this.root.children;
    const letIn = heard && heard < story.length ? `A gate let in ${count(heard)} of ${count(story.length)} sentences. ` : "";
    const how = `Medians of ${ROUNDS} answers each, alternating, after ${WARM_UP} for warm-up; measured by the server, from question to answer.`;
    this.root.replaceChildren(
      title, element("p", "race-question", QUESTION), table(lanes), element("p", "result", verdict(lanes)),
      element("p", "muted", letIn + how), excerpt(story),
    );
  }
}

function table(lanes) {
  const root = element("table", "lanes");
  const head = element("tr");
  head.append(...["From", "Answer", "Words read", "Time"].map((name) => heading(name, "col")));
  const most = (name) => Math.max(...lanes.map((lane) => lane[name]));
  root.append(head, ...lanes.map((lane) => row(lane, most("words"), most("milliseconds"))));
  return root;
}

function row({ name, answer, words, milliseconds }, mostWords, longest) {
  const root = element("tr");
  const told = element("td", "", `${said(answer)} (${percent(answer.score)})`);
  root.append(heading(name, "row"), told, bar(count(words), words / mostWords), bar(`${milliseconds.toFixed(2)} ms`, milliseconds / longest));
  return root;
}

function heading(text, scope) {
  const cell = element("th", "", text);
  cell.scope = scope;
  return cell;
}

function bar(text, share) {
  const cell = element("td", "lane-bar");
  const line = element("i");
  line.style.setProperty("--share", share);
  cell.append(element("span", "", text), line);
  return cell;
}

// What the figures say, and no more: a difference within the noise is none.
export function verdict([last, all]) {
  const result = last.answer.answer === all.answer.answer ? "The same answer" : "A different answer";
  const faster = all.milliseconds / last.milliseconds;
  const time = faster >= FASTER ? `${faster.toFixed(1)} times as fast` : "in about the same time, most of which is not reading";
  return `${result} from ${count(last.words)} of ${count(all.words)} words, ${time}.`;
}

// The end of the story, with what the answer is about.
function excerpt(story) {
  const root = element("p", "excerpt prose");
  root.append(element("span", "muted", `${count(story.length - SHOWN)} sentences like these, then: `));
  for (const sentence of story.slice(-SHOWN)) root.append(element("span", GIVING.includes(sentence) ? "rests" : "", sentence), " ");
  return root;
}
