// Errors stand where they arose: at the story, at the questions, or at the head of the page.

import { Problem } from "./client.js";
import { at, setText } from "./dom.js";

export function showError(error) {
  if (["story", "sentences"].includes(error.field)) showStoryError(error.message);
  else if (/^questions?(\.|$)/.test(error.field ?? "")) setText(at("questions-error"), error.message);
  else showNotice(error);
}

export function showStoryError(text) {
  setText(at("story-error"), text);
  if (text) at("story").setAttribute("aria-invalid", "true");
  else at("story").removeAttribute("aria-invalid");
}

function showNotice(error) {
  setText(at("notice-text"), error instanceof Problem ? error.message : `This page failed: ${error.message}`);
  at("token-form").hidden = error.status !== 401;
  at("notice").hidden = false;
  if (error.status === 401) at("token").focus();
}

export function clearErrors() {
  at("notice").hidden = true;
  showStoryError("");
  setText(at("questions-error"), "");
}
