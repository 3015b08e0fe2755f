// The HTTP interface, as the page uses it.

const TOKEN_KEY = "amn-token";

// What went wrong, and in which field of the request.
export class Problem extends Error {
  constructor(message, status = 0, field = "") {
    super(message);
    Object.assign(this, { status, field });
  }
}

export function setToken(token) {
  sessionStorage.setItem(TOKEN_KEY, token);
}

export const hasToken = () => sessionStorage.getItem(TOKEN_KEY) !== null;

// What every request says of itself.
export function headers(body, accept = "application/json") {
  const token = sessionStorage.getItem(TOKEN_KEY);
  return {
    accept,
    ...(token && { authorization: `Bearer ${token}` }),
    ...(body !== undefined && { "content-type": "application/json" }),
  };
}

async function send(path, { method = "GET", body, accept, further = {}, signal, keepalive } = {}) {
  let response;
  try {
    const all = { ...headers(body, accept), ...further };
    response = await fetch(path, { method, headers: all, signal, keepalive, body: body && JSON.stringify(body) });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Problem("The server does not answer. Is amn serve still running?");
  }
  if (!response.ok) throw await problem(response);
  return response;
}

async function problem(response) {
  const { detail = `The server refused this (${response.status}).`, field } = await response.json().catch(() => ({}));
  const said = field ? detail.replace(`${field}: `, "") : detail;
  return new Problem(said[0].toUpperCase() + said.slice(1), response.status, field);
}

const json = async (path, options) => (await send(path, options)).json();

export const models = () => json("/models");

export const generate = (task, seed) => json(`/generate?task=${task}&seed=${seed}`);

export const answer = (body, signal) => json("/answer", { method: "POST", body, signal });

// The answers after each sentence.
export const history = (body, signal) => json("/history", { method: "POST", body, signal });

export const openMemory = (body, signal) => json("/memories", { method: "POST", body, signal });

export const ask = (id, body, signal) => json(`/memories/${id}/ask`, { method: "POST", body, signal });

export async function forget(id) {
  // Whether it worked does not matter: a memory that stays goes by itself.
  await send(`/memories/${id}`, { method: "DELETE", keepalive: true }).catch(() => {});
}

// Tells a memory sentences and yields what each did, as it comes.
export async function* tell(id, sentences, signal) {
  const options = { method: "POST", body: { sentences }, accept: "application/x-ndjson", signal };
  const response = await send(`/memories/${id}/sentences`, options);
  for await (const line of lines(response.body)) {
    const event = JSON.parse(line);
    if (event.detail) throw new Problem(event.detail);
    yield event;
  }
}

// What a memory is told after so many sentences, as it is told, by whomever; it ends with the memory.
export async function* events(id, after, signal) {
  const options = { accept: "text/event-stream", further: { "last-event-id": String(after) }, signal };
  const response = await send(`/memories/${id}/events?every=true`, options);
  for await (const line of lines(response.body)) {
    if (line.startsWith("data: ")) yield JSON.parse(line.slice("data: ".length));
  }
}

async function* lines(stream) {
  const reader = stream.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    const { value, done } = await reader.read();
    if (done) break;
    const parts = (rest + value).split("\n");
    rest = parts.pop();
    yield* parts.filter(Boolean);
  }
  if (rest) yield rest;
}
