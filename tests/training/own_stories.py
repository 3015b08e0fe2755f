"""Data such as people bring: a log of robots, a table of a warehouse, and sentences in German."""

import csv
import json
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

Row = dict[str, Any]
ROBOTS = ("R2", "Unit7", "K9", "Bolt", "Scout4")
DEPOTS = tuple(f"Depot {number}" for number in range(1, 6))
CRATES = ("red", "blue", "green", "heavy")


def robots(stories: int = 400, *, seed: int = 0) -> Iterator[Row]:
    """Robots drive between depots and carry crates; each story has three questions."""
    rng = Random(seed)
    for _ in range(stories):
        yield _Floor(rng).story(rng.randint(4, 12))


class _Floor:
    """Where robots and crates are."""

    def __init__(self, rng: Random) -> None:
        self.rng = rng
        self.robot = dict.fromkeys(rng.sample(ROBOTS, 3), "")
        self.crate = {crate: rng.choice(DEPOTS) for crate in rng.sample(CRATES, 2)}
        self.carried: dict[str, str] = {}

    def story(self, events: int) -> Row:
        told = [f"The {crate} crate stands in {depot}." for crate, depot in self.crate.items()]
        told += [self._drive(robot) for robot in self.robot]
        told += [self._event() for _ in range(events)]
        return {"story": told, "questions": [self._where(), self._carries(), self._is_in()]}

    def _event(self) -> str:
        robot = self.rng.choice(list(self.robot))
        if robot in self.carried and self.rng.random() < 0.4:
            return f"{robot} puts down the {self.carried.pop(robot)} crate."
        here = [crate for crate, depot in self.crate.items() if depot == self.robot[robot]]
        free = [crate for crate in here if crate not in self.carried.values()]
        if free and robot not in self.carried:
            self.carried[robot] = self.rng.choice(free)
            return f"{robot} picks up the {self.carried[robot]} crate."
        return self._drive(robot)

    def _drive(self, robot: str) -> str:
        self.robot[robot] = self.rng.choice([depot for depot in DEPOTS if depot != self.robot[robot]])
        if robot in self.carried:
            self.crate[self.carried[robot]] = self.robot[robot]
        return f"{robot} {self.rng.choice(('drives', 'moves', 'rolls'))} to {self.robot[robot]}."

    def _where(self) -> Row:
        robot = self.rng.choice(list(self.robot))
        return {"question": f"Where is {robot}?", "answer": self.robot[robot]}

    def _carries(self) -> Row:
        robot = self.rng.choice([*self.robot, *self.carried])
        found = f"{self.carried[robot]} crate" if robot in self.carried else "nothing"
        return {"question": f"What does {robot} carry?", "answer": found}

    def _is_in(self) -> Row:
        crate = self.rng.choice(list(self.crate))
        depot = self.rng.choice([self.crate[crate], self.rng.choice(DEPOTS)])
        right = "yes" if self.crate[crate] == depot else "no"
        return {"question": f"Is the {crate} crate in {depot}?", "answer": right}


ITEMS, SHELVES = ("bolts", "cables", "lamps", "screws", "tapes"), ("A1", "A2", "B1", "B2", "C1")
PEOPLE = ("Ada", "Kurt", "Mina", "Omar")


def inventory(stories: int = 400, *, seed: int = 0) -> Iterator[Row]:
    """A table of events in a warehouse: one text, one question and one answer in a row."""
    rng = Random(seed)
    for _ in range(stories):
        shelf, by, told = {}, {}, []
        for item in rng.sample(ITEMS, 3) + [rng.choice(ITEMS) for _ in range(rng.randint(1, 5))]:
            person, place = rng.choice(PEOPLE), rng.choice(SHELVES)
            told.append(f"{person} {rng.choice(('stored', 'moved', 'put'))} the {item} on shelf {place}.")
            shelf[item], by[item] = place, person
        item = rng.choice(list(shelf))
        where, who = (f"On which shelf are the {item}?", shelf[item]), (f"Who handled the {item} last?", by[item])
        question, answer = rng.choice((where, who))
        yield {"id": rng.randrange(10**6), "context": " ".join(told), "query": question, "label": answer}


GERMANS, ROOMS = ("Anna", "Jürgen", "Käthe", "Bernd"), ("Küche", "Garten", "Büro", "Flur", "Keller", "Bad")
THINGS = ("Schlüssel", "Löffel", "Ball")


def german(stories: int = 400, *, seed: int = 0) -> Iterator[Row]:
    """Who is where and who holds what, in German."""
    rng = Random(seed)
    for _ in range(stories):
        room: dict[str, str] = {}
        held: dict[str, str] = {}
        told: list[str] = []
        for person in rng.sample(GERMANS, 3) + [rng.choice(GERMANS) for _ in range(rng.randint(2, 6))]:
            free = [thing for thing in THINGS if thing not in held]
            if person in room and free and rng.random() < 0.4:
                held[rng.choice(free)] = person
                told.append(f"{person} nimmt den {list(held)[-1]}.")
            else:
                room[person] = rng.choice([place for place in ROOMS if place != room.get(person)])
                told.append(f"{person} geht in {_IN[room[person]]} {room[person]}.")
        person = rng.choice(list(room))
        asked = [{"question": f"Wo ist {person}?", "answer": room[person]}]
        asked += [{"question": f"Wer hat den {thing}?", "answer": by} for thing, by in list(held.items())[:1]]
        yield {"story": told, "questions": asked}


_IN = {"Küche": "die", "Garten": "den", "Büro": "das", "Flur": "den", "Keller": "den", "Bad": "das"}


def write_jsonl(rows: Iterator[Row], path: Path) -> Path:
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")
    return path


def write_csv(rows: Iterator[Row], path: Path) -> Path:
    found = list(rows)
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(found[0]))
        writer.writeheader()
        writer.writerows(found)
    return path
