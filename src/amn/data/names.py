"""Names of people, places and things: those of the released stories, further ones to train on, and unseen ones.

All are single words. The three families share no word, so a model tested on the unseen names cannot have met them.
"""

from collections.abc import Iterable
from dataclasses import dataclass

# People of the released stories, by the tasks that share them.
MOVERS = ("Mary", "John", "Daniel", "Sandra")
GIVERS = ("Bill", "Fred", "Jeff", "Mary")
TOWNSFOLK = ("Bill", "Fred", "Julie", "Mary")
AFRAID = ("Gertrude", "Winona", "Jessica", "Emily")
COLOURED = ("Lily", "Bernhard", "Greg", "Julius", "Brian")
MOTIVATED = ("Jason", "Antoine", "Sumit", "Yann")

ROOMS = ("bedroom", "bathroom", "kitchen", "office", "garden", "hallway")
TOWN = ("bedroom", "kitchen", "office", "park", "school", "cinema")
THINGS = ("apple", "football", "milk")

RELEASED_WOMEN = ("Mary", "Sandra", "Julie", "Gertrude", "Winona", "Jessica", "Emily", "Lily")
RELEASED_MEN = (
    *("John", "Daniel", "Bill", "Fred", "Jeff", "Bernhard", "Greg", "Julius", "Brian", "Jason"),
    *("Antoine", "Sumit", "Yann"),
)
RELEASED_PLACES = (*ROOMS, "park", "school", "cinema")
RELEASED_OBJECTS = (*THINGS, "pajamas")


@dataclass(frozen=True, slots=True, kw_only=True)
class NameList:
    """Names to draw a story's cast from; women and men apart, because pronouns must fit."""

    women: tuple[str, ...]
    men: tuple[str, ...]
    places: tuple[str, ...]
    objects: tuple[str, ...]

    @property
    def people(self) -> tuple[str, ...]:
        """Women and men in turn, so that any first few hold both."""
        pairs = zip(self.women, self.men, strict=False)
        longer = max(self.women, self.men, key=len)
        return (*(name for pair in pairs for name in pair), *longer[min(len(self.women), len(self.men)) :])


def _split(text: str) -> tuple[str, ...]:
    return tuple(text.split())


RELEASED = NameList(women=RELEASED_WOMEN, men=RELEASED_MEN, places=RELEASED_PLACES, objects=RELEASED_OBJECTS)

FURTHER = NameList(
    women=_split("""
        Alice Amelia Anna Beatrice Bianca Camille Carla Carmen Cecilia Charlotte Chloe Clara Claudia Cora Daphne
        Deborah Diana Dora Edith Eleanor Elena Elsa Erica Esther Eva Fatima Fiona Florence Frida Gabriela Gloria
        Greta Hannah Harriet Heidi Helen Ingrid Irene Isabel Joanna Judith Julia Karen Katarina Kira Laura Leila
        Linda Lucia Lydia Magda Margaret Maria Marlene Martha Matilda Miriam Monica Nadia Natalie Nina Nora Olga
        Paula Petra Priya Rachel Rebecca Renata Rita Rosalind Ruth Sabine Sarah Sofia
    """),
    men=_split("""
        Aaron Adrian Ahmed Albert Andrew Anton Arthur Barry Benjamin Boris Bruno Carlos Cedric Charles Christopher
        Colin Conrad Dmitri Dominic Douglas Edgar Edward Emil Eric Ernest Felix Fernando Francis Gabriel Geoffrey
        George Gilbert Gordon Gustav Hamid Harold Hector Henry Hugo Igor Ivan Jacob James Jerome Joseph Karl Kenneth
        Kevin Kurt Lars Leonard Lorenzo Lucas Luis Malcolm Marcus Martin Matthew Maurice Michael Miguel Nathan
        Nicholas Norman Oliver Oscar Otto Patrick Paul Pedro Peter Philip Quentin Rafael Ralph
    """),
    places=_split("""
        airport aquarium arcade arena attic bakery balcony bank barn basement beach brewery bridge cabin cafe canteen
        castle cathedral cave cellar chapel church circus classroom clinic cloakroom closet conservatory corridor
        cottage courtyard dairy desert dock dormitory driveway factory farm field forest fortress foyer gallery garage
        gatehouse greenhouse gym harbour hospital hotel island kiosk laboratory lake larder laundry library lighthouse
        loft lobby lounge market meadow mill monastery mosque museum nursery orchard palace pantry parlour pharmacy
        pier plaza pool porch prison pub quarry restaurant salon shed shop stable stadium station studio supermarket
        temple terrace theatre tower tunnel university valley vault veranda village warehouse workshop zoo
    """),
    objects=_split("""
        ball balloon banana basket bell belt blanket book bottle bowl bracelet brush bucket button camera candle carrot
        clock coat coin comb compass cup doll drum envelope feather flag flute fork glove guitar hammer hat helmet
        jacket jar kettle key kite knife ladder lamp lantern lemon letter magnet map marble mirror mug necklace needle
        newspaper notebook paintbrush parcel peach pear pebble pen pencil phone pillow plate potato puppet purse puzzle
        radio ribbon ring rope ruler sandwich scarf screwdriver shell shoe shovel spoon stamp statue sword teapot
        telescope ticket torch towel trophy trumpet umbrella vase violin wallet whistle
    """),
)

