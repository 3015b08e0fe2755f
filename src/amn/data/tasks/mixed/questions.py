"""How questions are worded: bAbI's own, and a grammar of further ones as people type them."""

from amn.data.tasks.mixed import beyond
from amn.data.tasks.mixed.grammar import Wordings, wordings

_BABI = {
    "where": ("Where is {it}",),
    "thing before": ("Where was {it} before {place}",),
    "person before": ("Where was {it} before {place}",),
    "is in": ("Is {it} in {place}",),
    "carrying": ("What is {who} carrying",),
    "count carried": ("How many objects is {who} carrying",),
    "what given": ("What did {who} give to {to}",),
    "giver": ("Who gave {thing}",),
    "giver to": ("Who gave {thing} to {to}",),
    "receiver": ("Who received {thing}",),
    "given to": ("Who did {who} give {thing} to",),
    "will go": ("Where will {who} go",),
    "why go": ("Why did {who} go to {place}",),
    "why get": ("Why did {who} get {thing}",),
    "colour": ("What color is {who}",),
    "fear": ("What is {who} afraid of",),
    "bigger": ("Is {big} bigger than {small}",),
    "fits": ("Does {small} fit in {big}",),
    "beside": ("Is {one} {side} {other}",),
    "north of it": ("What is {way} of {one}",),
    "it north of": ("What is {one} {way} of",),
    "path": ("How do you go from {one} to {other}",),
}

_ASK = "(can you tell me|could you tell me|do you know|tell me|please tell me|I wonder|~would you know)"
_NOW = "(| now| right now| at the moment| currently)"
_PLACE = "(room|place|~spot)"


def _deeds(done: str, do: str, apart: str) -> dict[str, tuple[str, ...]]:
    """Questions about who did something with a thing, in the past and as it follows "did", by the names of the kinds.

    Args:
        done: verbs of the past.
        do: the same as they follow "did".
        apart: of the past, one whose parts stand around the thing.
    """
    return {
        "who": (
            f"who {done} {{thing}}",
            f"who {apart}",
            f"(who was it that|which person|what person) {done} {{thing}}",
            _ASK + f" who {done} {{thing}}",
        ),
        "what": (
            f"what did {{who}} {do}",
            f"(which|what) (things|objects|items|~belongings) did {{who}} {do}",
            _ASK + f" what {{who}} {done}",
        ),
        "did": (
            f"did {{who}} {do} {{thing}}(| or not)",
            f"(was it {{who}} who|is it true that {{who}}) {done} {{thing}}",
            _ASK + f" (if|whether) {{who}} {done} {{thing}}",
        ),
    }


_TOOK = _deeds(
    "(took|grabbed|picked up|collected|fetched|~snatched)",
    "(take|grab|pick up|collect|fetch|~snatch)",
    "picked {thing} up",
)
_DROPPED = _deeds(
    "(dropped|discarded|put down|set down|let go of|~abandoned)",
    "(drop|discard|put down|set down|let go of|~abandon)",
    "put {thing} down",
)

