// The connection: says when it is lost, comes back with growing patience, and catches up where it left off.

import { pendingMessages } from "./composer.js";

const chat = document.getElementById("chat");
const bar = document.getElementById("connection");
const resume = document.getElementById("resume");
const RETRIED_BY_HTMX = [1006, 1011, 1012, 1013];
const SIGNED_OUT = 4401;

const GONE = 4404;

let showing = 0;
let opened = false;
let leaving = false;

window.htmx.config.wsReconnectDelay = (tries) => Math.min(15000, 400 * 2 ** tries) * (0.75 + Math.random() / 2);

const unfinished = () => [...chat.querySelectorAll('[data-status="streaming"]')];

// Tells the server which answers the page shows and how far, where the shown branch ends, which files it has and what it
// asks: the server follows these answers and no others, and sends what was asked or changed since.
export function catchUp(again = "") {
  const marks = unfinished();
  const { leaf, newest, files, asked } = resume.elements;
  leaf.value = document.getElementById("parent-turn").value;
  newest.value = Math.max(newest.value, leaf.value);
  files.value = [...document.querySelectorAll(".chat-file[id]")].map((chip) => chip.id.split("-").pop()).join(" ");
  asked.value = document.getElementById("scope-chips").dataset.asked;
  resume.elements.again.value = again;
  resume.elements.seen.value = marks.map((mark) => `${mark.dataset.message}:${mark.dataset.seq}`).join(" ");
  window.htmx.trigger(resume, "resume");
}

chat.addEventListener("htmx:wsOpen", (event) => {
  clearTimeout(showing);
  bar.hidden = true;
  catchUp(opened ? "1" : "");
  opened = true;
  // Sent but never answered: asked again under the same id, which the server answers only once.
  if (event.detail.socketWrapper.queue.length > 0) return;
  for (const message of pendingMessages()) event.detail.socketWrapper.send(JSON.stringify(message));
});

chat.addEventListener("htmx:wsClose", (event) => {
  if (leaving) return;
  const { code } = event.detail.event;
  // Leads to signing in; nothing of the chat stays on the screen. Where the password was changed in another tab of this
  // browser, its new cookie is about to come.
  if (code === SIGNED_OUT) {
    document.body.hidden = true;
    setTimeout(() => location.reload(), 500);
    return;
  }
  if (code === GONE) return location.reload();
  clearTimeout(showing);
  showing = setTimeout(() => (bar.hidden = false), 300);
  if (code >= 4000 || RETRIED_BY_HTMX.includes(code)) return;
  setTimeout(() => event.detail.socketWrapper.reconnect(), 1000);
});

// What the chat asks was changed, here or on another page: it is fetched where the page shows something else, as soon as
// nobody is choosing. What was chosen here comes with the answer to that.
function takeScope() {
  const news = document.getElementById("scope-news");
  const { asked } = news.dataset;
  if (!asked || document.querySelector("#scope :is(details[open], .htmx-request)")) return;
  delete news.dataset.asked;
  if (asked !== document.getElementById("scope-chips").dataset.asked) window.htmx.trigger(news, "take");
}

chat.addEventListener("htmx:wsAfterMessage", takeScope);
chat.addEventListener("htmx:afterRequest", takeScope);
chat.addEventListener("toggle", takeScope, true);

// On another branch, other answers are shown.
chat.addEventListener("chat:stepped", () => catchUp());

chat.addEventListener("click", (event) => {
  if (event.target.closest("[data-notice-close]")) document.getElementById("notice").replaceChildren();
});

// What was sent for a place that the page no longer shows goes past it.
chat.addEventListener("htmx:wsBeforeMessage", (event) => {
  const first = event.detail.message.match(/^\s*<[^>]*>/)?.[0] ?? "";
  const place = first.match(/hx-swap-oob="\w+:#([\w-]+)"/)?.[1] ?? first.match(/\bid="([\w-]+)"/)?.[1];
  if (place && !document.getElementById(place)) event.preventDefault();
});

window.addEventListener("pagehide", () => (leaving = true));
window.addEventListener("pageshow", () => (leaving = false));
