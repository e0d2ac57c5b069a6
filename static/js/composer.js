// The composer: grows with its text, sends on Enter, and shows the question before the server has answered.

const form = document.getElementById("composer");
const field = document.getElementById("question");
const chat = document.getElementById("chat");
const template = document.getElementById("pending-turn");
const unanswered = new Map(); // request id → the message, until the server shows the turn

export const isBusy = () => chat.querySelector('[data-status="streaming"], .turn.pending') !== null;

export const pendingMessages = () =>
  [...unanswered].filter(([id]) => document.getElementById(`pending-${id}`)).map(([, message]) => message);

function grow(area) {
  if (CSS.supports("field-sizing", "content")) return;
  area.style.height = "auto";
  area.style.height = `${area.scrollHeight}px`;
}

function showPending(id, question) {
  const turn = template.content.firstElementChild.cloneNode(true);
  turn.id = `pending-${id}`;
  turn.querySelector(".bubble").textContent = question;
  document.getElementById("turns").append(turn);
  chat.dispatchEvent(new CustomEvent("chat:asked"));
}

export function newId() {
  if (crypto.randomUUID) return crypto.randomUUID();
  // Without TLS there is no randomUUID.
  const hex = [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, "0")).join("");
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-a${hex.slice(17, 20)}-${hex.slice(20)}`;
}

form.addEventListener("htmx:wsConfigSend", (event) => {
  if (event.target !== form) return;
  if (isBusy() || !field.value.trim()) {
    event.preventDefault();
    if (field.value.trim()) chat.dispatchEvent(new CustomEvent("chat:busy"));
    return;
  }
  const id = form.dataset.requestId || newId();
  Object.assign(event.detail.parameters, { request_id: id, pending: "1" });
  delete event.detail.parameters.csrfmiddlewaretoken;
  unanswered.set(id, { ...event.detail.parameters });
  showPending(id, field.value.trim());
  field.value = "";
  grow(field);
});

grow(field); // it may have a draft

// Without this, a prevented send would leave the form to submit itself as a page.
form.addEventListener("submit", (event) => event.preventDefault());

// On another branch, the question would follow another turn.
chat.addEventListener("chat:stepped", () => document.getElementById("follow-ups").replaceChildren());

// A rejected question is put back into the composer.
chat.addEventListener("htmx:wsAfterMessage", () => {
  const refused = document.getElementById("refused");
  const id = refused?.dataset.request;
  if (!id) return;
  delete refused.dataset.request;
  const turn = document.getElementById(`pending-${id}`);
  if (turn && !field.value) field.value = turn.querySelector(".bubble").textContent;
  turn?.remove();
  unanswered.delete(id);
  grow(field);
  field.focus();
});

document.addEventListener("keydown", (event) => {
  const area = event.target.closest?.("textarea[data-grow]");
  if (!area || event.key !== "Enter" || event.shiftKey) return;
  // While an input method is composing, Enter selects a word.
  if (event.isComposing || event.keyCode === 229) return;
  event.preventDefault();
  area.form.requestSubmit();
});

document.addEventListener("input", (event) => {
  if (event.target.matches("textarea[data-grow]")) grow(event.target);
});

// The list of knowledge bases is opened after the click, which closes menus.
document.addEventListener("click", (event) => {
  if (!event.target.closest("[data-open-scope]")) return;
  event.preventDefault();
  setTimeout(() => {
    document.querySelector("#scope .menu").open = true;
    document.querySelector("#scope .scope-items input")?.focus();
  });
});

document.addEventListener("click", (event) => {
  const suggestion = event.target.closest("[data-suggestion]");
  if (!suggestion) return;
  event.preventDefault();
  field.value = suggestion.textContent.trim();
  form.requestSubmit();
});
