// Memory banks over time: what the traces of the server say, and how it is drawn.

const MAX_CHIPS = 60; // of one bank; more would be read by nobody
const ENTER = { duration: 320, easing: "cubic-bezier(.2,.8,.3,1)" };

// The memory after the first `time` sentences: for each word its deepest bank and its strength.
export function memoryAt(traces, time) {
  const words = new Map();
  for (const trace of traces.slice(0, time)) {
    for (const [word, depth] of Object.entries(trace.depth)) {
      words.set(word, { word, depth, strength: trace.strengths[word] ?? 0 });
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
  const fresh = trace.moves.filter((move) => move.from === null);
  const deeper = trace.moves.filter((move) => move.from !== null || move.to > 0);
  const parts = [];
  if (fresh.length) parts.push(`${fresh.length} new ${fresh.length === 1 ? "word" : "words"}`);
  if (trace.created) parts.push(`bank ${trace.banks - 1} was created`);
  for (const [bank, words] of groupBy(deeper, (move) => move.to)) {
    parts.push(`${words.map((move) => move.word).join(", ")} → bank ${bank}`);
  }
  return parts.length ? parts.join(" · ") : "Nothing moved.";
}

function groupBy(items, key) {
  const groups = new Map();
  for (const item of items) groups.set(key(item), [...(groups.get(key(item)) ?? []), item]);
  return groups;
}

export function element(tag, className, text) {
  const made = document.createElement(tag);
  if (className) made.className = className;
  if (text !== undefined) made.append(text);
  return made;
}

// Draws banks into a container, and keeps its chips from one drawing to the next so that they can move.
export class BanksView {
  constructor(container) {
    this.container = container;
    this.columns = [];
    this.chips = new Map();
    this.still = matchMedia("(prefers-reduced-motion: reduce)");
  }

  draw(memory) {
    const before = this.places();
    while (this.columns.length > memory.banks) this.columns.pop().root.remove();
    while (this.columns.length < memory.banks) this.columns.push(this.addColumn(this.columns.length));
    const used = new Set();
    this.columns.forEach((column, bank) => this.fill(column, bank, memory, used));
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

  fill({ root, note, list, more }, bank, memory, used) {
    const last = bank === memory.banks - 1;
    const held = [...memory.words.values()].filter((entity) => entity.depth >= bank);
    held.sort((a, b) => b.strength - a.strength || a.word.localeCompare(b.word));
    root.classList.toggle("last", last);
    const role = last && bank ? "the most relevant" : bank ? "more relevant" : "everything";
    const bankless = memory.current && !memory.words.size;
    note.textContent = bankless ? "This model keeps no banks of entities." : `${role} · ${held.length}`;
    more.textContent = held.length > MAX_CHIPS ? `and ${held.length - MAX_CHIPS} more` : "";
    const chips = held.slice(0, MAX_CHIPS).map((entity) => this.chip(bank, entity, memory, used));
    list.replaceChildren(...chips);
  }

  chip(bank, { word, depth, strength }, memory, used) {
    const key = `${bank} ${word}`;
    used.add(key);
    const chip = this.chips.get(key) ?? this.newChip(key, word);
    const touched = memory.touched.has(word);
    chip.style.setProperty("--strength", strength);
    chip.classList.toggle("copy", depth > bank);
    chip.classList.toggle("touched", touched);
    chip.lastChild.textContent = number(strength);
    const where = depth > bank ? `, also in bank ${depth}` : "";
    chip.title = `${word}: strength ${number(strength)}${where}${touched ? ", changed by this sentence" : ""}`;
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
