"""Stories that mix all kinds of facts of the 20 tasks, worded in many ways, with questions that may have no answer.

Answers follow the conventions of bAbI wherever it has one, so that no story and question have two answers:

- Where somebody is, the latest sentence says; an either-or is `maybe` for both places, and a denial only denies.
- Who takes a thing is where it is, and who gives one is where the receiver is, also if that becomes plain only later.
- *It* is the thing told of last and *both* the two; who leaves a thing in a place is there too, but not in a box.
- Before a place means before the last time there; a gift means the latest one that has what the question names.
- Lists are joined by commas: things in the order first taken, people in the order first told of.
- States are closed: who was told of holds `nothing` but what the story gave them, and `nobody` holds a thing that lies.
- Who likes or is married to whom is open: what is not told or denied is `unknown`, and ties hold both ways. What is
  taller than something is taller than all that this is taller than; the tallest is known where it follows of all.
- Numbers are those of things told by number: what somebody had, got, lost, gave and was given of a kind.
- Who buys or gets something in a place is there by that; *there* is where somebody was told to be.
- *I* is somebody like others, and answered as `I`; my keys, her keys and the keys are the same.
- `unknown` is what the story never tells: somebody or something that it lacks, a place left open, a time, a reason or a
  gift that it does not mention.
"""

from amn.data.tasks.mixed.config import MixedConfig
from amn.data.tasks.mixed.generate import mixed_stories

__all__ = ["MixedConfig", "mixed_stories"]
