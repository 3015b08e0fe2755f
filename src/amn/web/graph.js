// The word graph as SVG: each word keeps its place while the story goes on.

import { number } from "./banks.js";

const SVG = "http://www.w3.org/2000/svg";
const MAX_WORDS = 70;
const ROUNDS = 200;
const PILL_HEIGHT = 24;
const CHARACTER = 7.2;
const GAP = 10;

// Neighbouring words of the sentences, each pair once, with the last sentence that held it.
function edgesOf(traces) {
  const edges = new Map();
  for (const trace of traces) {
    const spoken = wordsOf(trace);
    for (let i = 1; i < spoken.length; i++) {
      if (spoken[i] !== spoken[i - 1]) {
        const [from, to] = [spoken[i - 1], spoken[i]];
        const key = JSON.stringify([from, to]);
        edges.set(key, { from, to, key, sentences: [...(edges.get(key)?.sentences ?? []), trace.sentence] });
      }
    }
  }
  return [...edges.values()];
}

const wordsOf = (trace) => trace.text.toLowerCase().match(/[\p{L}\p{N}]+(?:(?:['’-]|(?<=\p{N})[.:](?=\p{N}))[\p{L}\p{N}]+)*/gu) ?? [];

const pillWidth = (word) => 20 + CHARACTER * Math.min(word.length, 18);

// Places for the words: all repel each other, edges pull together, and nothing leaves the frame.
function layout(words, edges, width, height) {
  const nodes = words.map((word, i) => {
    const angle = i * 2.39996; // the golden angle spreads any number of words evenly
    const reach = 0.4 * Math.sqrt((i + 0.5) / words.length);
    return { word, half: pillWidth(word) / 2, x: width * (0.5 + reach * Math.cos(angle)), y: height * (0.5 + reach * Math.sin(angle)) };
  });
  const byWord = new Map(nodes.map((node) => [node.word, node]));
  const links = edges.map(({ from, to }) => [byWord.get(from), byWord.get(to)]).filter(([a, b]) => a && b);
  const frame = { width, height, ideal: 0.62 * Math.sqrt((width * height) / Math.max(1, nodes.length)) };
  for (let round = 0; round < ROUNDS; round++) settle(nodes, links, frame, 1 - round / ROUNDS);
  for (let round = 0; round < ROUNDS; round++) pairs(nodes, (a, b) => separate(a, b, frame));
  return byWord;
}

function pairs(nodes, act) {
  nodes.forEach((a, i) => nodes.slice(i + 1).forEach((b) => act(a, b)));
}

// One round of Fruchterman and Reingold, with a pull towards the middle that is as flat as the frame.
function settle(nodes, links, frame, heat) {
  const { width, height, ideal } = frame;
  for (const node of nodes) {
    node.dx = ((width / 2 - node.x) * ideal) / width;
    node.dy = ((height / 2 - node.y) * ideal) / height;
  }
  pairs(nodes, (a, b) => push(a, b, (distance) => (ideal * ideal) / distance));
  for (const [a, b] of links) push(a, b, (distance) => -(distance * distance) / ideal / 2.5);
  for (const node of nodes) {
    const length = Math.hypot(node.dx, node.dy) || 1;
    const step = Math.min(length, 1 + 0.12 * width * heat * heat) / length;
    place(node, node.x + node.dx * step, node.y + node.dy * step, frame);
  }
}

function push(a, b, force) {
  const dx = a.x - b.x || 0.1;
  const dy = a.y - b.y || 0.1;
  const distance = Math.hypot(dx, dy);
  const share = force(distance) / distance;
  a.dx += dx * share;
  a.dy += dy * share;
  b.dx -= dx * share;
  b.dy -= dy * share;
}

// Moves two pills apart that lie on each other, along the shorter way.
function separate(a, b, frame) {
  const dx = a.half + b.half + GAP - Math.abs(a.x - b.x);
  const dy = PILL_HEIGHT + GAP - Math.abs(a.y - b.y);
  if (dx <= 0 || dy <= 0) return;
  const [x, y] = dx < dy ? [(Math.sign(a.x - b.x) || 1) * dx * 0.3, 0] : [0, (Math.sign(a.y - b.y) || 1) * dy * 0.3];
  place(a, a.x + x, a.y + y, frame);
  place(b, b.x - x, b.y - y, frame);
}

function place(node, x, y, { width, height }) {
  node.x = clamp(x, node.half + 3, width - node.half - 3);
  node.y = clamp(y, PILL_HEIGHT / 2 + 3, height - PILL_HEIGHT / 2 - 3);
}

const clamp = (value, low, high) => Math.min(Math.max(value, low), Math.max(low, high));

function svg(tag, attributes = {}, text) {
  const made = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  if (text !== undefined) made.append(text);
  return made;
}

export class GraphView {
  constructor(container) {
    this.container = container;
    this.traces = [];
    new ResizeObserver(() => this.place()).observe(container);
  }

  // A story to draw; its words get their places now, so that they stay while time moves.
  setStory(traces) {
    this.traces = traces;
    this.width = 0;
    this.place();
  }

  place() {
    const width = Math.round(this.container.clientWidth);
    if (width === this.width || !width) return;
    this.width = width;
    this.edges = edgesOf(this.traces);
    const words = [...new Set(this.traces.flatMap(wordsOf))].slice(-MAX_WORDS);
    this.height = Math.round(clamp(90 + words.length * (width < 500 ? 20 : 13), 200, 600));
    this.nodes = layout(words, this.edges, width, this.height);
    if (this.memory) this.draw(this.memory, this.time);
  }

  draw(memory, time) {
    [this.memory, this.time] = [memory, time];
    if (!this.width) return;
    const frame = { viewBox: `0 0 ${this.width} ${this.height}`, width: this.width, height: this.height, role: "img" };
    const picture = svg("svg", frame);
    const shown = [...this.nodes.values()].filter((node) => memory.words.has(node.word));
    picture.append(svg("title", {}, `${shown.length} words after ${time} sentences`), arrow());
    for (const edge of this.edges) this.drawEdge(picture, edge, time);
    for (const node of shown) picture.append(this.pill(node, memory));
    this.container.replaceChildren(picture);
  }

  drawEdge(picture, { from, to, sentences }, time) {
    const told = sentences.filter((sentence) => sentence < time);
    const [a, b] = [this.nodes.get(from), this.nodes.get(to)];
    if (!told.length || !a || !b) return;
    const now = told.at(-1) === time - 1;
    const end = now ? boundary(a, b) : b;
    const line = svg("line", { class: now ? "edge now" : "edge", x1: a.x, y1: a.y, x2: end.x, y2: end.y });
    if (now) line.setAttribute("marker-end", "url(#arrow)");
    picture.append(line);
  }

  pill({ word, half, x, y }, memory) {
    const { strength, depth } = memory.words.get(word);
    const last = depth === memory.banks - 1 && depth > 0;
    const classes = ["node", last && "last", memory.touched.has(word) && "touched"].filter(Boolean).join(" ");
    const group = svg("g", { class: classes, transform: `translate(${x.toFixed(1)} ${y.toFixed(1)})` });
    group.style.setProperty("--strength", strength);
    const box = { x: -half, y: -PILL_HEIGHT / 2, width: 2 * half, height: PILL_HEIGHT, rx: PILL_HEIGHT / 2 };
    const label = word.length > 18 ? `${word.slice(0, 17)}…` : word;
    group.append(svg("rect", box), svg("text", { y: 4.5 }, label));
    group.append(svg("title", {}, `${word}: strength ${number(strength)}, bank ${depth}`));
    return group;
  }
}

// Where a line towards b meets the pill of b.
function boundary(a, b) {
  const dx = a.x - b.x;
  const dy = a.y - b.y;
  const scale = Math.min(1, Math.min((b.half + 3) / (Math.abs(dx) || 1e-6), (PILL_HEIGHT / 2 + 3) / (Math.abs(dy) || 1e-6)));
  return { x: b.x + dx * scale, y: b.y + dy * scale };
}

function arrow() {
  const marker = { id: "arrow", viewBox: "0 0 8 8", refX: 7, refY: 4, markerWidth: 7, markerHeight: 7, orient: "auto" };
  const head = svg("marker", { ...marker, markerUnits: "userSpaceOnUse", class: "arrow" });
  head.append(svg("path", { d: "M0 0 8 4 0 8z" }));
  const definitions = svg("defs");
  definitions.append(head);
  return definitions;
}
