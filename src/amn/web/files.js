// Stories from files, as {story, questions: [{question, answer}]}.

export const TASKS = [
  "single supporting fact", "two supporting facts", "three supporting facts", "two-argument relations",
  "three-argument relations", "yes/no questions", "counting", "lists and sets", "simple negation",
  "indefinite knowledge", "basic coreference", "conjunction", "compound coreference", "time reasoning",
  "basic deduction", "basic induction", "positional reasoning", "size reasoning", "path finding",
  "agent's motivations",
];

const MAX_FILE_BYTES = 1_000_000;

// The first story of a file: bAbI text, JSON lines, or plain text. What is wrong with it is said by the error.
export async function readFile(file) {
  if (file.size > MAX_FILE_BYTES) throw new Error(`${file.name} is too large: the limit is 1 MB.`);
  try {
    return parse(new TextDecoder("utf-8", { fatal: true }).decode(await file.arrayBuffer()));
  } catch {
    throw new Error(`${file.name} is no text that this page can read: try plain text, bAbI or JSON lines.`);
  }
}

function parse(text) {
  const first = text.trimStart();
  if (first.startsWith("{")) return parseJson(first.split("\n", 1)[0]);
  if (/^1 \S/.test(first)) return parseBabi(first);
  return { story: text.trim(), questions: [] };
}

function parseJson(line) {
  const { story, question, answer, questions = [] } = JSON.parse(line);
  if (story === undefined) throw new Error("no story");
  const asked = question ? [{ question, answer }] : questions;
  return { story: [story].flat().map(String).join("\n"), questions: asked.map((q) => ({ question: String(q.question), answer: q.answer })) };
}

function parseBabi(text) {
  const sentences = [];
  let last = null;
  for (const line of text.split(/\r?\n/)) {
    const [, number, rest] = /^(\d+) (.*)$/.exec(line) ?? [];
    if (!rest || (number === "1" && sentences.length)) break;
    const [told, answer] = rest.split("\t");
    if (answer === undefined) sentences.push(told.trim());
    else last = { question: told.trim(), answer, after: sentences.length };
  }
  return upTo(sentences, last);
}

// A story as it was when its question was asked.
export function upTo(sentences, asked) {
  return { story: sentences.slice(0, asked?.after).join("\n"), questions: asked ? [asked] : [] };
}
