"""Asks a model what visitors ask (visitors.txt): what is wrong, and how much of it with a score above .9.

python scripts/visitors.py babi
"""

import sys
from pathlib import Path

import amn
from amn.data.story import same_answer
from amn.evaluation.metrics import CONFIDENT

QUESTIONS = Path(__file__).with_name("visitors.txt")


def main(name: str) -> None:
    """Prints the wrong answers and their number."""
    qa = amn.load(name)
    lines = [line.split(" | ") for line in QUESTIONS.read_text("utf-8").splitlines() if not line.startswith("#")]
    wrong = confident = 0
    for story, question, right in lines:
        answer = qa(story, question)
        if not any(same_answer(answer.answer, one) for one in right.split(" or ")):
            wrong, confident = wrong + 1, confident + (answer.score > CONFIDENT)
            print(f"{answer.score:.2f} {answer.answer}, not {right}: {story} {question}")
    print(f"{len(lines)} questions, {wrong} wrong, {confident} of these with a score above {CONFIDENT}")


if __name__ == "__main__":
    main(*sys.argv[1:])
