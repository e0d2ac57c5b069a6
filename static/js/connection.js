// The connection: shows when it is lost, reconnects with increasing delays, and catches up where it left off.

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

// Sends the answers that the page shows and their positions, the end of its branch, its files and its scope. The server
// then follows only these answers, and sends newer questions and changes.
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
  // Sent but not acknowledged: asked again with the same id, which the server handles only once.
  if (event.detail.socketWrapper.queue.length > 0) return;
  for (const message of pendingMessages()) event.detail.socketWrapper.send(JSON.stringify(message));
});

chat.addEventListener("htmx:wsClose", (event) => {
  if (leaving) return;
  const { code } = event.detail.event;
  // Redirects to the sign-in page, so that the chat is no longer on the screen. If the password was changed in another
  // tab of this browser, its new cookie is about to arrive.
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

// The chat's scope was changed, here or on another page: a page that shows another one fetches it once its panel is
// closed. A change made here is part of its own response.
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

// Another branch shows other answers.
chat.addEventListener("chat:stepped", () => catchUp());

chat.addEventListener("click", (event) => {
  if (event.target.closest("[data-notice-close]")) document.getElementById("notice").replaceChildren();
});

// Ignore fragments for an element that the page no longer contains.
chat.addEventListener("htmx:wsBeforeMessage", (event) => {
  const first = event.detail.message.match(/^\s*<[^>]*>/)?.[0] ?? "";
  const place = first.match(/hx-swap-oob="\w+:#([\w-]+)"/)?.[1] ?? first.match(/\bid="([\w-]+)"/)?.[1];
  if (place && !document.getElementById(place)) event.preventDefault();
});

window.addEventListener("pagehide", () => (leaving = true));
window.addEventListener("pageshow", () => (leaving = false));
