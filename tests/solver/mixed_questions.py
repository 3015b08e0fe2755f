"""How the questions of mixed stories read."""

import re
from functools import lru_cache

from solver.mixed_grammar import pattern, plain

_SPLIT = re.compile(r"\b(pick|picked|put|set|handed|passed|gave) it (up|down|over|on|away)\b")
_ASK = re.compile("(?:(?:can|could) you tell me|do you know|(?:please )?tell me|I wonder|would you know) ")
_NOW = "(?: now| right now| at the moment| currently)?"
_ROOM = "(?:which|what) (?:room|place|spot)"
_THINGS = "(?:objects|things|items|belongings)"
_PERSON = "(?:which|what) person"
_I = "(?:I|we|you|one)"
_IF = "(?:if|whether)"
_HAS = "(?:has|has got|is carrying|is holding|holds|carries|owns|possesses)"
_COME = "(?:going to|visiting|being in|moving to|walking to|entering)"
_CAME = "it (?:was in|was at|came to|got to|reached|was brought to|arrived in)"

_TOOK = "(?:took|grabbed|picked up|collected|fetched|snatched)"
_TAKE = "(?:take|grab|pick up|collect|fetch|snatch)"
_DROPPED = "(?:dropped|discarded|put down|set down|let go of|abandoned)"
_DROP = "(?:drop|discard|put down|set down|let go of|abandon)"
_ANYBODY = "(?:anybody|anyone|somebody|someone)"
_BESIDE = "(?:with|together with|in the same place as|in the same room as|alongside)"
RULES = (
    # What nothing tells of.
    ("off topic", "how (?:old|tall|heavy|rich|clever|wealthy) is {who}"),
    ("off topic", "how (?:often|long|fast|well) does {who} (?:read|sing|sleep|laugh|jog)"),
    ("off topic", "what (?:time|day|year|month) is it(?: now| today)?"),
    ("off topic", "who is the (?:president|prime minister|queen|boss|mayor)(?: of France| of the country)?"),
    ("off topic", "why is the (?:sky|sea|grass|moon) (?:so )?{colour}"),
    ("off topic", "what (?:does|did) {who} (?:like|eat|drink|say|want|think|believe)(?: today| most)?"),
    ("off topic", "who does {who} envy(?: most)?"),
    # Relations and comparisons.
    ("whom likes", "whom? does {who}{really} {likes}(?: a lot| most| very much)?"),
    ("whom likes", "who is{really} {liked} by {who}"),
    ("whom likes", "(?:(?:who|which person) is it (?:that )?|whom? ){who} {likes}"),
    ("who likes", "(?:who|who is it that|(?:which|what) (?:person|people)){really} {likes} {to}"
                  "(?: a lot| very much)?"),
    ("who likes", "by whom is {to} {liked}"),
    ("likes", "does {who}{really} {likes} {to}(?: a lot| very much| or not)?"),
    ("likes", f"(?:is it true that|{_IF}) {{who}} {{likes}} {{to}}"),
    ("likes", "is {to} {liked} by {who}"),
    ("home", "where (?:does )?{who} {lives}(?: now| these days| at present)?"),
    ("home", f"(?:in )?{_ROOM} does {{who}} {{lives}}(?: in)?"),
    ("who home", f"(?:who|{_PERSON})(?: really| still)? {{lives}} {{in}} {{place}}"),
    ("whose tie", f"(?:who|{_PERSON}|who is it that) is{{still}} {{tie}} {{who}}"),
    ("whose tie", "who is {who} {tie}(?: now)?"),
    ("tie", f"(?:is|(?:is it true that|{_IF})) {{who}}(?: is)?{{still}} {{tie}} {{to}}"),
    ("tie", "(?:is it true that|are) {who} and {to}(?: are)?{still} {ties}"),
    ("more", "is {high}{much} {more} than {low}"),
    ("more", f"(?:is it true that|{_IF}) {{high}} is {{more}} than {{low}}"),
    ("more", "is {low} not as {plain} as {high}"),
    ("which more", "(?:who|which|which one|what) (?:is|would be)(?: the)? {more}(?: one)?[,:] {both}"),
    ("which more", "(?:of )?{both}, (?:who|which|which one|what) is {more}"),
    ("which more", "(?:who|which|which one|what) of {both} is(?: the)? {more}"),
    ("which more", "is {both} {more}"),
    ("most", "(?:of all, |of them all, |of them, )?(?:who|which|which one|what) is the {most}(?: one)?"
             "(?: of all| of them| of them all| here| by far)?"),
    ("off topic", "what is {who} (?:wearing|reading|thinking|doing|knitting)(?: today| now)?"),
    ("off topic", "what is the (?:capital of France|capital of Spain|meaning of life|price of gold|best film|"
                  "moral of it)(?: exactly| again)?"),
    ("off topic", "when (?:was|did|will|does) {who} (?:born|sleep|eat|get up|retire)(?: exactly| again)?"),
    ("off topic", "how much (?:money does {who} have|does it cost)(?: exactly| in all)?"),
    ("off topic", "how much (?:does|did) {who} (?:earn|pay)(?: exactly| in all)?"),
    ("off topic", "(?:is|was) {who} (?:married|happy|rich|nice|angry|famous)"),
    ("off topic", "who (?:won|lost|invented|wrote|composed) the (?:game|song|match)"),
    ("off topic", "how many (?:children|friends|brothers|sisters|years|nephews) does {who} have"
                  "(?: exactly| in all)?"),
    # Before and after a place, and at a time.
    ("first", "where (?:was|did) {it} (?:first|at first|in the beginning|to begin with|at the start|initially|"
              "start|begin|to start with)"),
    ("first", f"{_ROOM} was {{it}} in (?:first|at first|in the beginning)"),
    ("first", "where {it} was (?:first|at first|in the beginning)"),
    ("before", f"where (?:was|had) {{it}} (?:been )?(?:right )?before (?:{_COME} |{_CAME} )?{{place}}"),
    ("before", "where {it} was before {place}"),
    ("before", f"before (?:{_COME} |{_CAME} )?{{place}}, where was {{it}}"),
    ("before", f"(?:in )?{_ROOM} was {{it}} (?:in )?before {{place}}"),
    ("before", "where did {it} come from before {place}"),
    ("after", "where (?:did|would|was|had) {it} (?:(?:go|move|walk|head|gone) )?(?:right )?after "
              "(?:leaving |visiting |being in )?{place}"),
    ("after", "where {it} (?:went|was) after {place}"),
    ("after", "after {place}, where (?:did|was) {it}(?: go)?"),
    ("after", f"{_ROOM} (?:did|was) {{it}} (?:go to|in) after {{place}}"),
    ("at time", "where (?:was|did) {who}(?: (?:go|head|travel|stay))? {time}"),
    ("at time", "{time}, where (?:was|did) {who}(?: go)?"),
    ("at time", f"{_ROOM} (?:was|did) {{who}} (?:in|go to|visit) {{time}}"),
    ("at time", "where {who} (?:was|went) {time}"),
    ("at time", "where could (?:I|we|you) (?:have found|find) {who} {time}"),
    # Where and whether.
    ("where", f"(?:where is|where's) {{it}}(?: located)?{_NOW}"),
    ("where", f"(?:in )?{_ROOM} is {{it}}(?: in)?(?: now)?"),
    ("where", "where {it} is(?: now)?"),
    ("where", "where (?:can|could|would|will|do) (?:I|we|you) find {it}"),
    ("where", "where (?:did|has|can) {it} (?:go|gone|be found|ended up)"),
    ("where", "what is the location of {it}"),
    ("where", "where (?:should|must) I look for {it}"),
    ("where both", "where are {who} and {to}(?: now| right now)?"),
    ("where both", f"{_ROOM} are {{who}} and {{to}} in(?: now)?"),
    ("where both", "where (?:can|could|would) (?:I|we|you|one) find {who} and {to}"),
    ("where both", "where did {who} and {to} go"),
    ("where both", "where {who} and {to} are(?: now)?"),
    ("is in", f"is {{it}} (?:now |currently )?{{in}} {{place}}{_NOW}"),
    ("is in", f"(?:can|will|would|could) {_I} find {{it}} in {{place}}"),
    ("is in", f"{_IF} {{it}} is in {{place}}"),
    ("is in", "can {it} be found {in} {place}"),
    ("is in", "is {place} where {it} is"),
    ("is in", "is it true that {it} is {in} {place}"),
    ("been", "was {it} (?:(?:ever|at any time|once) )?in {place}"),
    ("been", "did {it} (?:go to|visit|enter|get to|come to|drop by) {place}(?: at all| at any time)?"),
    ("been", "(?:has|had) {it} (?:been to|been in|visited|frequented) {place}(?: yet| before| so far)?"),
    ("been", f"{_IF} {{it}} (?:went to|was in|visited|has been in) {{place}}"),
    ("who been", "(?:who|(?:which|what) (?:person|people)) (?:went to|visited|entered|came to|was in|frequented|"
                 "has been in) {place}"),
    ("who been", "who has (?:been to|been in|visited|gone to) {place}(?: so far| yet)?"),
    ("what in", "what is {in} {place}(?: now| right now| at the moment)?"),
    ("what in", f"(?:which|what) {_THINGS} are {{in}} {{place}}(?: now)?"),
    ("what in", f"what (?:can|would|will) {_I} (?:find|see) in {{place}}"),
    ("what in", "what (?:lies|is lying|is left|was left|is stored) in {place}(?: now)?"),
    ("anything in", "is (?:there )?(?:anything|something|any item) {in} {place}(?: now| right now)?"),
    ("anything in", f"are there (?:any )?{_THINGS} in {{place}}(?: now)?"),
    ("anything in", f"{_IF} there is anything in {{place}}"),
    ("where taken", "where did {who} (?:take|get|grab|pick up|find|collect|snatch) {thing}"),
    ("where taken", f"in {_ROOM} did {{who}} (?:take|get|pick up|find) {{thing}}"),
    ("where taken", "where {who} (?:took|got|picked up|found) {thing}"),
    ("where left", "where did {who} (?:leave|drop|put|put down|lay|abandon) {thing}"),
    ("where left", f"in {_ROOM} did {{who}} (?:leave|drop|put) {{thing}}"),
    ("where left", "where {who} (?:left|dropped|put) {thing}"),
    # Taking and dropping.
    ("who taken", f"(?:who|{_PERSON}|who was it that) {_TOOK} {{thing}}"),
    ("who taken", "who picked {thing} up"),
    ("what taken", f"(?:what|(?:which|what) {_THINGS}) did {{who}} {_TAKE}"),
    ("what taken", f"what {{who}} {_TOOK}"),
    ("did taken", f"did {{who}} {_TAKE} {{thing}}(?: or not)?"),
    ("did taken", f"(?:is it true that|{_IF}) {{who}} {_TOOK} {{thing}}"),
    ("did taken", f"was it {{who}} who {_TOOK} {{thing}}"),
    ("who dropped", f"(?:who|{_PERSON}|who was it that) {_DROPPED} {{thing}}"),
    ("who dropped", "who put {thing} down"),
    ("what dropped", f"(?:what|(?:which|what) {_THINGS}) did {{who}} {_DROP}"),
    ("what dropped", f"what {{who}} {_DROPPED}"),
    ("did dropped", f"did {{who}} {_DROP} {{thing}}(?: or not)?"),
    ("did dropped", f"(?:is it true that|{_IF}) {{who}} {_DROPPED} {{thing}}"),
    ("did dropped", f"was it {{who}} who {_DROPPED} {{thing}}"),
    # Who has what.
    ("who has", f"(?:who|{_PERSON}|who is it that) {_HAS} {{thing}}{_NOW}"),
    ("who has", "who's (?:got|carrying|holding) {thing}(?: now)?"),
    ("who has", "(?:with whom|in whose hands) is {thing}"),
    ("has", f"(?:does|has|is) {{who}} (?:have|hold|carry|possess|got|carrying|holding) {{thing}}{_NOW}"),
    ("has", f"{_IF} {{who}} {_HAS} {{thing}}"),
    ("has", "is it {who} who has {thing}"),
    ("has", "is {thing} with {who}"),
    ("carrying", f"(?:what is|what's) {{who}} (?:carrying|holding){_NOW}"),
    ("carrying", f"what (?:does|has) {{who}} (?:have|got|carry|hold|possess){_NOW}"),
    ("carrying", f"(?:which|what) {_THINGS} (?:is|does|has) {{who}} (?:carrying|holding|have|got)"),
    ("carrying", f"what {{who}} {_HAS}"),
    ("count carried", f"(?:how many|what number of) {_THINGS} (?:is|does|has) {{who}} "
                      f"(?:carrying|holding|have|got|carry|hold){_NOW}"),
    ("count carried", f"how many {_THINGS} {{who}} {_HAS}"),
    ("how many", "(?:how many|what number of) (?P<items>[a-z]+) (?:does|has) {who} (?:have|own|possess|got)"
                 "(?: now| left| in all| in total)?"),
    ("how many", "how many (?P<items>[a-z]+) {who} (?:has|has got)(?: now| left)?"),
    ("how many", "how many (?P<items>[a-z]+) are there with {who}(?: now)?"),
    # Gifts.
    ("gift thing", "what did {who} (?:give|pass|hand|bring|offer|slip)(?: over)? (?:to )?{to}"),
    ("gift thing", "what (?:has|was given by) {who} (?:given )?to {to}"),
    ("gift thing", "what did {to} (?:get|receive|take|accept) from {who}"),
    ("gift thing", "what was {to} (?:given|handed) by {who}"),
    ("gift thing", "(?:which|what) (?:thing|object|item) did {who} (?:give|pass|hand) to {to}"),
    ("gift thing", "what {who} gave (?:to )?{to}"),
    ("gift who", f"(?:who|{_PERSON}|who was it that) (?:gave|passed|handed|brought|offered|has given|slipped|"
                 "gave away|handed over|passed on|donated) {thing}(?: to (?:someone|somebody|someone else))?"),
    ("gift who", "by whom was {thing} given(?: away)?"),
    ("gift who", "who was {thing} given(?: away)? by"),
    ("gift who", f"(?:who|{_PERSON}|who was it that) (?:gave|passed|handed|brought|offered|has given|slipped) "
                 "{thing} to {to}"),
    ("gift who", "who (?:gave|passed|handed|brought) {to} {thing}"),
    ("gift who", "by whom was {thing} given to {to}"),
    ("gift who", "who was {thing} given to {to} by"),
    ("gift who", "(?:from whom|who) did {to} (?:get|receive|accept|take) {thing}(?: from)?"),
    ("gift to", f"(?:who|{_PERSON}) (?:received|was given|has received|was handed|accepted|obtained) {{thing}}"
                "(?: as a gift| from someone| from somebody)?"),
    ("gift to", "(?:who|to whom) was {thing} (?:given|handed|passed)(?: to)?"),
    ("gift to", f"(?:who|to whom|whom|{_PERSON}) did {{who}} (?:give|pass|hand|bring|offer|slip)(?: over)? "
                "{thing}(?: to)?"),
    ("gift to", "who (?:got|received|accepted|took) {thing} from {who}"),
    ("gift to", "who was (?:given|handed) {thing} by {who}"),
    ("gift to", "who has {who} (?:given|passed|handed) {thing} to"),
    ("gift to", "who {who} (?:gave|handed|passed) {thing} to"),
    # Company.
    ("anybody in", f"is (?:there )?{_ANYBODY} {{in}} {{place}}{_NOW}"),
    ("anybody in", "(?:are|might) there (?:be )?(?:any )?people in {place}(?: now)?"),
    ("anybody in", f"{_IF} (?:there is )?{_ANYBODY} (?:is )?in {{place}}"),
    ("who in", f"(?:who's|who (?:is|can be found|is now|is currently|is hiding)) {{in}} {{place}}{_NOW}"),
    ("who in", "(?:which|what) (?:person|people) (?:is|are) in {place}(?: now)?"),
    ("who in", "who (?:can|would|could|will) I find in {place}"),
    ("count in", f"(?:how many|what number of) (?:people|persons|folks) (?:is|are) {{in}} {{place}}{_NOW}"),
    ("count in", "how many people (?:can be found|are there|can I find|would I find) in {place}"),
    ("who with", f"(?:who is|who's) {_BESIDE} {{who}}{_NOW}"),
    ("who with", f"who is {{who}} with{_NOW}"),
    ("is with", f"is {{who}} {_BESIDE} {{to}}{_NOW}"),
    ("is with", "are (?P<one>.+) and (?P<other>.+?) (?:together|in the same place|in the same room|in one room)"
                "(?: now)?"),
    ("is with", f"{_IF} {{who}} is with {{to}}"),
    # Motives.
    ("will go", "where (?:is|would|will) {who} (?:going to go|going next|likely to go|about to go|bound to go|go|"
                "head|like to go|want to go|walk|go next)"),
    ("will go", f"{_ROOM} will {{who}} go to"),
    ("will go", "where {who} will go"),
    ("why", "why (?:did|has|was) {who} (?:go to|move to|walk to|head to|visit|enter|stroll to|gone to|in) {place}"),
    ("why", "(?:for what reason did|what made|what was the reason) {who} (?:go to|visit|enter|went to) {place}"),
    ("why", "why {who} (?:went to|visited) {place}"),
    ("why", "why (?:did|has|does) {who} (?:get|take|grab|pick up|fetch|want|snatch|taken|have) {thing}"),
    ("why", "(?:for what reason did|what made) {who} (?:get|take|pick up) {thing}"),
    ("why", "why {who} (?:got|took|picked up) {thing}"),
    # Kinds.
    ("class colour", "(?:what|which) (?:colou?r|hue) are (?:all )?{kind}(?: usually)?"),
    ("class colour", "what is the colou?r of (?:all )?(?!him|her|it){kind}"),
    ("class colour", "(?:what|which) colou?r {kind} are"),
    ("class fear", "(?:what|(?:which|what) (?:animal|creature|kind of animal)) (?:are|do) {kind} "
                   "(?:(?:afraid|scared|frightened|terrified|wary) of|fear|dread)"),
    ("class fear", "of what are {kind} (?:afraid|scared|frightened)"),
    ("class fear", "what {kind} are (?:afraid|scared) of"),
    ("class fear", "what (?:frightens|scares) {kind}"),
    ("kind", "(?:which|what) (?:is|(?:kind of |sort of |type of )?(?:animal|creature) is|species is) {who}"),
    ("kind", "what (?:kind of )?animal {who} is"),
    ("kind", "{who} is what kind of animal"),
    ("colour", "(?:which|what) (?:colou?r|hue) (?:is|does|would) {it}(?: have| be)?"),
    ("colour", "what is the colou?r of {it}"),
    ("colour", "(?:which|what) colou?r {it} is"),
    ("colour", "{it} is (?:which|what) colou?r"),
    ("fear", "(?:which|what|what animal|which animal|(?:which|what) (?:animal|creature|kind of animal)) "
             "(?:is|does) {who} (?:afraid of|fear|scared of|frightened of|terrified of|dread)"),
    ("fear", "of what is {who} (?:afraid|scared|frightened)"),
    ("fear", "what {who} (?:is afraid of|is scared of|fears)"),
    ("fear", "(?:what|what animal|which animal) (?:frightens|scares) {who}"),
    # Sizes, positions and maps.
    ("bigger", "is {big} (?:bigger|larger|more spacious) than {small}"),
    ("bigger", "is {small} (?:smaller than|tinier than|not as big as) {big}"),
    ("bigger", f"(?:is it true that|{_IF}) {{big}} is (?:bigger|larger) than {{small}}"),
    ("bigger", "(?:does|will|can|would|could|might) {small} (?:fit|be put) (?:in|into|inside) {big}"),
    ("bigger", "can {big} hold {small}"),
    ("bigger", "is there room for {small} in {big}"),
    ("bigger", "is {big} big enough for {small}"),
    ("bigger", f"{_IF} {{small}} (?:fits|will fit) (?:in|into|inside) {{big}}"),
    ("beside", "(?:is|does|would) {one} (?:(?:lie|sit|placed|located|drawn) )?{side} {other}"),
    ("beside", f"(?:is it true that|{_IF}) {{one}} is {{side}} {{other}}"),
    ("north of it", f"(?:what|{_ROOM}) (?:is|lies|is located|sits) (?:(?:directly|just|to the) )?"
                    "{way} of {one}"),
    ("north of it", "what (?:would I|do you) (?:reach|find) {way} of {one}"),
    ("it north of", f"(?:what|{_ROOM}) (?:is|does) {{one}} (?:(?:lie|located|directly|just|to the|right to the) )?"
                    "{way} of"),
    ("it north of", "what {one} is {way} of"),
    ("it north of", "{one} is {way} of what"),
    ("path", f"how (?:do|can|would|could|should) {_I} (?:go|get|walk|travel) from {{one}} to {{other}}"),
    ("path", "(?:what|which) is the (?:way|path|route) from {one} to {other}"),
    ("path", "which way is it from {one} to {other}"),
    ("path", "(?:how to get|how to go|the way) from {one} to {other}"),
)  # fmt: skip


@lru_cache(maxsize=100_000)
def parse_question(question: str) -> tuple[str, dict[str, str]]:
    """What a question asks, and its slots.

    Raises:
        ValueError: where no rule fits.
    """
    whole = _SPLIT.sub(r"\1 \2 it", question.rstrip("? "))
    for start in map(plain, (whole[0].lower() + whole[1:], whole)):
        for text in dict.fromkeys((start, _ASK.sub("", start, count=1) if _ASK.match(start) else start)):
            for rule, template in RULES:
                if match := pattern(template).fullmatch(text):
                    return rule, {slot: word for slot, word in match.groupdict().items() if word is not None}
    raise ValueError(f"no rule fits: {question!r}")
