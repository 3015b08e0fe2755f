// Stories to click, one of each kind of reasoning. A test asks the shipped model all of them.

import { CARRYING, PEOPLE, longStory } from "./tales.js";

export const EXAMPLES = [
  {
    id: "names",
    title: "New names",
    story: "Priya went to the observatory. Tomasz moved to the bakery. Priya picked up the telescope. Priya travelled to the harbour. Tomasz went back to the museum.",
    questions: [["Where is Priya?", "harbour"], ["Where is the telescope?", "harbour"], ["Where is Tomasz?", "museum"]],
  },
  {
    id: "mixed",
    title: "A mixed story",
    story: "Mary took the football. Mary went to the office. Mary dropped the football. Mary moved to the kitchen. Fred is either in the school or the park. Bill is no longer in the cinema. Sumit is tired. Sumit went to the bedroom.",
    questions: [["Where is the football?", "office"], ["Is Fred in the park?", "maybe"], ["Is Bill in the cinema?", "no"], ["Why did Sumit go to the bedroom?", "tired"]],
  },
  {
    id: "list",
    title: "A list",
    story: "Daniel grabbed the apple. Sandra went to the garden. Daniel moved to the hallway. Daniel took the football. Sandra picked up the milk.",
    questions: [["What is Daniel carrying?", "football,apple"], ["What is Sandra carrying?", "milk"]],
  },
  {
    id: "unknown",
    title: "Not said",
    story: "Mary moved to the bathroom. John went to the hallway. John picked up the lamp.",
    questions: [["Where is Sandra?", "unknown"], ["Where is the milk?", "unknown"], ["Where is Mary?", "bathroom"]],
  },
  {
    id: "path",
    title: "A path",
    story: "The garden is west of the kitchen. The office is north of the garden. The hallway is east of the office.",
    questions: [["How do you go from the kitchen to the office?", "w,n"], ["How do you go from the office to the kitchen?", "s,e"], ["What is north of the garden?", "office"]],
  },
  {
    id: "counting",
    title: "Counting",
    story: "Mary got the milk. John moved to the bedroom. Mary discarded the milk. John went to the garden. Mary grabbed the apple. Mary took the football.",
    questions: [["How many objects is Mary carrying?", "two"], ["How many objects is John carrying?", "none"]],
  },
  {
    id: "time",
    title: "Time of day",
    story: "Julie went to the park this morning. Julie travelled to the school yesterday. Fred moved to the office yesterday. Julie journeyed to the cinema this afternoon. Fred went to the kitchen this morning.",
    questions: [["Where was Julie before the cinema?", "park"], ["Where was Julie before the park?", "school"], ["Where was Fred before the kitchen?", "office"]],
  },
  {
    id: "either",
    title: "No, either-or",
    story: "Sandra is in the garden. Daniel is not in the office. Bill is either in the school or the park. Sandra went to the kitchen. John is no longer in the hallway.",
    questions: [["Is Sandra in the kitchen?", "yes"], ["Is Daniel in the office?", "no"], ["Is Bill in the school?", "maybe"], ["Is John in the hallway?", "no"]],
  },
  {
    id: "giving",
    title: "Giving",
    story: "Fred went to the bedroom. Fred picked up the apple. Bill moved to the bedroom. Fred gave the apple to Bill. Bill handed the apple to Mary.",
    questions: [["Who has the apple?", "mary"], ["Who gave the apple to Bill?", "fred"], ["What did Fred give to Bill?", "apple"], ["Who gave the apple to Mary?", "bill"]],
  },
  {
    id: "long",
    title: "A long story",
    story: longStory(120, CARRYING, PEOPLE).join(" "),
    questions: [["Where is the football?", "garden"], ["Where is Mary?", "kitchen"]],
  },
];
