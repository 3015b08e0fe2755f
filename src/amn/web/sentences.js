// Where sentences stand in a text. How a text is cut is for the server to say: one rule cuts for the page, Python and files.

const WORD = /[\p{L}\p{N}]/u;
const STOP = /(?:[.!?…।॥。！？]["'”’」』»)\]_]*|\n)\s*$/;

export const hasWord = (text) => WORD.test(text);

// Whether the last sentence of a text has come to its end; else it is still being typed.
export const hasEnded = (text) => STOP.test(text);

// The places of the sentences that were found in a text: [{ number, start, end }].
export function placesOf(sentences, text) {
  let end = 0;
  return sentences.map((sentence, number) => {
    const start = text.indexOf(sentence, end);
    end = start + sentence.length;
    return { number, start, end };
  });
}

// The places after an edit, of the sentences that it left alone.
export function afterEdit(places, before, after) {
  const shorter = Math.min(before.length, after.length);
  let head = 0;
  while (head < shorter && before[head] === after[head]) head++;
  let tail = 0;
  while (tail < shorter - head && before.at(-1 - tail) === after.at(-1 - tail)) tail++;
  const moved = after.length - before.length;
  return places
    .filter(({ start, end }) => end <= head || start >= before.length - tail)
    .map((place) => (place.end <= head ? place : { ...place, start: place.start + moved, end: place.end + moved }));
}
