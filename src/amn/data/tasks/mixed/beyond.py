"""How facts that bAbI has no task for are worded, and the questions about them."""

_ASK = "(can you tell me|could you tell me|do you know|tell me|please tell me|I wonder|~would you know)"
_MUCH = "(| much| a lot| a bit| clearly| even| far| ~considerably)"

# The plainest of each kind, which are never kept out of training.
PLAIN_EVENTS = {
    "own": ("{who} {have} {amount}",),
    "own and lose": ("{who} {have} {amount} and ate {part}",),
    "gain": ("{who} bought {part}",),
    "lose": ("{who} ate {part}",),
    "share": ("{who} gave {part} to {to}", "{who} gave {to} {part}"),
    "buy": ("{who} bought {thing} (at|in) {place}",),
    "likes": ("{who} {likes} {to}",),
    "does not like": ("{who} (does not|doesn't) {like} {to}",),
    "tie": ("{who} is {tie} {to}", "{who} and {to} are {ties}"),
    "more": ("{high} is {more} than {low}", "{low} is {less} than {high}"),
    "not there": ("{who} {be} no longer there", "{who} {be}n't there any more"),
    "empty": ("nobody is in {place}", "{place} is empty"),
}
PLAIN_QUESTIONS = {
    "how many": ("how many {items} does {who} have",),
    "whom likes": ("who does {who} {like}",),
    "who likes": ("who {likes} {to}",),
    "likes": ("does {who} {like} {to}",),
    "whose tie": ("who is {who} {tie}", "who is {tie} {who}"),
    "tie": ("is {who} {tie} {to}", "are {who} and {to} {ties}"),
    "more": ("is {high} {more} than {low}", "is {low} {less} than {high}"),
    "which more": ("{which} is {word}, {one} or {other}",),
    "most": ("{which} is the {word}",),
}

_LOST = "(ate|lost|sold|gave away|threw away|broke|used|~mislaid)"

EVENTS = {
    "own": (
        "{who} (|now |already |~currently ){have}(| got) {amount}",
        "{who} {have}(| got) {amount} (now|already|in a pocket|in a bag)",
        "{who} (owns|had|started with|keeps) {amount}",
    ),
    "own and lose": (
        "{who} {have} {amount} and(| then) " + _LOST + " {part}(| of them)",
        "{who} had {amount},(| but| and)(| then) " + _LOST + " {part}(| of them)",
    ),
    "gain": (
        "{who} (bought|found|got|received|collected|won|~acquired) {part}",
        "{who} {have}(| just) (bought|found|received|collected|won|~acquired) {part}",
    ),
    "lose": (
        "{who} " + _LOST + " {part}(| today| again)",
        "{who} {have}(| just) (lost|sold|thrown away|given away|used|~mislaid) {part}",
    ),
    "share": (
        "{who} (gave|handed|passed|sold|~slipped) {part} to {to}",
        "{who} (gave|handed|passed|sold) {to} {part}",
        "{to} (got|received|took|~obtained) {part} from {whom}",
    ),
    "buy": (
        "{who} (bought|found|ordered|borrowed|~purchased) {thing} (at|in) {place}",
        "{who} {have}(| just) (bought|found|borrowed|~purchased) {thing} (at|in) {place}",
        "(at|in) {place}, {who} (bought|found|borrowed|~purchased) {thing}",
        "{thing} (was|has been) (bought|found|borrowed|~purchased) (at|in) {place} by {whom}",
    ),
    "likes": (
        "{who} (|really |truly |secretly |~dearly ){likes} {to}",
        "{who} {likes} {to} (a lot|very much|so much|more than anything|~to bits)",
        "{to} is(| really| truly| secretly) {liked} by {whom}",
        "{to} is the one {who} {likes}",
    ),
    "does not like": (
        "{who} (does not|doesn't) (|really |~particularly ){like} {to}",
        "{who} (does not|doesn't) {like} {to} (at all|very much|any more|anymore|one bit)",
        "{to} is not(| really) {liked} by {whom}",
        "{who} (never {liked}|did not {like}|didn't {like}) {to}",
    ),
    "tie": (
        "{who} is(| now| still| actually| really| ~officially) {tie} {to}",
        "{who} and {to} are(| now| still| actually| really| ~officially) {ties}",
        "{who} has (always|long) been {tie} {to}",
        "{who} (happens|turned out) to be {tie} {to}",
    ),
    "more": (
        "{high} is" + _MUCH + " {more} than {low}",
        "{low} is" + _MUCH + " {less} than {high}",
        "{low} is not (as|so|quite as|nearly as) {plain} as {high}",
        "compared (with|to) {low}, {high} is" + _MUCH + " {more}",
    ),
    "not there": (
        "{who} {be} (not|no longer) (there|here)(| now)",
        "{who} {be}n't (there|here)(| now| any more| anymore| any longer)",
        "{who} {be} not (there|here) (any more|anymore|any longer)",
        "{who} {be} (gone|away)(| now| again)",
        "{who} (went away|walked away|has left|has gone away|~has departed)(| again| already)",
    ),
    "empty": (
        "(nobody|no one|~not a soul) is (in|at|inside) {place}(| now| right now| at the moment)",
        "there is (nobody|no one|not anybody) (in|at|inside) {place}(| now| right now)",
        "{place} is (empty|completely empty|~deserted)(| now| right now| at the moment)",
    ),
}

