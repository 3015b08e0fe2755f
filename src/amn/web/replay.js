// A story replayed from a file: what was read is in the file, and no server is asked.

import { Cards } from "./cards.js";
import { at } from "./dom.js";
import { Reading } from "./reading.js";
import { Stage } from "./stage.js";
import { StoryView } from "./story.js";

const data = JSON.parse(at("data").textContent);
const replayed = new Reading(data);
for (const { question, time, answer } of data.reasons) replayed.setReason(question, time, answer);

const view = new StoryView(at("marks"));
view.tell(data.sentences.join(" "), data.sentences);

const fixed = new Cards(at("questions"), { select: (card) => scene.select(card), goTo: (time) => scene.goTo(time) });
fixed.set(data.questions);
const scene = new Stage(view, fixed);
scene.show(replayed);
if (!matchMedia("(prefers-reduced-motion: reduce)").matches) scene.clock.play();
