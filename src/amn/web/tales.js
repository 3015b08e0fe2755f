// Stories of any length, the same each time: strangers walk about, and a few sentences of a plot come among them.

const SYLLABLES = "ba cha do fe go ka li mo na pu ra si to vi ze".split(" ");
export const PEOPLE = "Anna Boris Carla Deniz Elena Farid Greta Hugo Ines Jonas Kaito Leila".split(" ");
const PLACES = "kitchen garden office hallway bathroom bedroom cellar attic library park school cinema".split(" ");
const MOVES = ["went", "moved", "travelled", "journeyed"];
export const CARRYING = ["Mary took the football.", "Mary went to the garden.", "Mary dropped the football.", "Mary moved to the kitchen."];
export const GIVING = ["Fred picked up the apple.", "Fred went to the garden.", "Fred gave the apple to Bill.", "Bill handed the apple to Mary."];
const SPACING = 9; // sentences between two of the plot

// A small generator of random numbers (mulberry32), so that everybody gets the same story.
function dice(seed) {
  return (sides) => {
    seed = (seed + 0x6d2b79f5) | 0;
    let mixed = Math.imul(seed ^ (seed >>> 15), 1 | seed);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) % sides;
  };
}

// Strangers are of many made-up names unless a cast is given.
export function longStory(length, plot, cast) {
  const roll = dice(7);
  const pick = (list) => list[roll(list.length)];
  const name = () => (cast ? pick(cast) : stranger(pick));
  const story = Array.from({ length }, () => `${name()} ${pick(MOVES)} to the ${pick(PLACES)}.`);
  plot.forEach((sentence, i) => (story[length - SPACING * (plot.length - i)] = sentence));
  return story;
}

function stranger(pick) {
  const name = pick(SYLLABLES) + pick(SYLLABLES) + pick(SYLLABLES) + pick(SYLLABLES);
  return name[0].toUpperCase() + name.slice(1);
}