_FURTHER = {
    **{f"{kind} taken": wordings for kind, wordings in _TOOK.items()},
    **{f"{kind} dropped": wordings for kind, wordings in _DROPPED.items()},
    "first": (
        "where was {it} (first|at first|in the beginning|to begin with|at the start|~initially)",
        "where (did {it} start|did {it} begin|was {it} to start with)",
        "(which|what) " + _PLACE + " was {it} in (first|at first|in the beginning)",
        _ASK + " where {it} was (first|at first|in the beginning)",
    ),
    "anybody in": (
        "is (there |)(anybody|anyone|somebody|someone) (in|at|inside) {place}(| now| right now)",
        "(are there|~might there be) (any |)people in {place}(| now)",
        _ASK + " (if|whether) (there is (anybody|anyone|someone)|(anybody|anyone|someone) is) in {place}",
    ),
    "off topic": (
        "how (old|tall|heavy|rich|clever|~wealthy) is {who}",
        "how (often|long|fast|well) does {who} (read|sing|sleep|laugh|~jog)",
        "what (time|day|year|~month) is it(| now| today)",
        "who is the (president|prime minister|queen|boss|~mayor)(| of France| of the country)",
        "why is the (sky|sea|grass|~moon) (|so ){colour}",
        "what (does|did) {who} (like|eat|drink|say|want|think|~believe)(| today| most)",
        "who does {who} (like|love|know|miss|~envy)(| most)",
        "what is {who} (wearing|reading|thinking|doing|~knitting)(| today| now)",
        "what is the (capital of (France|Spain)|meaning of life|price of gold|best film|~moral of it)(| again)",
        "when (was {who} born|did {who} sleep|will {who} eat|does {who} get up|~will {who} retire)(| exactly| again)",
        "how much (money does {who} have|does {who} earn|did {who} pay|does it cost)(| exactly| in all)",
        "(is|was) {who} (married|happy|rich|nice|angry|~famous)",
        "who (won|lost|invented|wrote|~composed) the (game|song|match)",
        "how many (children|friends|brothers|sisters|years|~nephews) does {who} have(| exactly| in all)",
    ),
    "class colour": (
        "(what|which) (color|colour|~hue) are(| all) {kinds}(| usually)",
        "what is the (color|colour) of(| all) {kinds}",
        _ASK + " (what|which) (color|colour) {kinds} are",
    ),
    "class fear": (
        "what are {kinds} (afraid|scared|frightened|terrified|~wary) of",
        "what do {kinds} (fear|~dread)",
        "(which|what) (animal|creature|kind of animal) (are {kinds} (afraid|scared) of|do {kinds} fear)",
        "of what are {kinds} (afraid|scared|frightened)",
        _ASK + " what {kinds} are (afraid|scared) of",
        "what (frightens|scares) {kinds}",
    ),
    "where": (
        "(where is|where's) {it}" + _NOW,
        "(which|what) " + _PLACE + " is {it} in(| now)",
        "in (which|what) " + _PLACE + " is {it}(| now)",
        _ASK + " where {it} is(| now)",
        "where (can|could|would|will|do) (I|we|you) find {it}",
        "where (did {it} go|has {it} gone|can {it} be found|is {it} located|~has {it} ended up)",
        "what is the location of {it}",
        "where (should|must) I look for {it}",
    ),
    "thing before": (
        "where was {it} before it (was in|was at|came to|got to|reached|was brought to|~arrived in) {place}",
        "where had {it} been before {place}",
        _ASK + " where {it} was before {place}",
        "before {place}, where was {it}",
        "(which|what) " + _PLACE + " was {it} in before {place}",
        "in (which|what) " + _PLACE + " was {it} before {place}",
        "where was {it} right before {place}",
        "before it (was in|came to|got to) {place}, where was {it}",
        "where did {it} come from before {place}",
    ),
    "person before": (
        "where was {it} before (going to|visiting|being in|moving to|walking to|~entering) {place}",
        "where had {it} been before {place}",
        _ASK + " where {it} was before {place}",
        "before {place}, where was {it}",
        "(which|what) " + _PLACE + " was {it} in before {place}",
        "in (which|what) " + _PLACE + " was {it} before {place}",
        "where was {it} right before {place}",
        "before (going to|visiting|being in) {place}, where was {it}",
        "where did {it} come from before {place}",
    ),
    "person after": (
        "where (did|~would) {it} go after {place}",
        "where was {it} after {place}",
        "where did {it} (go|move|walk|head) (right after|after leaving|after visiting|after being in) {place}",
        _ASK + " where {it} (went|was) after {place}",
        "after {place}, where (did {it} go|was {it})",
        "(which|what) " + _PLACE + " (did {it} go to|was {it} in) after {place}",
        "where had {it} gone after {place}",
    ),
    "is in": (
        "is {it} (in|at|inside) {place}(| now| right now| at the moment)",
        "is {it} (now|currently) (in|at) {place}",
        "(can|will|would|could) (I|we|you|~one) find {it} in {place}",
        _ASK + " (if|whether) {it} is in {place}",
        "can {it} be found (in|at) {place}",
        "is {place} where {it} is",
        "is it true that {it} is (in|at) {place}",
    ),
    "who has": (
        "who (has|has got|is carrying|is holding|holds|carries|owns|~possesses) {thing}(| now| right now)",
        "who's (got|carrying|holding) {thing}(| now)",
        "who is it that has {thing}",
        _ASK + " who (has|has got|is carrying|is holding) {thing}",
        "with whom is {thing}",
        "in whose hands is {thing}",
        "(which|what) person (has|is carrying|is holding) {thing}",
    ),
    "has": (
        "does {who} (have|hold|carry|~possess) {thing}(| now| right now)",
        "has {who} got {thing}(| now| right now| at the moment)",
        "is {who} (carrying|holding) {thing}(| now| right now| at the moment)",
        _ASK + " (if|whether) {who} (has|is carrying|is holding) {thing}",
        "is it {who} who has {thing}",
        "is {thing} with {who}",
    ),
    "carrying": (
        "what is {who} (carrying|holding)" + _NOW,
        "what's {who} (carrying|holding)(| now)",
        "what (does {who} have|has {who} got|does {who} carry|does {who} hold|~does {who} possess)(| now| right now)",
        "(which|what) (things|objects|items) (is {who} carrying|is {who} holding|does {who} have|has {who} got)",
        _ASK + " what {who} (has|is carrying|is holding)",
    ),
    "count carried": (
        "how many (objects|things|items|~belongings) is {who} (carrying|holding)(| now| right now)",
        "how many (objects|things|items) (does {who} have|has {who} got|does {who} carry|does {who} hold)(| now)",
        _ASK + " how many (objects|things|items) {who} (has|is carrying|is holding)",
        "what number of (objects|things|items) (is {who} carrying|does {who} have)",
    ),
    "what given": (
        "what did {who} (give|pass|hand|bring|offer|~slip)(| over) to {to}",
        "what (has {who} given|was given by {who}) to {to}",
        "what did {who} (give|pass|hand|bring) {to}",
        "what did {to} (get|receive|take|accept) from {who}",
        "what was {to} (given|handed) by {who}",
        "(which|what) (thing|object|item) did {who} (give|pass|hand) to {to}",
        _ASK + " what {who} gave (to |){to}",
    ),
    "giver": (
        "who (passed|handed|gave away|handed over|passed on|~donated) {thing}",
        "who was it that (gave|passed|handed over) {thing}",
        "(by whom was {thing} given(| away)|who was {thing} given(| away) by)",
        "who (has given|gave) {thing} to (someone|somebody|someone else)",
        _ASK + " who (gave|handed over|passed on) {thing}",
        "(which|what) person (gave|handed over|passed on) {thing}",
    ),
    "giver to": (
        "who (passed|handed|brought|offered|has given|~slipped) {thing} to {to}",
        "who (gave|passed|handed|brought) {to} {thing}",
        "who was it that (gave|passed|handed) {thing} to {to}",
        "(by whom was {thing} given to {to}|who was {thing} given to {to} by)",
        "from whom did {to} (get|receive|accept) {thing}",
        "who did {to} (get|receive|accept|take) {thing} from",
        _ASK + " who (gave|handed|passed) {thing} to {to}",
        "(which|what) person gave {thing} to {to}",
    ),
    "receiver": (
        "who (was given|has received|was handed|accepted|~obtained) {thing}(| as a gift| from someone| from somebody)",
        "who was {thing} (given|handed|passed) to",
        "to whom was {thing} (given|handed|passed)",
        _ASK + " who (received|was given|was handed) {thing}",
        "(which|what) person (received|was given) {thing}",
    ),
    "given to": (
        "who did {who} (pass|hand|bring|offer|~slip)(| over) {thing} to",
        "(to whom did {who} (give|pass|hand) {thing}|whom did {who} (give|pass|hand) {thing} to)",
        "who (got|received|accepted|took) {thing} from {who}",
        "who was (given|handed) {thing} by {who}",
        "who has {who} (given|passed|handed) {thing} to",
        _ASK + " who {who} (gave|handed|passed) {thing} to",
        "(which|what) person did {who} give {thing} to",
    ),
    "who in": (
        "who (is|is now|is currently|can be found|~is hiding) (in|at|inside) {place}",
        "who's (in|at|inside) {place}(| now| right now)",
        "who is (in|at|inside) {place} (now|right now|at the moment)",
        "(which|what) (person|people) (is|are) in {place}(| now)",
        _ASK + " who is (in|at) {place}(| now)",
        "who (can|would|could|will) I find in {place}",
    ),
    "count in": (
        "how many (people|persons|~folks) are (in|at|inside) {place}(| now| right now| at the moment)",
        "how many people (can be found|are there|can I find|would I find) in {place}",
        _ASK + " how many people are in {place}",
        "what number of people (is|are) in {place}",
    ),
    "who with": (
        "who is (with|together with|in the same place as|in the same room as|~alongside) {who}(| now| right now)",
        "who's with {who}(| now| right now)",
        _ASK + " who is with {who}",
        "who is {who} with(| now| right now| at the moment)",
    ),
    "is with": (
        "is {who} with {to}(| now| right now| at the moment)",
        "is {who} (in the same room as|in the same place as|together with|~alongside) {to}(| now)",
        "are {who} and {to} (together|in the same place|in the same room|in one room)(| now)",
        _ASK + " (if|whether) {who} is with {to}",
    ),
    "at time": (
        "where was {who} {time}",
        "where did {who} (go|head|travel|~stay) {time}",
        "{time}, where (was {who}|did {who} go)",
        "(which|what) " + _PLACE + " (was {who} in|did {who} go to|did {who} visit) {time}",
        _ASK + " where {who} (was|went) {time}",
        "where could (I|we|you) (have found|find) {who} {time}",
    ),
    "will go": (
        "where is {who} (going to go|going next|likely to go|about to go|~bound to go)",
        "where would {who} (go|head|like to go|want to go)",
        "where will {who} (head|walk|go next)",
        "(which|what) " + _PLACE + " will {who} go to",
        _ASK + " where {who} will go",
    ),
    "why go": (
        "why (did {who} (move to|walk to|head to|visit|enter|~stroll to)|has {who} gone to|was {who} in) {place}",
        "for what reason did {who} go to {place}",
        "what made {who} (go to|visit|enter) {place}",
        "what was the reason {who} went to {place}",
        _ASK + " why {who} (went to|visited) {place}",
    ),
    "why get": (
        "why (did {who} (take|grab|pick up|fetch|want|~snatch)|has {who} taken|does {who} have) {thing}",
        "for what reason did {who} (get|take) {thing}",
        "what made {who} (get|take|pick up) {thing}",
        _ASK + " why {who} (got|took|picked up) {thing}",
    ),
    "kind": (
        "what (is|kind of animal is|sort of animal is|animal is|type of animal is|~species is) {who}",
        "(which|what) kind of (animal|creature) is {who}",
        _ASK + " what (animal|kind of animal) {who} is",
        "{who} is what kind of animal",
    ),
    "colour": (
        "what (colour is|is the color of|is the colour of|~hue is) {who}",
        "(which|what) (color|colour) does {who} have",
        "which (color|colour) is {who}",
        _ASK + " (what|which) (color|colour) {who} is",
        "{who} is (what|which) (color|colour)",
        "what color would {who} be",
    ),
    "fear": (
        "what (does {who} fear|is {who} scared of|is {who} frightened of|is {who} terrified of|~does {who} dread)",
        "(which|what) (animal|creature|kind of animal) (is {who} afraid of|does {who} fear|is {who} scared of)",
        "of what is {who} (afraid|scared|frightened)",
        _ASK + " what {who} (is afraid of|is scared of|fears)",
        "(what|what animal|which animal) (frightens|scares) {who}",
    ),
    "bigger": (
        "is {big} (larger|~more spacious) than {small}",
        "is {small} (smaller|~tinier) than {big}",
        "is it true that {big} is (bigger|larger) than {small}",
        _ASK + " (if|whether) {big} is (bigger|larger) than {small}",
        "is {small} not as big as {big}",
    ),
    "fits": (
        "(does|will|can|would|could|~might) {small} fit (in|into|inside) {big}",
        "can {small} be put (in|into|inside) {big}",
        "can {big} hold {small}",
        "is there room for {small} in {big}",
        "is {big} big enough for {small}",
        _ASK + " (if|whether) {small} (fits|will fit) (in|into|inside) {big}",
    ),
    "beside": (
        "(does|would) {one} (lie|sit) {side} {other}",
        "is {one} (placed|located|~drawn) {side} {other}",
        _ASK + " (if|whether) {one} is {side} {other}",
        "is it true that {one} is {side} {other}",
    ),
    "north of it": (
        "what (lies|is located|~sits) {way} of {one}",
        "what is (directly|just|to the) {way} of {one}",
        "(which|what) " + _PLACE + " (is|lies) {way} of {one}",
        _ASK + " what is {way} of {one}",
        "what (would I|do you) (reach|find) {way} of {one}",
    ),
    "it north of": (
        "what (does {one} lie|is {one} located) {way} of",
        "what is {one} (directly|just|to the|~right to the) {way} of",
        "(which|what) " + _PLACE + " is {one} {way} of",
        _ASK + " what {one} is {way} of",
        "{one} is {way} of what",
    ),
    "path": (
        "how (do|can|would|could|should) (I|you|we|~one) (go|get|walk|travel) from {one} to {other}",
        "(what|which) is the (way|path|route) from {one} to {other}",
        "which way is it from {one} to {other}",
        _ASK + " (how to get|how to go|the way) from {one} to {other}",
    ),
    "thing colour": (
        "what (color|colour|~hue) is {thing}",
        "what is the (color|colour) of {thing}",
        "(which|what) (color|colour) does {thing} have",
        "which (color|colour) is {thing}",
        _ASK + " (what|which) (color|colour) {thing} is",
    ),
}

QUESTIONS: dict[str, Wordings] = wordings({**_BABI, **beyond.PLAIN_QUESTIONS}, _FURTHER | beyond.QUESTIONS)
