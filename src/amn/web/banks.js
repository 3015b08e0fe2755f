// Memory banks over time: what the traces of the server say, and how it is drawn.

import { count, element } from "./dom.js";

const MAX_CHIPS = 40; // of one bank; more would be read by nobody
const GLOW = 0.05; // an entity whose share of the attention is smaller carries nothing
const COMMON = new Set(("a an and are at back by did do does for from he her his in inside is it no not of on or she than that the " +
  "their them then there these they this those to was were what when where which who why will with").split(" "));
const ENTER = { duration: 320, easing: "cubic-bezier(.2,.8,.3,1)" };

// The memory after the first `time` sentences: for each word its deepest bank, its strength, and who touched it last.
export function memoryAt(traces, time) {
  const words = new Map();
  for (const trace of traces.slice(0, time)) {
    for (const [word, depth] of Object.entries(trace.depth)) {
      words.set(word, { word, depth, strength: trace.strengths[word] ?? 0, touched: trace.sentence });
    }
  }
  const current = traces[time - 1];
  const touched = new Set(current ? Object.keys(current.depth) : []);
  return { words, banks: current?.banks ?? 1, current, touched };
}

export const number = (value) => value.toFixed(2).replace(/^0/, "");

// What a sentence did, in words.
export function describe(trace) {
  if (!trace) return "";
  if (trace.let_in === false) return "Turned away: no question needs it.";
  const fresh = trace.moves.filter((move) => move.from === null);
  const deeper = trace.moves.filter((move) => move.to > 0);
  const parts = [];
  if (fresh.length) parts.push(`${fresh.length} new ${fresh.length === 1 ? "word" : "words"}`);
  if (trace.created) parts.push(`bank ${trace.banks - 1} was created`);
  for (const [bank, moves] of groupBy(deeper, (move) => move.to)) {
    parts.push(`${moves.map((move) => move.word).join(", ")} → bank ${bank}`);
  }
  return parts.length ? parts.join(" · ") : "Nothing moved.";
}

function groupBy(items, key) {
  const groups = new Map();
  for (const item of items) groups.set(key(item), [...(groups.get(key(item)) ?? []), item]);
  return groups;
}

// What matters comes first: what was read, what is deep, what was touched last; common words come last.
function byWeight(attention) {
  const weight = ({ word }) => attention.get(word) ?? 0;
  const common = ({ word }) => Number(COMMON.has(word));
  return (a, b) => weight(b) - weight(a) || common(a) - common(b) || b.depth - a.depth || b.touched - a.touched || a.word.localeCompare(b.word);
}

// Draws banks into a container, and keeps its chips from one drawing to the next so that they can move.
export class BanksView {
  constructor(container) {
    this.container = container;
    this.columns = [];
    this.chips = new Map();
    this.still = matchMedia("(prefers-reduced-motion: reduce)");
  }

  // `attention` is how much the answer rests on each word; empty where it is not known yet.
  draw(memory, attention = new Map()) {
    const before = this.places();
    while (this.columns.length > memory.banks) this.columns.pop().root.remove();
    while (this.columns.length < memory.banks) this.columns.push(this.addColumn(this.columns.length));
    const used = new Set();
    const held = [...memory.words.values()].sort(byWeight(attention));
    this.columns.forEach((column, bank) => this.fill(column, bank, memory, held, attention, used));
    for (const [key, chip] of this.chips) if (!used.has(key)) this.drop(key, chip);
    if (!this.still.matches) this.animate(before, used);
  }

  addColumn(bank) {
    const root = element("section", "bank");
    const title = element("h3", "", `Bank ${bank}`);
    const note = element("p", "muted bank-note");
    const list = element("ul", "chips");
    const more = element("p", "muted");
    root.append(title, note, list, more);
    this.container.append(root);
    return { root, note, list, more };
  }

  fill({ root, note, list, more }, bank, memory, all, attention, used) {
    const last = bank === memory.banks - 1;
    const held = all.filter((entity) => entity.depth >= bank);
    root.classList.toggle("last", last && bank > 0);
    const role = bank === 0 ? "everything: " : last ? "most relevant: " : "";
    const bankless = memory.current && !memory.words.size;
    note.textContent = bankless ? "This model has no banks." : role + count(held.length, "word");
    more.textContent = held.length > MAX_CHIPS ? `and ${held.length - MAX_CHIPS} more` : "";
    const shares = last ? attention : new Map(); // deeper copies are those that were read
    list.replaceChildren(...held.slice(0, MAX_CHIPS).map((entity) => this.chip(bank, entity, memory, shares, used)));
  }

  chip(bank, { word, depth, strength }, memory, attention, used) {
    const key = `${bank} ${word}`;
    used.add(key);
    const chip = this.chips.get(key) ?? this.newChip(key, word);
    const share = attention.get(word) ?? 0;
    const marks = { copy: depth > bank, touched: memory.touched.has(word), read: share >= GLOW, common: COMMON.has(word), deep: bank > 0 };
    for (const [name, holds] of Object.entries(marks)) chip.classList.toggle(name, holds);
    chip.style.setProperty("--share", share);
    chip.lastChild.textContent = marks.read ? `${Math.round(100 * share)} %` : "";
    const where = marks.copy ? `, also in bank ${depth}` : "";
    chip.title = `${word}: strength ${number(strength)}${where}${marks.touched ? ", changed by this sentence" : ""}`;
    return chip;
  }

  newChip(key, word) {
    const chip = element("li", "chip");
    chip.append(element("span", "word", word), element("span", "number"));
    this.chips.set(key, chip);
    return chip;
  }

  drop(key, chip) {
    chip.remove();
    this.chips.delete(key);
  }

  places() {
    const origin = this.container.getBoundingClientRect();
    return new Map([...this.chips].map(([key, chip]) => {
      const box = chip.getBoundingClientRect();
      return [key, { x: box.x - origin.x, y: box.y - origin.y }];
    }));
  }

  // A chip that was there glides to its new place; one that came to a bank comes from the bank before it.
  animate(before, used) {
    const after = this.places();
    for (const key of used) {
      const [bank, word] = key.split(" ");
      const old = before.get(key) ?? before.get(`${bank - 1} ${word}`);
      const now = after.get(key);
      const from = old
        ? { transform: `translate(${old.x - now.x}px, ${old.y - now.y}px)`, opacity: before.has(key) ? 1 : 0.4 }
        : { transform: "scale(.6)", opacity: 0 };
      if (!old || old.x !== now.x || old.y !== now.y) this.chips.get(key).animate([from, {}], ENTER);
    }
  }
}
