// A story that others tell too: it is kept in a live memory, whose events say what was told there.

import * as client from "./client.js";

const AGAIN_MS = 1000; // before a stream that broke off is opened again

export class Live {
  // `hear(text, number)` is called with each sentence that somebody else told; `show(id)` when the memory is another.
  constructor({ hear, show, fail }) {
    Object.assign(this, { hear, show, fail, on: false, told: [] });
  }

  // Tells the memory what is new of a story; a story that was changed, or other questions, get a new memory.
  async follow(sentences, questions, model) {
    if (!this.on || !sentences.length || !questions.length) return;
    const purpose = JSON.stringify([questions, model]);
    if (this.id && this.purpose === purpose && this.told.every((text, i) => text === sentences[i])) {
      await this.tell(sentences.slice(this.told.length));
      return;
    }
    this.leave();
    this.purpose = purpose;
    const { signal } = (this.abort = new AbortController());
    const { id } = await client.openMemory({ questions, model }, signal);
    this.id = id;
    await this.tell(sentences);
    this.show(id);
    this.listen(id, signal).catch((error) => signal.aborted || this.fail(error));
  }

  async tell(sentences) {
    if (!sentences.length) return;
    this.told.push(...sentences); // before they come back as events
    for await (const _ of client.tell(this.id, sentences, this.abort.signal));
  }

  async listen(id, signal) {
    let heard = this.told.length;
    while (!signal.aborted) {
      for await (const { sentence, text } of client.events(id, heard, signal)) {
        heard = sentence + 1;
        if (this.told[sentence] === text) continue;
        this.told.splice(sentence, 0, text);
        this.hear(text, sentence);
      }
      await new Promise((resolve) => setTimeout(resolve, AGAIN_MS));
    }
  }

  leave() {
    this.abort?.abort();
    if (this.id) client.forget(this.id);
    Object.assign(this, { id: undefined, told: [] });
  }
}
