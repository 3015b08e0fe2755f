// Buttons that copy.

import { at, speak } from "./dom.js";

const DONE_MS = 1500; // that a button shows that it has copied

export function copyOnClick(id, what, text) {
  at(id).addEventListener("click", async () => copy(await text(), at(id), what));
}

async function copy(text, pressed, what) {
  try {
    await navigator.clipboard.writeText(text);
    speak(`${what} copied.`);
    pressed.classList.add("done");
    setTimeout(() => pressed.classList.remove("done"), DONE_MS);
  } catch {
    at("copy-text").value = text; // not every browser lets a page copy
    at("copy-dialog").showModal();
    at("copy-text").select();
  }
}
