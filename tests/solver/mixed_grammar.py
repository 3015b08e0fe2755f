"""How the sentences of mixed stories read: patterns of verbs, whatever the names, and case tells what is a name."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, lru_cache

_TITLE = r"(?:Mr\.|Mrs\.|Ms\.|Dr\.|Miss|Professor)"
_PROPER = r"[A-Z][a-z]+"
_PERSON = rf"(?:{_TITLE} {_PROPER}|{_PROPER}(?: {_PROPER})?|I)"
# Words that end the name of a place or a thing.
_STOP = (
    "or|and|to|with|after|before|in|at|by|from|is|was|has|had|there|here|now|then|behind|down|up|inside|into|over|along|"
    "currently|anymore|any|these|off|away|out|since|for|all|so|yet|yesterday|this|last|two|where|fits|can|you|lies|will|goes|sits|looks|above|below|right|"
    "north|south|east|west|than|just|directly|stands|compared|not|as|a|be|but|did|come|it|fit|bigger|smaller|larger|tinier|been|big|get|later"
)
_WORD = rf"(?!(?:{_STOP})\b)[a-z]+"
_THE = rf"the (?:big )?{_WORD}(?: (?:of )?{_WORD})*?"
_ANY = _THE.replace("the", "(?:the|an?(?! bit)|some|my)", 1)
_TOWN = rf"(?:{_PROPER}(?: (?:de )?{_PROPER})*|(?:bay|gate|room|platform|aisle|dock|berth|ward|hall|sector) \d+)"

_MORE = (
    "more expensive|(?:tall|old|fast|strong|heavi|rich|long|bigg|short|young|slow|weak|light|poor|new|cheap|small)er"
)
_HOURS = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
_NUMBER = r"(?:\d+|one|two|three|four|five|six|seven|eight|nine|ten)"
TIMES = (
    *("last week", "two days ago", "yesterday", "this morning", "at noon", "this afternoon", "this evening"),
    *(f"at {hour} o'clock" for hour in _HOURS),
    *(f"at {hour} {unit}" for unit in ("o'clock", "pm") for hour in range(1, 11)),
    *(f"{side} {meal}" for meal in ("breakfast", "lunch", "dinner") for side in ("before", "after")),
    *(f"on {day}day" for day in ("Mon", "Tues", "Wednes", "Thurs", "Fri", "Satur", "Sun")),
)
_SLOTS = {
    "who": rf"(?P<who>{_PERSON}(?:(?:, {_PERSON})* and {_PERSON})?|he|she|him|her|they|we)",
    "whom": rf"(?P<who>{_PERSON}(?:(?:, {_PERSON})* and {_PERSON})?|him|her|them|us)",
    "to": rf"(?P<to>{_PERSON})",
    "it": rf"(?P<it>{_PERSON}|{_THE}|he|she|it|him|her)",
    "place": rf"(?P<place>{_THE}|{_TOWN})",
    "other": rf"(?P<other>{_THE}|{_TOWN})",
    "one": rf"(?P<one>{_THE}|{_TOWN})",
    "thing": rf"(?P<thing>{_ANY}(?:(?:, {_ANY})* and {_ANY})?|it|them|they|both(?: of them)?)",
    "big": rf"(?P<big>{_THE})",
    "small": rf"(?P<small>{_THE})",
    "state": r"(?P<state>hungry|thirsty|bored|tired)",
    "kind": r"(?P<kind>[a-z]+)",
    "others": r"(?P<others>[a-z]+)",
    "colour": r"(?P<colour>gray|white|yellow|green|black|brown|red|blue|pink|orange|purple)",
    "time": rf"(?P<time>{'|'.join(TIMES)})",
    "side": r"(?P<side>above|below|to the left of|to the right of)",
    "way": r"(?P<way>north|south|east|west)",
    "be": "(?:is|are)",
    "amounts": rf"(?P<amounts>{_NUMBER} [a-z]+(?: and {_NUMBER} [a-z]+)?)",
    "part": rf"(?P<part>{_NUMBER}(?: of them| of the [a-z]+| (?!now|left|today|again|dollars)[a-z]+)?)",
    "lost": "(?:ate|lost|sold|gave away|threw away|broke|used|mislaid|thrown away|given away)",
    "bought": "(?:bought|found|ordered|borrowed|purchased)",
    "have": "(?:has|have)",
    "in": "(?:in|at|inside)",
    "now": "(?:now|currently|right now|at the moment)",
    "go": "(?:came|drove|went|gone|moved|journeyed|walked|headed|travelled|ran|hurried|returned|made a trip|strolled|"
    "wandered|rushed)",
    "ago": "(?: (?:back|over|straight))?",
    "got": "(?:got|took|grabbed|picked up|collected|fetched|got hold of|snatched|lifted|taken)",
    "let": "(?:dropped|left|discarded|put down|set down|let go of|got rid of|laid down|released|left behind|abandoned)",
    "gave": "(?:gave|passed|handed|offered|slipped|given|brought|delivered)",
    "put": "(?:put|left|placed|set|dropped|laid|hid|hidden|stashed|ditched|put down|"
    "(?:parked|stored|kept|locked|tucked)(?: away)?)",
    "not": "(?:did not|didn't|never|refused to|failed to|declined to)",
    "been": "(?:was|were|has been|have been)",
    "likes": r"(?P<verb>likes?|loves?|hates?|knows?|admires?|trusts?|miss(?:es)?)",
    "liked": r"(?P<verb>liked|loved|hated|known|admired|trusted|missed)",
    "tie": r"(?P<tie>married to|engaged to|related to|a friend of|a neighbour of|a cousin of)",
    "ties": r"(?P<tie>married|engaged|related|friends|neighbours|cousins)",
    "high": rf"(?P<high>{_PERSON}|{_THE})",
    "low": rf"(?P<low>{_PERSON}|{_THE})",
    "both": rf"(?P<one>{_PERSON}|{_THE}) (?:and|or) (?P<other>{_PERSON}|{_THE})",
    "more": rf"(?P<word>{_MORE})",
    "most": r"(?P<word>most expensive|[a-z]+est)",
    "plain": r"(?P<word>tall|old|fast|strong|heavy|rich|long|expensive|big)",
    "much": "(?: (?:much|a lot|a bit|clearly|even|far|considerably))?",
    "really": "(?: (?:really|truly|secretly|dearly|particularly))?",
    "still": "(?: (?:now|still|actually|really|officially))?",
    "lives": r"(?P<verb>lives?|lived|works?|worked|study|studies|studied)",
    "steal": "(?:took|taken|grabbed|stole|stolen|seized|snatched|pinched)",
    "bring": "(?:carried|brought|took|taken|delivered|moved|hauled)",
}


@cache
def pattern(template: str) -> re.Pattern[str]:
    """Compile a template such as `{who} {go} to {place}`, when it is first needed: there are hundreds."""
    return re.compile(re.sub(r"\{([a-z]+)\}", lambda slot: _SLOTS[slot[1]], template))


# The first that fits the whole sentence wins.
_RULES = (
    ("colour", "the colou?r of {whom} is {colour}"),
    ("thing colour", "the colou?r of {thing} is {colour}"),
    ("not get", "{who} {not} (?:take|get|grab|pick|fetch|snatch|took|picked|grabbed)(?: up)? {thing}(?: up)?"),
    ("not drop", "{who} {not} (?:drop|put|put down|let go of|leave|discard|abandon|dropped|discarded) {thing}"
                 "(?: down)?(?: there| anywhere)?"),
    ("not drop", "{who} (?:kept|held on to|still held|clung to) {thing}(?: for now)?"),
    ("not give", "{who} {not} (?:give|pass|hand|bring|offer|slip|gave|passed|handed) {thing} to {to}"),
    ("not give", "{who} {not} (?:give|pass|hand|offer) {to} {thing}"),
    ("put and go", "{who} {put} {thing} (?:behind )?{in} {place} and (?:then )?{go} to {other}"),
    ("put and go", "{who} left {thing} (?:behind )?{in} {place} "
                   "(?:before going|to go|when going|on the way) to {other}"),
    ("put and go", "after (?:leaving|putting|parking|dropping|stashing) {thing} in {place}, {who} {go} to {other}"),
    ("rob", "{who} (?:{have} )?(?:just )?(?!took|taken){steal} {thing} from {to}"),
    ("rob", "{who} (?:took|got) {thing} away from {to}"),
    ("rob", "{thing} {been} {steal} from {to} by {whom}"),
    ("get", "{who} (?:{have} )?(?:just )?(?:took|taken|got|pulled|fetched|removed|fished) {thing} "
            "(?:out of|off) {place}"),
    ("get", "{who} (?:{have} )?(?:just )?(?:pulled|removed|fished) {thing} from {place}"),
    ("get", "{thing} {been} (?:taken|removed|fished) (?:out of|off|from) {place} by {whom}"),
    ("lies", "{thing} {been} (?:moved|taken|brought|carried|sent|delivered|shipped)(?: over| back)? to {place}"),
    ("lies", "someone (?:moved|took|brought|carried|sent|hauled) {thing}(?: over| back)? to {place}"),
    ("lies", "{thing} {been} put (?:in|into) {place}"),
    ("lies", "{thing} {been} (?:moved|taken|brought|carried|sent|shipped) from {other} to {place}"),
    ("lies", "someone (?:moved|took|brought|carried|sent|hauled) {thing} from {other} to {place}"),
    ("home", "{who} (?:(?:now|still|really|reportedly) )?{lives} {in} {place}"),
    ("home", "{who} has {lives} {in} {place} (?:for years|all along|since last year|for ages)"),
    ("home", "{place} is where {who} {lives}"),
    ("own", "{who} (?:(?:now|already|currently) )?(?:{have}|owns|had|started with|keeps)(?: got)? {amounts}"
            "(?: now| already| in a pocket| in a bag)?"),
    ("own", "{who} (?:{have}|had) {amounts},?(?: but| and)?(?: then)? {lost} {part}"),
    ("gain", "{who} (?:{have} )?(?:just )?(?:bought|found|got|received|collected|won|acquired) "
             rf"(?P<part>{_NUMBER} more(?: [a-z]+)?)"),
    ("share", "{who} (?:gave|handed|passed|sold|slipped) {part} to {to}"),
    ("share", "{who} (?:gave|handed|passed|sold) {to} {part}"),
    ("share", "{to} (?:got|received|took|obtained) {part} from {whom}"),
    ("lose", "{who} (?:{have} )?(?:just )?{lost} {part}(?: today| again)?"),
    ("have", "{who} (?:(?:now|already|meanwhile) )?{have}(?: got)? {thing}(?: now| already)?"),
    ("get", "{who} {be} now (?:carrying|holding) {thing}"),
    ("have", "{who} {be}(?: (?:still|currently|right now))? (?:carrying|holding) {thing}"),
    ("have", "{who} (?:carries|holds|lugs) {thing}(?: now)?"),
    ("have", "{who} {have} {thing} (?:in hand|in one hand|in a bag|in a pocket|at hand)"),
    ("not go", "{who} (?:did not|didn't|never|refused to|failed to|declined to) (?:go to|walk to|move to|travel to|"
               "return to|head to|stroll to|(?:go|walk|move|travel|return|head|stroll) (?:back|over) to|went to|"
               "visited|visit|entered|enter|reached) {place}"),
    ("either", "{who} (?:{be}|must be|could be|might be|may be|should be) "
               "(?:(?:either|perhaps|maybe|possibly|presumably) )?in {place} or (?:in )?{other}"),
    ("either", "either {who} {be} in {place} or in {other}"),
    ("either", "{who} (?:went|{have} gone) (?:either )?to {place} or (?:to )?{other}"),
    ("either", "(?:either )?{place} or {other} is where {who} {be}"),
    ("then", "{who} {go} to {place} and then (?:on )?to {other}"),
    ("then", "first {who} {go} to {place}, then to {other}"),
    ("then", "before (?:going|walking|heading) to {other}, {who} (?:went to|visited|was in) {place}"),
    ("then", "after (?:visiting|leaving|touring) {place}, {who} {go} to {other}"),
    ("then", "{who} {go} to {other} after (?:visiting|leaving|touring) {place}"),
    ("then", "{who} (?:{go}|flew|sailed|hiked|cycled) from {place} to {other}"),
    ("then", "{who} left {place} and (?:then )?{go}{ago} to {other}"),
    ("then", "{who} left {place} (?:for|to go to|and entered|and visited|and is now in) {other}"),
    ("time", "{time},? {who} {go}{ago} to {place}"),
    ("time", "{who} {go}{ago} to {place} {time}"),
    ("time", "{time},? {who} (?:was {in}|visited) {place}"),
    ("time", "{who} (?:was {in}|visited|(?:arrived|stayed|waited|rested) {in}) {place} {time}"),
    ("with", "{who} {be} (?:{now} )?with {to}(?: {now})?"),
    ("with", "{who} (?:{have} )?(?:joined|met|caught up with|met up with|hooked up with|gone to meet) {to}"),
    ("with", "{who} (?:went|came|walked|headed|ran) to (?:join|meet|see|be with) {to}"),
    ("with", "{who} (?:went|came|walked) (?:over )?to where {to} was"),
    ("with", "{who} (?:followed|went after|tailed) {to}(?: there)?"),
    ("with", "{who} (?:went|came|walked|tagged) along with {to}"),
    ("give", "{who} (?:{have} )?(?:just )?{gave} {thing} (?:over )?to {to}"),
    ("move", "{who} took (?:a cab|the metro|the subway|a minicab) to {place}"),
    ("move", "{who} (?:{go}|trudged) (?:up|down|out|across) to {place}"),
    ("put", "{who} (?:{have} )?(?:just )?(?:moved|shifted|transferred|took|taken|relocated) {thing} from {other} "
            "to {place}"),
    ("shelve", "{who} (?:{have} )?(?:just )?(?:moved|shifted|transferred|returned|relocated) {thing}(?: over)? "
               "to {place}"),
    ("shelve", "{thing} {been} (?:moved|shifted|transferred|relocated) to {place} by {whom}"),
    ("move", "{who} (?:{have} )?(?:(?:just|now) )?{bring}(?: back)? {thing} (?:to|into|over to|along to) {place}"),
    ("move", "{who} {go} (?:over )?to {place} with {thing}"),
    ("move", "{who} (?:{have} )?(?:(?:just|now) )?{go}{ago} to {place}"),
    ("move", "{who} (?:arrived|turned up|showed up|ended up) {in} {place}"),
    ("move", "{who} (?:entered|reached|visited|(?:came|walked|stepped|popped) (?:in)?to) {place}"),
    ("move", "{who} (?:set off|left) for {place}"),
    ("move", "{who} (?:got|came|flew|rode)(?: back)? to {place}"),
    ("not there", "{who} (?:{be}n't|{be} not|{be} no longer) (?:there|here)(?: now| any ?more| any longer)?"),
    ("not there", "{who} {be} (?:gone|away)(?: now| again)?"),
    ("not there", "{who} (?:went away|walked away|has left|has gone away|has departed)(?: again| already)?"),
    ("empty", "(?:(?:nobody|no one|not a soul) is|there is (?:nobody|no one|not anybody)) {in} {place}(?: {now})?"),
    ("empty", "{place} is (?:empty|completely empty|deserted)(?: {now})?"),
    ("likes", "{who}{really} {likes} {to}(?: a lot| very much| so much| more than anything| to bits)?"),
    ("likes", "{to} is{really} {liked} by {whom}"),
    ("likes", "{to} is the one {who} {likes}"),
    ("dislikes", "{who} (?:does not|doesn't|did not|didn't){really} {likes} {to}"
                 "(?: at all| very much| any ?more| one bit)?"),
    ("dislikes", "{to} is not{really} {liked} by {whom}"),
    ("dislikes", "{who} never {liked} {to}"),
    ("tie", "{who} (?:is{still}|has always been|has long been|happens to be|turned out to be) {tie} {to}"),
    ("tie", "{who} and {to} are{still} {ties}"),
    ("more", "{high} is{much} {more} than {low}"),
    ("more", "compared (?:with|to) {low}, {high} is{much} {more}"),
    ("more", "{low} is not (?:as|so|quite as|nearly as) {plain} as {high}"),
    ("not in", "{who} (?:{be}n't|{be} not|{be} no longer|{be} not currently) {in} {place}"
               "(?: (?:now|right now|anymore|any more|any longer|these days))?"),
    ("not in", "{who} {have} (?:(?:just|already) )?left {place}"),
    ("not in", "{who} (?:{have} )?(?:just )?(?:went|gone|walked|ran|came|come|stepped|stormed) out of {place}"),
    ("not in", "you (?:will not|won't|can't|shall not) find {whom} in {place}"),
    ("lies", "{thing} (?:is|was|are|were)(?: (?:lying|sitting|placed|located))? {in} {place}"),
    ("lies", "{thing} can be (?:found|seen|spotted) {in} {place}"),
    ("lies", "you (?:can|will) (?:find|see) {thing} in {place}"),
    ("lies", "there (?:is|was|has been) {thing} {in} {place}"),
    ("lies", "in {place} (?:there is|you can see|there lies?) {thing}"),
    ("lies", "someone (?:left|put|placed|stored) {thing} in {place}"),
    ("move", "{who} {be}(?: {now})? {in} {place}(?: {now})?"),
    ("move", "{who} (?:{be} )?(?:standing|sitting|waiting|staying|resting|stayed|waited|sat|rested) {in} {place}"),
    ("move", "you (?:can|will) find {whom} in {place}"),
    ("move", "{who} can be found {in} {place}"),
    ("move", "{place} is where {who} {be}(?: now)?"),
    ("give", "{who} (?:{have} )?(?:just )?{gave} {to} {thing}"),
    ("give", "{thing} {been} {gave} to {to} by {whom}"),
    ("give", "{to} (?:was|has been) {gave} {thing} by {whom}"),
    ("give", "{to} (?:received|got|took|accepted) {thing} from {whom}"),
    ("give", "{who} let {to} have {thing}"),
    ("put", "{who} (?:{have} )?(?:just )?{put} {thing}(?: down| away)? {in} {place}"),
    ("put", "{thing} {been} {put} in {place} by {whom}"),
    ("put", "in {place}, {who} {put} {thing}(?: down)?"),
    ("buy", "{who} (?:{have} )?(?:just )?{bought} {thing} {in} {place}"),
    ("buy", "{in} {place}, {who} {bought} {thing}"),
    ("buy", "{thing} {been} {bought} {in} {place} by {whom}"),
    ("get", "{who} (?:{have} )?(?:just )?{got} {thing} (?:in|at|from) {place}"),
    ("get", "{who} (?:{have} )?(?:just )?picked {thing} up (?:in|at|from) {place}"),
    ("get", "in {place}, {who} (?:found and )?(?:{got}|picked) {thing}(?: up)?"),
    ("get", "{who} (?:{have} )?(?:just )?(?:{got}|{steal}) {thing}(?: there)?"),
    ("get", "{thing} {been} (?:{got}|{steal}) by {whom}"),
    ("get", "{who} (?:{have} )?(?:just )?picked {thing} up(?: there)?"),
    ("drop", "{who} (?:{have} )?(?:just )?{let} {thing}(?: there| here)?"),
    ("drop", "{thing} {been} {let} by {whom}"),
    ("drop", "{who} (?:{have} )?(?:just )?(?:put|set|laid) {thing} down(?: there| here)?"),
    ("drop", "{who} (?:{have} )?(?:just )?left {thing} behind(?: there)?"),
    ("feel", "{who} (?:is|feels|felt|got|became|looks|seems|looked|seemed|appears)"
             "(?: (?:feeling|getting|very|really|quite|so|a bit|rather|terribly))? {state}"),
    ("kind", "{who} (?:is|happens to be|turned out to be|is really|is actually|is known to be|was revealed to be) "
             "an? {kind}"),
    ("kind", "(?:as [a-zI ]+,|(?:it turns out|everyone knows|we know|I heard|I know|rumour has it) that) {who} is "
             "an? {kind}"),
    ("colour", "{who} (?:is|looks|is known to be|happens to be)"
               "(?: (?:all|completely|actually|really|mostly|entirely))? {colour}(?: in colou?r)?"),
    ("class colour", "(?:(?:everyone knows|we know|I heard|I know|rumour has it) that )?(?:all )?"
                     "{kind} are(?: (?:all|always|really|invariably))? {colour}"),
    ("class colour", "the colou?r of {kind} is {colour}"),
    ("one colour", "(?:every|each|any|every single|an?) {kind} (?:is|looks) (?:always )?{colour}"),
    ("thing colour", "{thing} (?:is|looks)(?: (?:all|completely|mostly|really|entirely))? {colour}"),
    ("thing colour", "{thing} was painted {colour}"),
    ("thing colour", "someone painted {thing} {colour}"),
    ("thing colour", "{thing} has an? {colour} colou?r"),
    ("fear", "(?:all |most )?{kind} are (?:always )?(?:afraid|scared|frightened|terrified|wary) of {others}"),
    ("fear", "{kind} (?:fear|dread) {others}"),
    ("fear", "{others} (?:scare|frighten|terrify) {kind}"),
    ("bigger", "{big} is (?:(?:much|a lot|clearly|far) )?(?:bigger|larger|more spacious) than {small}"),
    ("bigger", "{small} is (?:(?:much|a lot|clearly|far) )?(?:smaller|tinier) than {big}"),
    ("bigger", "{small} is not as (?:big|large) as {big}"),
    ("bigger", "{big} is the bigger one of the [a-z ]+ and {small}"),
    ("bigger", "compared with {small}, {big} is (?:bigger|larger)"),
    ("bigger", "{small} (?:fits in|fits inside|fits into|will fit in|can fit in|can fit inside|can be stuffed into|"
               "can be put into|can be put inside|goes into|goes inside) {big}"),
    ("bigger", "{big} (?:can hold|has room for|is big enough for|can contain) {small}"),
    ("beside", "{one} (?:is|sits|lies|stands|is placed|is located|is drawn|can be seen) (?:directly |just )?"
               "{side} {other}"),
    ("beside", "{side} {other} (?:is|lies|sits|stands|you see|appears) {one}"),
    ("compass", "{one} (?:is|lies) (?:(?:to the|just|directly|located) )?{way} of {other}"),
    ("compass", "{one} can be found (?:(?:to the|just|directly) )?{way} of {other}"),
    ("compass", "(?:you find|you will find|there is) {one} (?:(?:to the|just) )?{way} of {other}"),
    ("compass", "{way} of {other} (?:is|lies|you find|sits) {one}"),
    ("compass", "if you go {way} from {other}, you (?:reach|get to|come to) {one}"),
    ("remark", "the (?:wind|rain|sun|moon|fog|snow|thunder|river|traffic|crowd|choir|bird|storm|breeze) .*"),
    ("remark", "(?:it was|nobody was|everyone was|a dog|a phone|a clock|a siren) .*"),
    ("remark", "(?:(?:the|a) (?:plane|concert|film|game|lecture|ferry)|dinner|lunch|breakfast|supper) was [a-z ]+"),
    ("liking", "{who} (?:called|phoned|wrote to|thought about|dreamed of|texted|waved at|smiled at|talked about|"
               "remembered|forgot|winked at) {to}(?: that day| again)?"),
    ("mood", "{who} (?:withdrew|saved|spent|lost|earned|slept|had|read|paid|told|yawned|"
             "smiled|laughed|sang|whistled|said|sighed|giggled|likes|loves|prefers|adores|thought|dreamed|"
             "talked|was)(?: [a-z ]+)?"),
)  # fmt: skip

_OPENER = re.compile(
    "^(?:afterwards|then|after that|following that|next|later|soon|now|later on|soon after|soon after that|"
    "after a while|thereupon|an? (?:moment|minute|bit|while|hour|instant) later|some time later|"
    "(?:shortly|right|just|not long) after(?: that|wards)?|and then),? "
    "(?=[A-Z]|he |she |they |we |the |you |her |him |his |my |in |at |it |both |an? |some |after [a-z]+ing )"
)
_WRAPPER = re.compile(
    "^(?:(?:did you know|have you heard|you should know|you see|we all know|rumour says|"
    "(?:I|we) (?:heard|saw|read|learned|noticed|gathered)|it (?:seems|turns out|is said|is clear|transpires)) that|"
    "it seems|they say|someone said|somebody told me|they told me|I gather|"
    "(?:apparently|actually|in fact|as you know|as it happens|by the way|of course|luckily|evidently),) "
)


@dataclass(frozen=True)
class Said:
    """What a sentence says: its rule, its slots, and the people it names in order."""

    rule: str
    slots: dict[str, str]
    named: tuple[str, ...]

    def __getitem__(self, slot: str) -> str:
        return self.slots[slot]


def listed(text: str) -> list[str]:
    """The names of a list."""
    return re.split(", | and ", text)


# Where things are and nobody is.
APART = re.compile(
    "the (?:[a-z]+ )?(?:table|desk|shelf|bench|counter|couch|carpet|plinth|lectern|workbench|altar|mantelpiece)"
    "|the (?:drawer|fridge|wardrobe|box|cabinet|locker|bin|crate|car|van|trunk|hamper|satchel|dresser)"
)


def _openings(text: str) -> Iterator[str]:
    """The sentence as it may have been before its first letter became a capital."""
    yield text[0].lower() + text[1:]
    yield text


_SURFACE = "table|desk|shelf|bench|counter|couch|carpet|plinth|lectern|workbench|altar|mantelpiece"
_GOING = (
    "went|gone|moved|walked|headed|travelled|ran|hurried|returned|came|drove|trip|strolled|wandered|rushed|back|over|"
    "straight|go|walk|move|travel|return|head|stroll|journeyed|got|flew|rode|going|walking|heading|moving|stepped|"
    "popped|then|on|get|brought|went either|gone either|up|down|out|across|cab|metro|subway|minicab|come|been"
)
_MANY = (
    "(?:the|my|some) (?:keys|glasses|shoes|tickets|scissors|flowers|papers|slippers|binoculars|tongs|clogs|dominoes)"
)
_MINE = (
    (re.compile(r"\bI'm\b"), "I is"),
    (re.compile(r"\bI am\b"), "I is"),
    (re.compile(r"\b([Aa])m I\b"), "is I"),
    (re.compile(r"(?<!do )(?<!could )\bI have\b"), "I has"),
    (re.compile(r"\b[Hh]ave I\b"), "has I"),
    (re.compile(r"\b[Dd]o I (?=have|hold|carry|possess)"), "does I "),
    (re.compile(r"(?<!tell )(?<!told )\bme\b"), "I"),
    (re.compile(r"(?<!does )(?<!did )(?<!must )(?<!should )\bI (hold|lug|feel|look|seem|appear|own)\b"), r"I \1s"),
    (re.compile(r"(?<!does )(?<!did )\bI carry\b"), "I carries"),
    (re.compile(r"(?<!does )(?<!did )\bI possess\b"), "I possesses"),
    (re.compile(r"\b[Mm]y (?=[a-z])"), "the "),
    (
        re.compile(
            r"\b(?:his|her(?! (?:in|at|on|inside|is|who|right|now|currently|go|visit|enter|get|take|pick|yesterday|"
            r"before|after|last|two|this)\b)) (?=[a-z])"
        ),
        "the ",
    ),
)
_PLAIN = (
    *_MINE,
    (re.compile(r"(does .+) work(?=(?: in| now| these days| at present)?$)"), r"\1 works"),  # and not at work
    *((re.compile(rf"({_MANY}) {many}\b"), rf"\1 {one}") for one, many in (("is", "are"), ("looks", "look"))),
    *((re.compile(rf"\b{many} (?={_MANY})"), f"{one} ") for one, many in (("is", "are"), ("does", "do"))),
    (re.compile(rf"({_MANY}) were\b"), r"\1 was"),
    (re.compile(rf"\bwere (?={_MANY})"), "was "),
    (re.compile(rf"({_MANY}) have(?= )"), r"\1 has"),
    (re.compile(rf"\bhave (?={_MANY} (?:gone|ended))"), "has "),
    (re.compile(r"(?<=before )they were\b"), "it was"),
    (re.compile(r"(?<=before )they\b"), "it"),
    (re.compile(rf"\bon (?=the (?:[a-z]+ )?(?:{_SURFACE})\b)"), "in "),
    (re.compile(r"(?<!the )\b(?=(?:home|work|school)\b)"), "the "),
    (re.compile(r"\b[Aa]t (?=the (?:home|work|school)\b)"), "in "),
    (re.compile(rf"\b({_GOING}) (?=the home\b)"), r"\1 to "),
)


def plain(text: str) -> str:
    """A sentence in which every place has an article, and "in" or "to" before it."""
    for idiom, said in _PLAIN:
        text = idiom.sub(said, text)
    return text


@lru_cache(maxsize=200_000)
def parse(sentence: str) -> Said:
    """What a sentence says.

    Raises:
        ValueError: where no rule fits.
    """
    for opening in map(plain, _openings(sentence.removesuffix("."))):
        for text in dict.fromkeys((_WRAPPER.sub("", opening), opening, _OPENER.sub("", opening))):
            for rule, template in _RULES:
                if match := pattern(template).fullmatch(text):
                    return _said(rule, match)
    raise ValueError(f"no rule fits: {sentence!r}")


def _said(rule: str, match: re.Match[str]) -> Said:
    slots = {name: value for name, value in match.groupdict().items() if value is not None}
    people = sorted((slot for slot in ("who", "to") if slot in slots), key=match.start)
    return Said(rule, slots, tuple(name for slot in people for name in listed(slots[slot])))
