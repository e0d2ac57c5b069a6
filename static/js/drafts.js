// The text in the composer and the question that waits are kept by the server, so that they are on other devices, too.

import { show } from "./queue.js";

const chat = document.getElementById("chat");
const form = document.getElementById("composer");
const field = document.getElementById("question");
const line = document.getElementById("queued");
const PAUSE = 800;

const current = () => ({
  text: field.value,
  queued: line.hidden ? "" : line.querySelector("[data-queued-text]").textContent,
  queued_id: line.hidden ? "" : line.dataset.id,
});
const alike = (one, other) => Object.keys(one).every((key) => one[key].trim() === other[key].trim());

let kept = { text: field.defaultValue, queued: line.dataset.kept, queued_id: line.dataset.keptId };
let pause = 0;
let saving = false;

async function save(leaving = false) {
  clearTimeout(pause);
  const wanted = current();
  if (alike(wanted, kept) || (saving && !leaving)) return;
  saving = true;
  const body = new FormData();
  Object.entries(wanted).forEach(([name, value]) => body.append(name, value));
  const headers = { "X-CSRFToken": form.elements.csrfmiddlewaretoken.value };
  const response = await fetch(form.dataset.draft, { method: "POST", body, headers, keepalive: leaving }).catch(() => null);
  saving = false;
  if (response?.ok) kept = wanted;
  if (response?.ok && !alike(current(), kept)) saveSoon();
}

// Otherwise it is saved with the next change, or when the connection is back.
function saveSoon() {
  clearTimeout(pause);
  if (!alike(current(), kept)) pause = setTimeout(save, PAUSE);
}

for (const name of ["input", "chat:queued", "htmx:wsAfterMessage", "htmx:wsOpen"]) chat.addEventListener(name, saveSoon);
chat.addEventListener("chat:asked", () => setTimeout(save));
window.addEventListener("pagehide", () => save(true));

// What was written on another device in the meantime, unless something was written here.
async function fetchNewer() {
  if (!alike(current(), kept)) return;
  const response = await fetch(form.dataset.draft).catch(() => null);
  if (!response?.ok || response.redirected) return;
  const newer = await response.json();
  if (alike(newer, kept) || !alike(current(), kept)) return;
  kept = newer;
  if (field.value.trim() !== newer.text.trim()) {
    field.value = newer.text;
    field.dispatchEvent(new Event("input", { bubbles: true }));
  }
  show(newer.queued, newer.queued_id);
}
document.addEventListener("visibilitychange", () => (document.hidden ? save(true) : fetchNewer()));

// The caret is after a text from the server.
if (document.activeElement === field && field.value) field.setSelectionRange(field.value.length, field.value.length);
