// The sentences of a text, with their places in it.

const SENTENCE = /(?:[^.!?।。！？\n]|(?<=\d)\.(?=\d)|(?<=\b(?:Mr|Mrs|Ms|Dr|St))\.(?= ))+(?:[.!?।。！？]+["'”’)\]]*)?/g;
const WORD = /[\p{L}\p{N}]/u;
const LINE_END = /^[^\S\n]*\n/;
const STOP = /[.!?।。！？]["'”’)\]]*$/;

export const hasWord = (text) => WORD.test(text);

// Cut after . ! ? and at line ends, but neither after Mr. nor within 3.5; `ended` is false while one is being typed.
export function sentencesOf(text) {
  return [...text.matchAll(SENTENCE)].filter(([found]) => hasWord(found)).map((match) => {
    const told = match[0].trim();
    const start = match.index + match[0].indexOf(told);
    const end = start + told.length;
    return { text: told, start, end, ended: STOP.test(told) || LINE_END.test(text.slice(end)) };
  });
}
