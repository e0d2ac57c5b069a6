// A question asked while an answer is being written waits above the composer, and is sent when the answer ends.

import { isBusy, newId } from "./composer.js";

const chat = document.getElementById("chat");
const form = document.getElementById("composer");
const field = document.getElementById("question");
const line = document.getElementById("queued");
let queued = "";

// Its id is that of its request, so that it is asked once, even if it waits on two devices. See drafts.js.
export function show(question, id = newId()) {
  queued = question;
  line.hidden = !question;
  line.dataset.id = question ? id : "";
  line.querySelector("[data-queued-text]").textContent = question;
  chat.dispatchEvent(new CustomEvent("chat:queued"));
}

function fill(text) {
  field.value = text;
  field.dispatchEvent(new Event("input", { bubbles: true }));
}

const together = (...questions) => questions.filter((question) => question.trim()).join("\n");

function takeBack() {
  fill(together(queued, field.value));
  show("");
}

// It is sent after a complete answer; after one that was stopped or failed, it is put back into the composer.
function goOn() {
  if (!queued || isBusy()) return;
  if ([...chat.querySelectorAll("#turns [data-status]")].at(-1)?.dataset.status !== "completed") return takeBack();
  const [question, draft] = [queued, field.value];
  form.dataset.requestId = line.dataset.id;
  show("");
  field.value = question;
  form.requestSubmit();
  delete form.dataset.requestId;
  if (!field.value) fill(draft);
}

chat.addEventListener("chat:busy", () => {
  show(together(queued, field.value.trim()));
  fill("");
  document.getElementById("announcer").textContent = line.dataset.said;
});
chat.addEventListener("htmx:wsAfterMessage", goOn);
// On another branch, it would follow the wrong turn.
chat.addEventListener("chat:stepped", () => queued && takeBack());

line.addEventListener("click", (event) => {
  if (event.target.closest("[data-queued-edit]")) takeBack();
  else if (event.target.closest("[data-queued-cancel]")) show("");
  else return;
  field.focus();
});

field.addEventListener("keydown", (event) => {
  if (event.key !== "ArrowUp" || field.value || !queued) return;
  event.preventDefault();
  event.stopPropagation();
  takeBack();
});

if (line.dataset.kept) show(line.dataset.kept, line.dataset.keptId);
if (queued && !isBusy()) takeBack();