# Never used by the generator: only `rename` hands these out, to test on names that no training story holds.
UNSEEN = NameList(
    women=_split("""
        Abigail Adele Agatha Agnes Annika Astrid Audrey Barbara Bertha Brigitte Celeste Colette Cordelia Delphine
        Dorothea Elvira Estelle Eugenia Felicia Freya Genevieve Gwendolyn Henrietta Hilda Imogen Josephine Juliana
        Kirsten Lavinia Leonora Lorraine Lucinda Marguerite Mildred Millicent Muriel Nanette Octavia Odette Ophelia
        Philippa Prudence Ramona Rosamund Rowena Sigrid Sylvia Tabitha Theodora Ursula Valentina Veronica Wilhelmina
        Xenia Yolanda Zelda
    """),
    men=_split("""
        Abraham Alastair Alfonso Ambrose Anselm Archibald Balthasar Barnaby Bartholomew Basil Benedict Caspar Clarence
        Clement Cornelius Cuthbert Cyril Desmond Dietrich Ebenezer Edmund Eustace Ezekiel Ferdinand Fergus Florian
        Gareth Gideon Godfrey Gregor Hamish Horatio Humphrey Ignatius Isaac Jasper Jeremiah Joachim Lancelot Lionel
        Ludwig Magnus Montague Mortimer Nathaniel Neville Orlando Oswald Percival Reginald Roderick Roland Rudolf
        Thaddeus Theodore Wilfred
    """),
    places=_split("""
        abbey academy allotment arboretum armoury auditorium backyard ballroom barbershop barracks boathouse bookshop
        boutique bunker casino cemetery chalet cloister colonnade consulate cove creamery crypt depot distillery
        embassy foundry grotto guesthouse hangar hayloft hostel igloo inn jetty lagoon lodge marina mausoleum mezzanine
        minster observatory outhouse pagoda patio pavilion planetarium playground plantation priory ranch refectory
        sauna sawmill scullery shipyard smithy solarium tannery tavern treehouse vestry vineyard wharf windmill winery
    """),
    objects=_split("""
        abacus accordion acorn amulet anchor anvil apron axe backpack badge bagel banjo beaker bonnet boomerang brooch
        broom bugle calculator cello chalice chisel clarinet coconut corkscrew crayon crown cushion dagger diary domino
        earring easel fiddle flask funnel goblet hairpin handkerchief harmonica harp hourglass javelin keyboard
        lollipop mango mitten napkin oboe padlock pineapple quill racket saddle sickle slipper snorkel spatula sponge
        stapler tambourine thimble trowel ukulele walnut whisk xylophone zither
    """),
)

_WOMEN = frozenset((*RELEASED.women, *FURTHER.women, *UNSEEN.women))


def pronoun(name: str) -> str:
    """The pronoun that stands for a person of the lists."""
    return "she" if name in _WOMEN else "he"


def known_names(lists: Iterable[NameList] = (RELEASED, FURTHER)) -> frozenset[str]:
    """All names of some lists, lower-cased."""
    return frozenset(
        name.lower() for names in lists for group in (names.people, names.places, names.objects) for name in group
    )
