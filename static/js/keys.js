// Keyboard shortcuts: / writes, Esc closes or stops, ↑ edits, ? lists the keys.

import { isBusy } from "./composer.js";
import { close, isOpen } from "./drawer.js";

const field = document.getElementById("question");
const keys = document.getElementById("keys");

const isWriting = (element) => element.closest?.("input, textarea, select, [contenteditable]") !== null;

function editLast() {
  [...document.querySelectorAll("#turns [data-edit]")].at(-1)?.click();
}

function escape(event) {
  if (document.querySelector("dialog[open], :popover-open")) return;
  const cancel = event.target.closest?.(".editing")?.querySelector("[data-cancel-edit]");
  if (cancel) cancel.click();
  else if (isOpen()) close();
  else if (isBusy()) document.getElementById("stop").click();
  else event.target.blur?.();
}

document.addEventListener("keydown", (event) => {
  if (event.isComposing || event.keyCode === 229) return;
  if (event.key === "Escape") {
    escape(event);
  } else if (event.key === "ArrowUp" && event.target === field && !field.value) {
    event.preventDefault();
    editLast();
  } else if (!isWriting(event.target) && !event.ctrlKey && !event.metaKey && !event.altKey) {
    if (event.key === "/") {
      event.preventDefault();
      field.focus();
    } else if (event.key === "?") {
      keys.showModal();
    }
  }
});
