// Stories from files and from tasks, as {sentences, questions: [{question, answer}]}.

export const TASKS = [
  "single supporting fact", "two supporting facts", "three supporting facts", "two-argument relations",
  "three-argument relations", "yes/no questions", "counting", "lists and sets", "simple negation",
  "indefinite knowledge", "basic coreference", "conjunction", "compound coreference", "time reasoning",
  "basic deduction", "basic induction", "positional reasoning", "size reasoning", "path finding",
  "agent's motivations",
];

export const EXAMPLE = {
  sentences: [
    "Mary moved to the bathroom.", "John went to the hallway.", "Daniel went back to the hallway.",
    "Sandra moved to the garden.", "John moved to the office.", "Sandra journeyed to the bathroom.",
    "Mary moved to the hallway.", "Daniel travelled to the office.",
  ],
  questions: [{ question: "Where is Mary?" }],
};

export const MAX_FILE_BYTES = 1_000_000;

// The sentences of a text, cut as the Python interface cuts them.
export function splitSentences(text) {
  const found = text.match(/[^.!?\n]+[.!?]*/g) ?? [];
  return found.map((sentence) => sentence.trim()).filter((sentence) => /[\p{L}\p{N}]/u.test(sentence));
}

// The first story of a file: bAbI text, JSON lines, or plain text.
export function parseFile(text) {
  const first = text.trimStart();
  if (first.startsWith("{")) return parseJson(first.split("\n", 1)[0]);
  if (/^1 \S/.test(first)) return parseBabi(first);
  return { sentences: text.split(/\r?\n/).filter((line) => line.trim()), questions: [] };
}

function parseJson(line) {
  const { story, question, answer, questions = [] } = JSON.parse(line);
  if (story === undefined) throw new Error("no story");
  const asked = question ? [{ question, answer }] : questions;
  return { sentences: [story].flat().map(String), questions: asked.map((q) => ({ question: String(q.question), answer: q.answer })) };
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
  if (!asked) return { sentences, questions: [] };
  return { sentences: sentences.slice(0, asked.after), questions: [asked] };
}
