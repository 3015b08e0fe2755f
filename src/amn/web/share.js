// The state of the page as a link, and what it shows as Python and as curl.

const LONGEST_PLAIN = 4000; // characters of a story that a link holds as they are; a longer one is packed

// What a link holds: story, questions, model, the time where it is not the end, and which question is looked at.
export async function toHash({ story, questions, model, time, question, example }) {
  const found = new URLSearchParams();
  if (example) found.set("example", example);
  else if (story.length <= LONGEST_PLAIN) found.set("story", story);
  else found.set("packed", await packed(story));
  if (!example) questions.forEach((asked) => found.append("ask", asked));
  if (model) found.set("model", model);
  if (time !== undefined) found.set("at", time);
  if (question) found.set("why", question);
  return `#${found}`;
}

// The state that a link holds, or null where it holds none.
export async function fromHash(hash) {
  const found = new URLSearchParams(hash.replace(/^#/, ""));
  const example = found.get("example") ?? undefined;
  const story = found.has("packed") ? await unpacked(found.get("packed")) : found.get("story");
  if (story == null && !example) return null;
  const number = (name) => (/^\d{1,6}$/.test(found.get(name) ?? "") ? Number(found.get(name)) : undefined);
  return { story, questions: found.getAll("ask"), model: found.get("model") ?? undefined, time: number("at"), question: number("why"), example };
}

async function packed(text) {
  const stream = new Blob([text]).stream().pipeThrough(new CompressionStream("deflate-raw"));
  const bytes = new Uint8Array(await new Response(stream).arrayBuffer());
  const binary = Array.from(bytes, (byte) => String.fromCharCode(byte)).join("");
  return btoa(binary).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");
}

async function unpacked(code) {
  try {
    const bytes = Uint8Array.from(atob(code.replaceAll("-", "+").replaceAll("_", "/")), (letter) => letter.charCodeAt(0));
    return await new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate-raw"))).text();
  } catch {
    return null; // a link that was cut short holds nothing
  }
}

// JSON texts are Python literals too: both know the same escapes.
const literal = (value) => JSON.stringify(value);

const listed = (texts) => `[\n${texts.map((text) => `    ${literal(text)},\n`).join("")}]`;

export function asPython({ sentences, questions, model }) {
  return [
    "import amn",
    "",
    `qa = amn.load(${model ? literal(model) : ""})`,
    `story = ${listed(sentences)}`,
    `for answer in qa(story, ${listed(questions)}):`,
    "    print(answer.question, answer)",
    "",
  ].join("\n");
}

function curl(path, body, token) {
  const lines = [`curl ${location.origin}${path}`, "-H 'content-type: application/json'"];
  if (token) lines.push("-H \"authorization: Bearer $AMN_TOKEN\"");
  return `${[...lines, `-d '${JSON.stringify(body).replaceAll("'", "'\\''")}'`].join(" \\\n  ")}\n`;
}

export function asCurl({ sentences, questions, model, token }) {
  return curl("/answer", { story: sentences, question: questions, ...(model && { model }), explain: true }, token);
}

// How others tell a live memory a sentence.
export const toTell = (id, sentence, token) => curl(`/memories/${id}/sentences`, { sentences: [sentence] }, token);