QUESTIONS = {
    "how many": (
        "how many {items} (does {who} (have|own|~possess)|has {who} got)(| now| left| in all| in total)",
        _ASK + " how many {items} {who} (has|has got)(| now| left)",
        "what number of {items} does {who} have(| now| left)",
        "how many {items} are there with {who}(| now)",
    ),
    "whom likes": (
        "(who|whom) does {who} (|really |secretly |~dearly ){like}(| a lot| most| very much)",
        "who is(| really| secretly) {liked} by {who}",
        "(who|which person) is it (that |){who} {likes}",
        _ASK + " (who|whom) {who} {likes}",
    ),
    "who likes": (
        "who (|really |secretly |~dearly ){likes} {to}(| a lot| very much)",
        "(which|what) (person|people) {likes} {to}",
        "by whom is {to} {liked}",
        "who is it that {likes} {to}",
        _ASK + " who {likes} {to}",
    ),
    "likes": (
        "does {who} (|really |~dearly ){like} {to}(| a lot| very much| or not)",
        "is it true that {who} {likes} {to}",
        "is {to} {liked} by {who}",
        _ASK + " (if|whether) {who} {likes} {to}",
    ),
    "whose tie": (
        "who is {who} {tie}(| now)",
        "who is(| now| ~officially) {tie} {who}",
        "(which|what) person is {tie} {who}",
        _ASK + " who is {tie} {who}",
        "who is it that is {tie} {who}",
    ),
    "tie": (
        "is {who}(| now| really| still| ~officially) {tie} {to}",
        "are {who} and {to}(| now| really| still) {ties}",
        "is it true that {who} (is {tie} {to}|and {to} are {ties})",
        _ASK + " (if|whether) {who} is {tie} {to}",
    ),
    "more": (
        "is {high}" + _MUCH + " {more} than {low}",
        "is {low}" + _MUCH + " {less} than {high}",
        "is it true that {high} is {more} than {low}",
        _ASK + " (if|whether) {high} is {more} than {low}",
        "is {low} not as {plain} as {high}",
    ),
    "which more": (
        "{which} is the {word}(| one), {one} or {other}",
        "{which} is {word}: {one} or {other}",
        "{one} or {other}, {which} is {word}",
        "{which} of {one} and {other} is(| the) {word}",
        "of {one} and {other}, {which} is {word}",
        _ASK + " {which} is {word}, {one} or {other}",
        "is {one} or {other} {word}",
        "{which} ~would be {word}, {one} or {other}",
    ),
    "most": (
        "{which} is the {word}(| one)(| of all| of them| of them all| here| ~by far)",
        "(of all|of them all|of them), {which} is the {word}",
        _ASK + " {which} is the {word}(| of all| of them)",
    ),
}
