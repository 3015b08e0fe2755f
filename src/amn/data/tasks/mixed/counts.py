"""A theme about how many of something people have: they get, lose and share some."""

from amn.data.tasks.carrying import NUMBERS
from amn.data.tasks.mixed.names import Name
from amn.data.tasks.mixed.teller import Asked, NothingToSayError, Teller
from amn.data.tasks.mixed.theme import THEMES, Theme, asked
from amn.data.tasks.mixed.world import Lines

_MOST = 6  # of one kind, to begin with
_MOST_AT_ONCE = 3


class Counts(Theme):
    """People of whom only numbers of things are told; the number is known at any time."""

    def __init__(self, teller: Teller, names: list[Name]) -> None:
        super().__init__(teller)
        self.names = names
        items = self.rng.sample(THEMES["counts"].words[teller.config.names], 2)
        self.items = items if self.rng.random() < 0.4 else items[:1]
        self.digits = self.rng.random()
        self.owned: dict[Name, dict[str, int]] = {}
        self.why: dict[tuple[Name, str], Lines] = {}
        self.left = self.rng.randint(1, 6)

    def tell(self) -> None:
        """Somebody has some, or more or fewer than before."""
        if self.left == 0:
            raise NothingToSayError
        name = self.rng.choice(self.names)
        (self._change if name in self.owned else self._own)(name)
        self.left -= 1

    def _number(self, count: int) -> str:
        return str(count) if self.rng.random() < self.digits else NUMBERS[count]

    def _some(self, count: int, item: str) -> str:
        return f"{self._number(count)} {item if count == 1 else item + 's'}"

    def _own(self, name: Name) -> None:
        items = self.rng.sample(self.items, self.rng.randint(1, len(self.items)))
        counts = {item: self.rng.randint(1, _MOST) for item in items}
        amount = " and ".join(self._some(count, item) for item, count in counts.items())
        if len(items) == 1 and self.rng.random() < 0.2:
            (item,) = items
            lost = self.rng.randint(1, counts[item])
            why = self.teller.tell("own and lose", name, amount=amount, part=self._number(lost))
            counts[item] -= lost
        else:
            why = self.teller.tell("own", name, amount=amount)
        self.owned[name] = counts
        self.why |= {(name, item): why for item in items}

    def _change(self, name: Name) -> None:
        kind, item = self.rng.choice(("gain", "lose", "lose", "share")), self.rng.choice(list(self.owned[name]))
        others = [other for other in self.owned if other != name and item in self.owned[other]]
        other = self.rng.choice(others) if kind == "share" and others else None
        gainer, loser = (name, None) if kind == "gain" else (other, name)
        room = _MOST + 1 - self.owned[gainer][item] if gainer else _MOST
        stock = self.owned[loser][item] if loser else _MOST
        if min(room, stock) < 1 or (kind == "share" and other is None):
            raise NothingToSayError
        count = self.rng.randint(1, min(room, stock, _MOST_AT_ONCE))
        why = self.teller.tell(kind, name, to=other, part=self._part(kind, (name, other), count, item))
        for who, change in ((gainer, count), (loser, -count)):
            if who:
                self.owned[who][item] += change
                self.why[who, item] += why

    def _part(self, kind: str, people: tuple[Name, Name | None], count: int, item: str) -> str:
        """What is told of: the number alone where people have but one kind of things."""
        number = f"{self._number(count)}{' more' if kind == 'gain' else ''}"
        named = f"{number} {item if count == 1 else item + 's'}"
        if kind == "lose" and self.rng.random() < 0.3:
            named = f"{number} of the {item}s"
        alone = [number, f"{number} of them"] if kind == "lose" else [number]
        plain = all(len(self.owned[name]) == 1 for name in people if name)
        return self.rng.choice([named, *alone] if plain else [named])

    def ask(self, unknown: bool) -> Asked:
        """How many has somebody?"""
        if not self.owned:
            raise NothingToSayError
        name = self.rng.choice(self.cast.other_people if unknown else list(self.owned))
        item = self.rng.choice(self.items if unknown else list(self.owned[name]))
        count, why = (None, ()) if unknown else (NUMBERS[self.owned[name][item]], self.why[name, item])
        return asked("how many", count, why, who=name, items=f"{item}s")
