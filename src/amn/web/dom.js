// What every part of the page does with elements.

export const at = (id) => document.getElementById(id);

export function element(tag, className, text) {
  const made = document.createElement(tag);
  if (className) made.className = className;
  if (text !== undefined) made.append(text);
  return made;
}

export function button(className, text, act) {
  const made = element("button", className, text);
  made.type = "button";
  made.addEventListener("click", act);
  return made;
}

export const count = (number, one) => `${number} ${one}${number === 1 ? "" : "s"}`;

let speaking;

// What a screen reader is told, after some milliseconds in which nothing else is.
export function speak(text, rest = 0) {
  clearTimeout(speaking);
  speaking = setTimeout(() => setText(at("spoken"), text), rest);
}

// Sets text only where it differs, so that a screen reader is not told twice.
export function setText(node, text) {
  if (node.textContent !== text) node.textContent = text;
}
