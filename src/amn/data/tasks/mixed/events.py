"""How events and facts are worded: bAbI's own sentences or the plainest, and a grammar of further ones.

Verbs that agree with one or several subjects are fields: `{be}` and `{have}`. A subject is `{who}`; where it is no
subject of the grammar it is `{whom}`. Places and things bring their articles.
"""

from amn.data.tasks.mixed.grammar import Wordings, wordings

EVENTS = wordings("""
<went> := (went|moved|walked|headed|travelled|ran|hurried|returned|came|drove|made a trip|~strolled|~wandered|~rushed)
<left> := (went|walked|headed|drove|ran|returned)
<gone> := (gone|moved|walked|headed|travelled|returned|~strolled)
<got> := (got|took|grabbed|picked up|collected|fetched|got hold of|~snatched|~lifted)
<taken> := (taken|grabbed|picked up|collected|fetched|~snatched)
<dropped> := (dropped|discarded|put down|set down|let go of|got rid of|laid down|~released)
<let go> := (dropped|discarded|put down|set down|left behind|~abandoned)
<gave> := (gave|passed|handed|offered|~slipped)
<given> := (given|passed|handed|~slipped)
<now> := (now|currently|right now|at the moment)
<weather> := (wind|rain|sun|moon|fog|snow|thunder|river|traffic|crowd|choir|bird|~storm|~breeze)
<much> := (| much| a lot| a bit| clearly| even| far| ~considerably)
<lost> := (ate|lost|sold|gave away|threw away|broke|used|~mislaid)
move:
    = {who} (went|went back|moved|journeyed|travelled) to {place}
    {who} <went>(| over| back| straight) to {place}
    {who} {have}(| just| now) <gone> to {place}
    {who} (arrived|turned up|showed up|ended up) (in|at) {place}
    {who} (entered|reached|visited|came into|walked into|stepped into|~popped into) {place}
    {who} (set off|left) for {place}
    {who} (got|came|flew|~rode)(| back) to {place}
in:
    = {who} {be} in {place}
    {who} {be} (<now>|) (in|at|inside) {place}
    {who} {be} (in|at|inside) {place} <now>
    {who} {be} (standing|sitting|waiting|staying|~resting) (in|at) {place}
    {who} (stayed|waited|sat|~rested) in {place}
    you (can|will) find {whom} in {place}
    {who} can be found (in|at) {place}
    {place} is where {who} {be}(| now)
not in:
    = {who} {be} (not|no longer) in {place}
    {who} {be} (not|no longer|not currently) (in|at|inside) {place}
    {who} {be}n't (in|at|inside) {place}(| now| right now| anymore| any more| any longer)
    {who} {be} not (in|at|inside) {place} (now|right now|anymore|any more|any longer|~these days)
    {who} {have}(| just| already) left {place}
    you (will not|won't|can't|~shall not) find {whom} in {place}
either:
    = {who} {be} either in {place} or {other}
    {who} {be} either in {place} or in {other}
    {who} {be} (perhaps|maybe|possibly|~presumably) in {place} or(| in) {other}
    {who} (must|could|might|may|should) be(| either) in {place} or(| in) {other}
    (either |){who} {be} in {place} or in {other}
    {who} went(| either) to {place} or to {other}
    (either |){place} or {other} is where {who} {be}
    {who} {have} gone(| either) to {place} or to {other}
with:
    {who} {be}(| now| currently| right now) with {to}
    {who} {be} with {to} (now|right now|at the moment)
    {who} (joined|met|caught up with|met up with|~hooked up with) {to}
    {who} (went|came|walked|headed|ran) to (join|meet|see|be with) {to}
    {who} {have} (joined|met|gone to meet) {to}
    {who} (went|came|walked) (over |)to where {to} was
get:
    = {who} (got|took|grabbed|picked up) {thing}(| there)
    {who} <got> {thing}(| there)
    {who} {have}(| just) <taken> {thing}
    {thing} (was|has been) <taken> by {whom}
    {who} picked {thing} up(| there)
    {who} {be} now (carrying|holding) {thing}
drop:
    = {who} (dropped|left|discarded|put down) {thing}(| there)
    {who} <dropped> {thing}(| there| here)
    {who} {have}(| just) <let go> {thing}
    {thing} (was|has been) <let go> by {whom}
    {who} (put|set|laid) {thing} down(| there)
    {who} left {thing} behind(| there)
give:
    = {who} (gave|passed|handed) {thing} to {to}
    {who} <gave> {thing}(| over) to {to}
    {who} <gave> {to} {thing}
    {who} {have}(| just) <given> {thing} to {to}
    {who} {have}(| just) <given> {to} {thing}
    {thing} (was|has been) <given> to {to} by {whom}
    {to} (was|has been) <given> {thing} by {whom}
    {to} (received|got|took|accepted) {thing} from {whom}
    {who} (brought|delivered) {thing} to {to}
    {who} let {to} have {thing}
have:
    {who} (|now |already |~meanwhile ){have}(| got) {thing}
    {who} {have}(| got) {thing} (now|already)
    {who} {be}(| still| currently| right now) (carrying|holding) {thing}
    {who} (carries|holds|~lugs) {thing}(| now)
    {who} {have} {thing} (in hand|in one hand|in a bag|in a pocket|~at hand)
put:
    {who} (put|left|placed|set|dropped|laid|hid|~stashed) {thing}(| down) (in|at|inside) {place}
    {who} (parked|stored|kept|locked|~tucked)(| away) {thing} (in|at|inside) {place}
    {who} {have}(| just) (put|left|placed|hidden|parked|stored|~stashed) {thing} (in|inside) {place}
    {thing} (was|has been) (put|left|placed|hidden|~stashed) in {place} by {whom}
    in {place}, {who} (put down|dropped|left|~ditched) {thing}
get there:
    {who} <got> {thing} (in|at|from) {place}
    {who} {have}(| just) <taken> {thing} (in|from) {place}
    {who} picked {thing} up (in|at) {place}
    in {place}, {who} (took|got|grabbed|picked up|found and took|~snatched) {thing}
lies:
    {thing} (is|was)(| lying| sitting| placed| located) (in|at|inside) {place}
    {thing} can be (found|seen|~spotted) (in|at) {place}
    you (can|will) (find|see) {thing} in {place}
    there (is|was|has been) {thing} (in|at|inside) {place}
    in {place} (there is|you can see|~there lies) {thing}
    someone (left|put|placed|~stored) {thing} in {place}
carry:
    {who} (carried|brought|took|delivered|moved|~hauled)(| back) {thing} to {place}
    {who} (carried|brought|took|moved|~hauled) {thing} (into|over to|along to) {place}
    {who} {have}(| just) (carried|brought|taken|moved) {thing} (to|into) {place}
    {who} (went|walked|moved|headed) (over |)to {place} with {thing}
then:
    {who} (went|walked|moved|headed|~strolled) to {place} and then(| on) to {other}
    first {who} (went|walked|moved|headed) to {place}, then to {other}
    before (going|walking|heading) to {other}, {who} (went to|visited|was in) {place}
    after (visiting|leaving|~touring) {place}, {who} (went|walked|moved|headed) to {other}
    {who} (went|walked|moved|headed) to {other} after (visiting|leaving|~touring) {place}
    {who} (went|walked|moved|drove) from {place} to {other}
    {who} left {place} and(| then) (went|walked|headed|drove|moved|~strolled)(| over| back) to {other}
    {who} left {place} (for {other}|to go to {other}|and (entered|visited|is now in) {other})
not go:
    {who} did(n't| not) (go|walk|move|travel|return|head|~stroll)(| back| over) to {place}
    {who} never (went to|visited|entered|reached) {place}
    {who} (refused|failed|declined) to (go to|visit|enter) {place}
put and go:
    {who} (left|put|dropped|placed|parked|stored|hid|~tucked) {thing} in {place} and(| then) <left> to {other}
    {who} left {thing} (in|at|behind in) {place} (before going|to go|when going|~on the way) to {other}
    after (leaving|putting|parking|dropping|~stashing) {thing} in {place}, {who} (went|walked|headed) to {other}
not drop:
    {who} did(n't| not) (drop|put down|let go of|leave|discard|~abandon) {thing}(| there| anywhere)
    {who} (refused|failed|declined) to (drop|put down|let go of) {thing}
    {who} never (dropped|put down|discarded) {thing}
    {who} (kept|held on to|still held|~clung to) {thing}(| for now)
not give:
    {who} did(n't| not) (give|pass|hand|bring|offer|~slip) {thing} to {to}
    {who} did(n't| not) (give|pass|hand|offer) {to} {thing}
    {who} (refused|failed|declined) to (give|pass|hand) {thing} to {to}
    {who} never (gave|passed|handed) {thing} to {to}
not get:
    {who} did(n't| not) (take|get|grab|pick up|fetch|~snatch) {thing}
    {who} (refused|failed|declined) to (take|pick up|grab) {thing}
    {who} never (took|picked up|grabbed) {thing}
time:
    = {time} {who} (went|went back|moved|journeyed|travelled) to {place}
    = {who} (went|went back|moved|journeyed|travelled) to {place} {time}
    {time}(|,) {who} <went>(| over| back) to {place}
    {who} <went>(| over| back) to {place} {time}
    {time}(|,) {who} was (in|at|inside) {place}
    {who} was (in|at|inside) {place} {time}
    {who} (arrived|stayed|waited|~rested) (in|at) {place} {time}
    {who} visited {place} {time}
    {time} {who} visited {place}
feel:
    = {who} {be} {state}
    {who} (feels|felt|got|became|looks|seems|looked|seemed|~appears) {state}
    {who} is (feeling|getting|very|really|quite|so|a bit|rather|~terribly) {state}
    {who} (feels|felt|got|became|looks|seems) (very|really|quite|so|a bit|rather) {state}
kind:
    = {who} is {kind}
    {who} (happens to be|turned out to be|is really|is actually|is known to be|~was revealed to be) {kind}
    as (everyone knows|we know|it happens|I said), {who} is {kind}
    (it turns out|everyone knows|we know|I heard|I know|~rumour has it) that {who} is {kind}
colour:
    = {who} is {colour}
    {who} is (all|completely|actually|really|mostly|~entirely) {colour}
    {who} (looks|is known to be|happens to be) {colour}
    the (color|colour) of {whom} is {colour}
    {who} is {colour} in (color|colour)
class colour:
    {kinds} are(| all| always| really| ~invariably) {colour}
    all {kinds} are {colour}
    (every|each|any|every single) {kind} (is|looks) {colour}
    {one} is (always |){colour}
    the (color|colour) of {kinds} is {colour}
    (everyone knows|we know|I heard|I know|~rumour has it) that(| all) {kinds} are {colour}
fear:
    = {kinds} are afraid of {others}
    {kinds} are (scared|frightened|terrified|~wary) of {others}
    {kinds} (fear|dread) {others}
    (all|most) {kinds} are (afraid|scared) of {others}
    {kinds} are always (afraid|scared|frightened) of {others}
    {others} (scare|frighten|terrify) {kinds}
bigger:
    = {big} is bigger than {small}
    {big} is(| much| a lot| clearly| far) (bigger|larger) than {small}
    {big} is ~more spacious than {small}
    {small} is(| much| a lot| clearly| far) smaller than {big}
    {small} is (not as big as|~tinier than) {big}
    {big} is the bigger one of {big} and {small}
    compared with {small}, {big} is (bigger|larger)
fits:
    = {small} fits inside {big}
    {small} (fits in|fits into|will fit in|can fit in|can fit inside|~can be stuffed into) {big}
    {small} (can be put|goes) (into|inside) {big}
    {big} (can hold|has room for|is big enough for|~can contain) {small}
beside:
    = {one} is {side} {other}
    {one} (sits|lies|stands|is placed|is located|can be seen|~is drawn)(| directly| just) {side} {other}
    {side} {other} (is|lies|sits|stands|you see|~appears) {one}
compass:
    = {one} is {way} of {other}
    {one} is (to the|just|directly|located) {way} of {other}
    {one} lies (to the |just |directly |){way} of {other}
    (you find|you will find|there is) {one} (to the |just |){way} of {other}
    {one} can be found (to the |just |directly |){way} of {other}
    {way} of {other} (is|lies|you find|~sits) {one}
    if you go {way} from {other}, you (reach|get to|come to) {one}
thing colour:
    {thing} (is|looks) {colour}
    {thing} is (all|completely|mostly|really|~entirely) {colour}
    the (color|colour) of {thing} is {colour}
    {thing} was painted {colour}
    someone painted {thing} {colour}
    {thing} has a {colour} (color|colour)
remark:
    the <weather> (was loud|was quiet|woke everyone|pleased everyone|surprised everyone|came early|seemed strange)
    it was (cold|warm|raining|sunny|getting dark|~drizzling) (outside|that day|all day)
    (nobody|everyone) was (happy|surprised|talking) about (the weather|the news|the music|~the gossip)
    a (dog|phone|clock|~siren) (could be heard|made a noise)
    (the|a) (plane|concert|film|game|lecture|~ferry) was (late|early|long|over|on time)
    it was (five|six|seven|nine|~eleven) o'clock(| already| by then| at last)
    (dinner|lunch|breakfast|~supper) was (good|cold|ready|late)
person remark:
    {who} (smiled|laughed|sang a song|whistled a tune|said hello|~giggled)(| again| all day| to everyone)
    {who} (likes|loves|prefers|~adores) (music|jazz|sunny days|old films|long walks)
    {who} (thought about|dreamed of|talked about) (the weather|the holidays|the weekend|~the future)
    {who} (withdrew|saved|spent|lost|~earned) (money|some money|ten dollars)
    {who} (slept badly|had breakfast|read the news|paid for everything|told a joke|~yawned)(| again| that day)
    {who} was (happy|sad|angry|nervous|~grumpy)(| and (late|cold|nervous|quiet))
    {who} was (in a good mood|wearing a new coat|singing|humming a song|talking)
liking:
    {who} (called|phoned|wrote to|thought about|dreamed of|~texted) {to}(| that day| again)
    {who} (waved at|smiled at|talked about|remembered|forgot|~winked at) {to}(| that day| again)
own:
    = {who} {have} {amount}
    {who} (|now |already |~currently ){have}(| got) {amount}
    {who} {have}(| got) {amount} (now|already|in a pocket|in a bag)
    {who} (owns|had|started with|keeps) {amount}
own and lose:
    = {who} {have} {amount} and ate {part}
    {who} {have} {amount} and(| then) <lost> {part}(| of them)
    {who} had {amount},(| but| and)(| then) <lost> {part}(| of them)
gain:
    = {who} bought {part}
    {who} (bought|found|got|received|collected|won|~acquired) {part}
    {who} {have}(| just) (bought|found|received|collected|won|~acquired) {part}
lose:
    = {who} ate {part}
    {who} <lost> {part}(| today| again)
    {who} {have}(| just) (lost|sold|thrown away|given away|used|~mislaid) {part}
share:
    = {who} gave {part} to {to}
    = {who} gave {to} {part}
    {who} (gave|handed|passed|sold|~slipped) {part} to {to}
    {who} (gave|handed|passed|sold) {to} {part}
    {to} (got|received|took|~obtained) {part} from {whom}
buy:
    = {who} bought {thing} (at|in) {place}
    {who} (bought|found|ordered|borrowed|~purchased) {thing} (at|in) {place}
    {who} {have}(| just) (bought|found|borrowed|~purchased) {thing} (at|in) {place}
    (at|in) {place}, {who} (bought|found|borrowed|~purchased) {thing}
    {thing} (was|has been) (bought|found|borrowed|~purchased) (at|in) {place} by {whom}
likes:
    = {who} {likes} {to}
    {who} (|really |truly |secretly |~dearly ){likes} {to}
    {who} {likes} {to} (a lot|very much|so much|more than anything|~to bits)
    {to} is(| really| truly| secretly) {liked} by {whom}
    {to} is the one {who} {likes}
does not like:
    = {who} (does not|doesn't) {like} {to}
    {who} (does not|doesn't) (|really |~particularly ){like} {to}
    {who} (does not|doesn't) {like} {to} (at all|very much|any more|anymore|one bit)
    {to} is not(| really) {liked} by {whom}
    {who} (never {liked}|did not {like}|didn't {like}) {to}
tie:
    = {who} is {tie} {to}
    = {who} and {to} are {ties}
    {who} is(| now| still| actually| really| ~officially) {tie} {to}
    {who} and {to} are(| now| still| actually| really| ~officially) {ties}
    {who} has (always|long) been {tie} {to}
    {who} (happens|turned out) to be {tie} {to}
more:
    = {high} is {more} than {low}
    = {low} is {less} than {high}
    {high} is<much> {more} than {low}
    {low} is<much> {less} than {high}
    {low} is not (as|so|quite as|nearly as) {plain} as {high}
    compared (with|to) {low}, {high} is<much> {more}
not there:
    = {who} {be} no longer there
    = {who} {be}n't there any more
    {who} {be} (not|no longer) (there|here)(| now)
    {who} {be}n't (there|here)(| now| any more| anymore| any longer)
    {who} {be} not (there|here) (any more|anymore|any longer)
    {who} {be} (gone|away)(| now| again)
    {who} (went away|walked away|has left|has gone away|~has departed)(| again| already)
empty:
    = nobody is in {place}
    = {place} is empty
    (nobody|no one|~not a soul) is (in|at|inside) {place}(| now| right now| at the moment)
    there is (nobody|no one|not anybody) (in|at|inside) {place}(| now| right now)
    {place} is (empty|completely empty|~deserted)(| now| right now| at the moment)
""")

BABI_OPENERS = ("Afterwards", "Then", "After that", "Following that")
OPENERS: Wordings = Wordings(
    BABI_OPENERS,
    (
        "(next|later|soon|now|later on|soon after|soon after that|after a while|~thereupon)(,|)",
        "(a moment|a minute|a bit|a while|some time|an hour|~an instant) later(,|)",
        "(shortly|right|just|not long) after(| that|wards),",
        "and then(,|)",
        "then,",
        "after that,",
        "afterwards,",
    ),
)

# What facts are at times wrapped in.
WRAPPERS: Wordings = Wordings(
    (),
    (
        "(did you know|have you heard|you should know|you see|we all know|~rumour says) that",
        "(I|we) (heard|saw|read|learned|noticed|~gathered) that",
        "it (seems|turns out|is said|is clear|~transpires) that",
        "(it seems|they say|someone said|somebody told me|they told me|~I gather)",
        "(apparently|actually|in fact|as you know|as it happens|by the way|of course|luckily|~evidently),",
    ),
)
