// The connection: shows when it is lost, reconnects with increasing delays, and catches up where it left off.

import { isBusy, pendingMessages } from "./composer.js";

const chat = document.getElementById("chat");
const bar = document.getElementById("connection");
const resume = document.getElementById("resume");
const RETRIED_BY_HTMX = [1006, 1011, 1012, 1013];
const SIGNED_OUT = 4401;

const GONE = 4404;

// Milliseconds. A connection that is lost silently is noticed because pings get no answer: within three seconds while
// somebody uses the page, otherwise with their next movement.
const PACE = 250;
const QUIET = 800;
const QUIET_UNUSED = 15_000;
const UNUSED_AFTER = 60_000;
const PATIENCE = 1500;
const GIVE_UP = 8000;
const PONG = ".";

let showing = 0;
let socket = null;
let heard = 0; // when the last message arrived
let asked = 0; // since when a ping, or a new connection, has had no answer; 0 if there is none
let used = Date.now();
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

const { createWebSocket } = window.htmx;
window.htmx.createWebSocket = (address) => {
  asked = Date.now();
  return (socket = createWebSocket(address));
};

function lost(delay) {
  if (showing) return;
  showing = setTimeout(() => (bar.hidden = false), delay);
}

function found() {
  heard = Date.now();
  asked = 0;
  if (!navigator.onLine) return; // `offline` decides
  clearTimeout(showing);
  showing = 0;
  bar.hidden = true;
}

function ping() {
  if (socket?.readyState !== WebSocket.OPEN) return;
  asked ||= Date.now();
  socket.send('{"action": "ping"}');
}

// Without waiting for the end of a connection that doesn't end.
function replace() {
  asked = 0;
  if (socket) socket.onclose = null;
  socket?.close();
  chat["htmx-internal-data"].webSocket.init();
}

setInterval(() => {
  const now = Date.now();
  if (document.hidden || leaving) return;
  const waiting = asked ? now - asked : 0;
  if (waiting > PATIENCE) lost(0);
  if (waiting > GIVE_UP && socket.readyState <= WebSocket.OPEN) replace();
  else if (!waiting && now - heard > (now - used > UNUSED_AFTER && !isBusy() ? QUIET_UNUSED : QUIET)) ping();
}, PACE);

for (const name of ["pointermove", "pointerdown", "keydown", "wheel", "touchmove"]) {
  window.addEventListener(name, () => (used = Date.now()), { passive: true });
}
document.addEventListener("visibilitychange", () => {
  asked = 0;
  used = Date.now();
  if (!document.hidden) ping();
});

// A browser without a network may still reach a site on the same machine.
async function probe() {
  if (navigator.onLine) return ping();
  const response = await fetch("/healthz", { cache: "no-store", signal: AbortSignal.timeout(PATIENCE) }).catch(() => null);
  if (navigator.onLine) return ping();
  if (!response?.ok) lost(0);
  else if (socket?.readyState === WebSocket.OPEN) {
    clearTimeout(showing);
    showing = 0;
    bar.hidden = true;
  }
  setTimeout(probe, 2000);
}
window.addEventListener("offline", () => setTimeout(probe, 500));
window.addEventListener("online", () => (socket?.readyState === WebSocket.OPEN ? ping() : replace()));

chat.addEventListener("htmx:wsBeforeMessage", (event) => {
  found();
  if (event.detail.message === PONG) event.preventDefault();
});

chat.addEventListener("htmx:wsOpen", (event) => {
  found();
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
  asked = 0;
  lost(600);
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
