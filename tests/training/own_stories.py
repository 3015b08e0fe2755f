"""Data such as people bring: logs of robots and a library, a table of a warehouse, a ranking, and German sentences."""

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
        return {"question": f"Is the {crate} crate in {depot}?", "answer": _yes(self.crate[crate] == depot)}


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


READERS, BOOKS = ("Nora", "Emil", "Priya", "Tom", "Yusuf"), ("atlas", "cookbook", "novel", "dictionary", "biography")
DAYS, MONTHS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"), ("March", "April", "May")


def library(stories: int = 400, *, seed: int = 0) -> Iterator[Row]:
    """Who has borrowed which book, and until when: answers are dates of five words."""
    rng = Random(seed)
    for _ in range(stories):
        reader: dict[str, str] = {}
        due: dict[str, str] = {}
        told = [_lend(rng, reader, due) for _ in range(rng.randint(5, 10))]
        known = [book for book in BOOKS if any(book in line for line in told)]
        has, on_loan = rng.choice(known), rng.choice(known)
        asked = [
            {"question": f"Who has the {has}?", "answer": reader.get(has, "nobody")},
            {"question": f"Is the {on_loan} on loan?", "answer": _yes(on_loan in reader)},
        ]
        for book in rng.sample(list(due), min(1, len(due))):
            asked.append({"question": f"When is the {book} due?", "answer": due[book]})
        yield {"story": told, "questions": asked}


def _lend(rng: Random, reader: dict[str, str], due: dict[str, str]) -> str:
    """One line of the log: a book is returned, renewed or borrowed."""
    free, date = [book for book in BOOKS if book not in reader], _date(rng)
    kind = rng.choices(("return", "renew", "borrow"), (5, 4, 11))[0]
    if not reader or (kind == "borrow" and free):
        book = rng.choice(free)
        reader[book], due[book] = rng.choice(READERS), date
        return f"{reader[book]} borrowed the {book}, due {date}."
    book = rng.choice(list(reader))
    if kind == "return":
        del due[book]
        return f"{reader.pop(book)} returned the {book}."
    due[book] = date
    return f"{reader[book]} renewed the {book} until {date}."


def _date(rng: Random) -> str:
    day = rng.randint(1, 28)
    ending = "th" if 10 < day < 20 else {1: "st", 2: "nd", 3: "rd"}.get(day % 10, "th")
    return f"{rng.choice(DAYS)} the {day}{ending} of {rng.choice(MONTHS)}"


PLAYERS = ("Ann", "Bo", "Cid", "Dee", "Eve")


def ladder(stories: int = 400, *, seed: int = 0) -> Iterator[Row]:
    """A ranking in which a winner and a loser change places: a sentence names the new place of one of them only."""
    rng = Random(seed)
    for _ in range(stories):
        order = rng.sample(PLAYERS, rng.randint(3, 5))
        told = [f"{player} starts on place {place}." for place, player in enumerate(order, 1)]
        told += [_match(rng, order) for _ in range(rng.randint(2, 6))]
        player, place, (one, other) = rng.choice(order), rng.randint(1, len(order)), rng.sample(order, 2)
        asked = [
            {"question": f"On which place is {player}?", "answer": str(order.index(player) + 1)},
            {"question": f"Who is on place {place}?", "answer": order[place - 1]},
            {"question": f"Is {one} ahead of {other}?", "answer": _yes(order.index(one) < order.index(other))},
        ]
        yield {"story": told, "questions": asked}


def _match(rng: Random, order: list[str]) -> str:
    place = rng.randint(1, len(order) - 1)
    better, worse = order[place - 1 : place + 1]
    if rng.random() < 0.3:
        return f"{better} holds place {place} against {worse}."
    order[place - 1 : place + 1] = worse, better
    return f"{worse} beats {better} and moves up to place {place}."


def _yes(right: bool) -> str:
    return "yes" if right else "no"


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
