// Time: a slider over the sentences, and under it a track for each question that shows its answer over time.

import { element, setText } from "./dom.js";
import { kindOf, said, spaced } from "./reading.js";

const STEP_MS = 700; // between sentences while the story plays
const LONGEST_PLAY_MS = 15_000;
const HUES = 6;
const NEEDS_KEYS = "textarea, input, select, button, a, summary, dialog, [tabindex='0']";

export class TimeView {
  // `parts` are the elements: slider, label, play, back, forward, tracks.
  constructor(parts, setTime) {
    Object.assign(this, { parts, setTime, time: 0, length: 0, playing: null });
    const go = (time) => () => {
      this.pause();
      setTime(time());
    };
    parts.slider.addEventListener("input", go(() => Number(parts.slider.value)));
    parts.back.addEventListener("click", go(() => this.time - 1));
    parts.forward.addEventListener("click", go(() => this.time + 1));
    parts.play.addEventListener("click", () => this.toggle());
    document.addEventListener("keydown", (event) => this.onKey(event, go));
  }

  // Where nothing else needs the keys, they move time.
  onKey(event, go) {
    if (event.altKey || event.ctrlKey || event.metaKey || event.target.closest?.(NEEDS_KEYS)) return;
    const acts = { ArrowLeft: go(() => this.time - 1), ArrowRight: go(() => this.time + 1), " ": () => this.toggle() };
    if (!acts[event.key]) return;
    event.preventDefault();
    acts[event.key]();
  }

  toggle() {
    if (this.playing) this.pause();
    else this.play();
  }

  play() {
    if (!this.length) return;
    if (this.time >= this.length) this.setTime(0);
    const step = Math.min(STEP_MS, LONGEST_PLAY_MS / this.length);
    this.playing = setInterval(() => {
      if (this.time + 1 >= this.length) this.pause();
      this.setTime(this.time + 1);
    }, step);
    setText(this.parts.play, "Pause");
  }

  pause() {
    clearInterval(this.playing);
    this.playing = null;
    setText(this.parts.play, "Play");
  }

  draw(reading, question, time) {
    const { slider, label, tracks } = this.parts;
    Object.assign(this, { time, length: reading.length });
    slider.max = reading.length;
    slider.value = time;
    const answer = reading.answer(question, time);
    slider.setAttribute("aria-valuetext", `after ${time} of ${reading.length} sentences${answer ? `: ${said(answer)}` : ""}`);
    setText(label, `${time} / ${reading.length}`);
    tracks.style.setProperty("--at", reading.length ? time / reading.length : 0);
    if (this.drawn !== reading) this.drawTracks(reading);
    [...tracks.children].forEach((row, i) => row.classList.toggle("selected", i === question && reading.questions.length > 1));
  }

  drawTracks(reading) {
    this.drawn = reading;
    const hues = new Map();
    for (const answers of reading.history) for (const { answer } of answers) if (!hues.has(answer)) hues.set(answer, hues.size % HUES);
    this.parts.tracks.replaceChildren(...reading.questions.map((question, i) => this.row(reading, question, i, hues)));
  }

  row(reading, question, number, hues) {
    const runs = reading.runs(number);
    const root = element("div", "track-row");
    const track = element("div", "track");
    track.setAttribute("role", "img");
    const told = runs.map((run) => `from sentence ${run.first} ${said(run.answer)}`).join(", ");
    track.setAttribute("aria-label", `${question} ${told}`);
    track.append(...runs.map((run) => this.run(run, reading.length, hues)));
    root.append(element("p", "track-name muted", question), track);
    return root;
  }

  run({ first, last, answer }, length, hues) {
    const kind = kindOf(answer);
    const root = element("span", `run ${kind}${kind === "unknown" ? "" : ` hue${hues.get(answer.answer)}`}`);
    root.append(element("span", "", kind === "unknown" ? "–" : kind === "guess" ? `${spaced(answer)}?` : spaced(answer)));
    root.style.setProperty("--left", (first - 1) / length);
    root.style.setProperty("--width", (last - first + 1) / length);
    root.title = `${said(answer)}: sentence ${first}${last > first ? ` to ${last}` : ""}`;
    root.addEventListener("click", () => {
      this.pause();
      this.setTime(first);
    });
    return root;
  }
}
