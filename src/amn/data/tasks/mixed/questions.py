"""How questions are worded: bAbI's own or the plainest, and a grammar of further ones as people type them."""

from amn.data.tasks.mixed.grammar import wordings

QUESTIONS = wordings("""
<ask> := (can you tell me|could you tell me|do you know|tell me|please tell me|I wonder|~would you know)
<now> := (| now| right now| at the moment| currently)
<room> := (room|place|~spot)
<took> := (took|grabbed|picked up|collected|fetched|~snatched)
<take> := (take|grab|pick up|collect|fetch|~snatch)
<dropped> := (dropped|discarded|put down|set down|let go of|~abandoned)
<drop> := (drop|discard|put down|set down|let go of|~abandon)
<much> := (| much| a lot| a bit| clearly| even| far| ~considerably)
who taken:
    who <took> {thing}
    who picked {thing} up
    (who was it that|which person|what person) <took> {thing}
    <ask> who <took> {thing}
what taken:
    what did {who} <take>
    (which|what) (things|objects|items|~belongings) did {who} <take>
    <ask> what {who} <took>
did taken:
    did {who} <take> {thing}(| or not)
    (was it {who} who|is it true that {who}) <took> {thing}
    <ask> (if|whether) {who} <took> {thing}
who dropped:
    who <dropped> {thing}
    who put {thing} down
    (who was it that|which person|what person) <dropped> {thing}
    <ask> who <dropped> {thing}
what dropped:
    what did {who} <drop>
    (which|what) (things|objects|items|~belongings) did {who} <drop>
    <ask> what {who} <dropped>
did dropped:
    did {who} <drop> {thing}(| or not)
    (was it {who} who|is it true that {who}) <dropped> {thing}
    <ask> (if|whether) {who} <dropped> {thing}
first:
    where was {it} (first|at first|in the beginning|to begin with|at the start|~initially)
    where (did {it} start|did {it} begin|was {it} to start with)
    (which|what) <room> was {it} in (first|at first|in the beginning)
    <ask> where {it} was (first|at first|in the beginning)
anybody in:
    is (there |)(anybody|anyone|somebody|someone) (in|at|inside) {place}(| now| right now)
    (are there|~might there be) (any |)people in {place}(| now)
    <ask> (if|whether) (there is (anybody|anyone|someone)|(anybody|anyone|someone) is) in {place}
off topic:
    how (old|tall|heavy|rich|clever|~wealthy) is {who}
    how (often|long|fast|well) does {who} (read|sing|sleep|laugh|~jog)
    what (time|day|year|~month) is it(| now| today)
    who is the (president|prime minister|queen|boss|~mayor)(| of France| of the country)
    why is the (sky|sea|grass|~moon) (|so ){colour}
    what (does|did) {who} (like|eat|drink|say|want|think|~believe)(| today| most)
    who does {who} (like|love|know|miss|~envy)(| most)
    what is {who} (wearing|reading|thinking|doing|~knitting)(| today| now)
    what is the (capital of (France|Spain)|meaning of life|price of gold|best film|~moral of it)(| again)
    when (was {who} born|did {who} sleep|will {who} eat|does {who} get up|~will {who} retire)(| exactly| again)
    how much (money does {who} have|does {who} earn|did {who} pay|does it cost)(| exactly| in all)
    (is|was) {who} (married|happy|rich|nice|angry|~famous)
    who (won|lost|invented|wrote|~composed) the (game|song|match)
    how many (children|friends|brothers|sisters|years|~nephews) does {who} have(| exactly| in all)
class colour:
    (what|which) (color|colour|~hue) are(| all) {kinds}(| usually)
    what is the (color|colour) of(| all) {kinds}
    <ask> (what|which) (color|colour) {kinds} are
class fear:
    what are {kinds} (afraid|scared|frightened|terrified|~wary) of
    what do {kinds} (fear|~dread)
    (which|what) (animal|creature|kind of animal) (are {kinds} (afraid|scared) of|do {kinds} fear)
    of what are {kinds} (afraid|scared|frightened)
    <ask> what {kinds} are (afraid|scared) of
    what (frightens|scares) {kinds}
where:
    = Where is {it}
    (where is|where's) {it}<now>
    (which|what) <room> is {it} in(| now)
    in (which|what) <room> is {it}(| now)
    <ask> where {it} is(| now)
    where (can|could|would|will|do) (I|we|you) find {it}
    where (did {it} go|has {it} gone|can {it} be found|is {it} located|~has {it} ended up)
    what is the location of {it}
    where (should|must) I look for {it}
thing before:
    = Where was {it} before {place}
    where was {it} before it (was in|was at|came to|got to|reached|was brought to|~arrived in) {place}
    where had {it} been before {place}
    <ask> where {it} was before {place}
    before {place}, where was {it}
    (which|what) <room> was {it} in before {place}
    in (which|what) <room> was {it} before {place}
    where was {it} right before {place}
    before it (was in|came to|got to) {place}, where was {it}
    where did {it} come from before {place}
person before:
    = Where was {it} before {place}
    where was {it} before (going to|visiting|being in|moving to|walking to|~entering) {place}
    where had {it} been before {place}
    <ask> where {it} was before {place}
    before {place}, where was {it}
    (which|what) <room> was {it} in before {place}
    in (which|what) <room> was {it} before {place}
    where was {it} right before {place}
    before (going to|visiting|being in) {place}, where was {it}
    where did {it} come from before {place}
person after:
    where (did|~would) {it} go after {place}
    where was {it} after {place}
    where did {it} (go|move|walk|head) (right after|after leaving|after visiting|after being in) {place}
    <ask> where {it} (went|was) after {place}
    after {place}, where (did {it} go|was {it})
    (which|what) <room> (did {it} go to|was {it} in) after {place}
    where had {it} gone after {place}
is in:
    = Is {it} in {place}
    is {it} (in|at|inside) {place}(| now| right now| at the moment)
    is {it} (now|currently) (in|at) {place}
    (can|will|would|could) (I|we|you|~one) find {it} in {place}
    <ask> (if|whether) {it} is in {place}
    can {it} be found (in|at) {place}
    is {place} where {it} is
    is it true that {it} is (in|at) {place}
who has:
    who (has|has got|is carrying|is holding|holds|carries|owns|~possesses) {thing}(| now| right now)
    who's (got|carrying|holding) {thing}(| now)
    who is it that has {thing}
    <ask> who (has|has got|is carrying|is holding) {thing}
    with whom is {thing}
    in whose hands is {thing}
    (which|what) person (has|is carrying|is holding) {thing}
has:
    does {who} (have|hold|carry|~possess) {thing}(| now| right now)
    has {who} got {thing}(| now| right now| at the moment)
    is {who} (carrying|holding) {thing}(| now| right now| at the moment)
    <ask> (if|whether) {who} (has|is carrying|is holding) {thing}
    is it {who} who has {thing}
    is {thing} with {who}
carrying:
    = What is {who} carrying
    what is {who} (carrying|holding)<now>
    what's {who} (carrying|holding)(| now)
    what (does {who} have|has {who} got|does {who} carry|does {who} hold|~does {who} possess)(| now| right now)
    (which|what) (things|objects|items) (is {who} carrying|is {who} holding|does {who} have|has {who} got)
    <ask> what {who} (has|is carrying|is holding)
count carried:
    = How many objects is {who} carrying
    how many (objects|things|items|~belongings) is {who} (carrying|holding)(| now| right now)
    how many (objects|things|items) (does {who} have|has {who} got|does {who} carry|does {who} hold)(| now)
    <ask> how many (objects|things|items) {who} (has|is carrying|is holding)
    what number of (objects|things|items) (is {who} carrying|does {who} have)
what given:
    = What did {who} give to {to}
    what did {who} (give|pass|hand|bring|offer|~slip)(| over) to {to}
    what (has {who} given|was given by {who}) to {to}
    what did {who} (give|pass|hand|bring) {to}
    what did {to} (get|receive|take|accept) from {who}
    what was {to} (given|handed) by {who}
    (which|what) (thing|object|item) did {who} (give|pass|hand) to {to}
    <ask> what {who} gave (to |){to}
giver:
    = Who gave {thing}
    who (passed|handed|gave away|handed over|passed on|~donated) {thing}
    who was it that (gave|passed|handed over) {thing}
    (by whom was {thing} given(| away)|who was {thing} given(| away) by)
    who (has given|gave) {thing} to (someone|somebody|someone else)
    <ask> who (gave|handed over|passed on) {thing}
    (which|what) person (gave|handed over|passed on) {thing}
giver to:
    = Who gave {thing} to {to}
    who (passed|handed|brought|offered|has given|~slipped) {thing} to {to}
    who (gave|passed|handed|brought) {to} {thing}
    who was it that (gave|passed|handed) {thing} to {to}
    (by whom was {thing} given to {to}|who was {thing} given to {to} by)
    from whom did {to} (get|receive|accept) {thing}
    who did {to} (get|receive|accept|take) {thing} from
    <ask> who (gave|handed|passed) {thing} to {to}
    (which|what) person gave {thing} to {to}
receiver:
    = Who received {thing}
    who (was given|has received|was handed|accepted|~obtained) {thing}(| as a gift| from someone| from somebody)
    who was {thing} (given|handed|passed) to
    to whom was {thing} (given|handed|passed)
    <ask> who (received|was given|was handed) {thing}
    (which|what) person (received|was given) {thing}
given to:
    = Who did {who} give {thing} to
    who did {who} (pass|hand|bring|offer|~slip)(| over) {thing} to
    (to whom did {who} (give|pass|hand) {thing}|whom did {who} (give|pass|hand) {thing} to)
    who (got|received|accepted|took) {thing} from {who}
    who was (given|handed) {thing} by {who}
    who has {who} (given|passed|handed) {thing} to
    <ask> who {who} (gave|handed|passed) {thing} to
    (which|what) person did {who} give {thing} to
who in:
    who (is|is now|is currently|can be found|~is hiding) (in|at|inside) {place}
    who's (in|at|inside) {place}(| now| right now)
    who is (in|at|inside) {place} (now|right now|at the moment)
    (which|what) (person|people) (is|are) in {place}(| now)
    <ask> who is (in|at) {place}(| now)
    who (can|would|could|will) I find in {place}
count in:
    how many (people|persons|~folks) are (in|at|inside) {place}(| now| right now| at the moment)
    how many people (can be found|are there|can I find|would I find) in {place}
    <ask> how many people are in {place}
    what number of people (is|are) in {place}
who with:
    who is (with|together with|in the same place as|in the same room as|~alongside) {who}(| now| right now)
    who's with {who}(| now| right now)
    <ask> who is with {who}
    who is {who} with(| now| right now| at the moment)
is with:
    is {who} with {to}(| now| right now| at the moment)
    is {who} (in the same room as|in the same place as|together with|~alongside) {to}(| now)
    are {who} and {to} (together|in the same place|in the same room|in one room)(| now)
    <ask> (if|whether) {who} is with {to}
at time:
    where was {who} {time}
    where did {who} (go|head|travel|~stay) {time}
    {time}, where (was {who}|did {who} go)
    (which|what) <room> (was {who} in|did {who} go to|did {who} visit) {time}
    <ask> where {who} (was|went) {time}
    where could (I|we|you) (have found|find) {who} {time}
will go:
    = Where will {who} go
    where is {who} (going to go|going next|likely to go|about to go|~bound to go)
    where would {who} (go|head|like to go|want to go)
    where will {who} (head|walk|go next)
    (which|what) <room> will {who} go to
    <ask> where {who} will go
why go:
    = Why did {who} go to {place}
    why (did {who} (move to|walk to|head to|visit|enter|~stroll to)|has {who} gone to|was {who} in) {place}
    for what reason did {who} go to {place}
    what made {who} (go to|visit|enter) {place}
    what was the reason {who} went to {place}
    <ask> why {who} (went to|visited) {place}
why get:
    = Why did {who} get {thing}
    why (did {who} (take|grab|pick up|fetch|want|~snatch)|has {who} taken|does {who} have) {thing}
    for what reason did {who} (get|take) {thing}
    what made {who} (get|take|pick up) {thing}
    <ask> why {who} (got|took|picked up) {thing}
kind:
    what (is|kind of animal is|sort of animal is|animal is|type of animal is|~species is) {who}
    (which|what) kind of (animal|creature) is {who}
    <ask> what (animal|kind of animal) {who} is
    {who} is what kind of animal
colour:
    = What color is {who}
    what (colour is|is the color of|is the colour of|~hue is) {who}
    (which|what) (color|colour) does {who} have
    which (color|colour) is {who}
    <ask> (what|which) (color|colour) {who} is
    {who} is (what|which) (color|colour)
    what color would {who} be
fear:
    = What is {who} afraid of
    what (does {who} fear|is {who} scared of|is {who} frightened of|is {who} terrified of|~does {who} dread)
    (which|what) (animal|creature|kind of animal) (is {who} afraid of|does {who} fear|is {who} scared of)
    of what is {who} (afraid|scared|frightened)
    <ask> what {who} (is afraid of|is scared of|fears)
    (what|what animal|which animal) (frightens|scares) {who}
bigger:
    = Is {big} bigger than {small}
    is {big} (larger|~more spacious) than {small}
    is {small} (smaller|~tinier) than {big}
    is it true that {big} is (bigger|larger) than {small}
    <ask> (if|whether) {big} is (bigger|larger) than {small}
    is {small} not as big as {big}
fits:
    = Does {small} fit in {big}
    (does|will|can|would|could|~might) {small} fit (in|into|inside) {big}
    can {small} be put (in|into|inside) {big}
    can {big} hold {small}
    is there room for {small} in {big}
    is {big} big enough for {small}
    <ask> (if|whether) {small} (fits|will fit) (in|into|inside) {big}
beside:
    = Is {one} {side} {other}
    (does|would) {one} (lie|sit) {side} {other}
    is {one} (placed|located|~drawn) {side} {other}
    <ask> (if|whether) {one} is {side} {other}
    is it true that {one} is {side} {other}
north of it:
    = What is {way} of {one}
    what (lies|is located|~sits) {way} of {one}
    what is (directly|just|to the) {way} of {one}
    (which|what) <room> (is|lies) {way} of {one}
    <ask> what is {way} of {one}
    what (would I|do you) (reach|find) {way} of {one}
it north of:
    = What is {one} {way} of
    what (does {one} lie|is {one} located) {way} of
    what is {one} (directly|just|to the|~right to the) {way} of
    (which|what) <room> is {one} {way} of
    <ask> what {one} is {way} of
    {one} is {way} of what
path:
    = How do you go from {one} to {other}
    how (do|can|would|could|should) (I|you|we|~one) (go|get|walk|travel) from {one} to {other}
    (what|which) is the (way|path|route) from {one} to {other}
    which way is it from {one} to {other}
    <ask> (how to get|how to go|the way) from {one} to {other}
thing colour:
    what (color|colour|~hue) is {thing}
    what is the (color|colour) of {thing}
    (which|what) (color|colour) does {thing} have
    which (color|colour) is {thing}
    <ask> (what|which) (color|colour) {thing} is
how many:
    = how many {items} does {who} have
    how many {items} (does {who} (have|own|~possess)|has {who} got)(| now| left| in all| in total)
    <ask> how many {items} {who} (has|has got)(| now| left)
    what number of {items} does {who} have(| now| left)
    how many {items} are there with {who}(| now)
whom likes:
    = who does {who} {like}
    (who|whom) does {who} (|really |secretly |~dearly ){like}(| a lot| most| very much)
    who is(| really| secretly) {liked} by {who}
    (who|which person) is it (that |){who} {likes}
    <ask> (who|whom) {who} {likes}
who likes:
    = who {likes} {to}
    who (|really |secretly |~dearly ){likes} {to}(| a lot| very much)
    (which|what) (person|people) {likes} {to}
    by whom is {to} {liked}
    who is it that {likes} {to}
    <ask> who {likes} {to}
likes:
    = does {who} {like} {to}
    does {who} (|really |~dearly ){like} {to}(| a lot| very much| or not)
    is it true that {who} {likes} {to}
    is {to} {liked} by {who}
    <ask> (if|whether) {who} {likes} {to}
whose tie:
    = who is {who} {tie}
    = who is {tie} {who}
    who is {who} {tie}(| now)
    who is(| now| ~officially) {tie} {who}
    (which|what) person is {tie} {who}
    <ask> who is {tie} {who}
    who is it that is {tie} {who}
tie:
    = is {who} {tie} {to}
    = are {who} and {to} {ties}
    is {who}(| now| really| still| ~officially) {tie} {to}
    are {who} and {to}(| now| really| still) {ties}
    is it true that {who} (is {tie} {to}|and {to} are {ties})
    <ask> (if|whether) {who} is {tie} {to}
more:
    = is {high} {more} than {low}
    = is {low} {less} than {high}
    is {high}<much> {more} than {low}
    is {low}<much> {less} than {high}
    is it true that {high} is {more} than {low}
    <ask> (if|whether) {high} is {more} than {low}
    is {low} not as {plain} as {high}
which more:
    = {which} is {word}, {one} or {other}
    {which} is the {word}(| one), {one} or {other}
    {which} is {word}: {one} or {other}
    {one} or {other}, {which} is {word}
    {which} of {one} and {other} is(| the) {word}
    of {one} and {other}, {which} is {word}
    <ask> {which} is {word}, {one} or {other}
    is {one} or {other} {word}
    {which} ~would be {word}, {one} or {other}
most:
    = {which} is the {word}
    {which} is the {word}(| one)(| of all| of them| of them all| here| ~by far)
    (of all|of them all|of them), {which} is the {word}
    <ask> {which} is the {word}(| of all| of them)
""")
