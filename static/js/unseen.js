// Answers that nobody has seen: a mark in the list of chats, their number in the tab's title, and, if the user wants it,
// a notification. An answer on this page is seen as soon as the page is visible.

import { isBusy } from "./composer.js";
import { chosen, isOn, notify, possible, turnOff, turnOn } from "./notify.js";

const chat = document.getElementById("chat");
const list = () => document.getElementById("sessions");
const offer = document.getElementById("offer-notify");
const site = document.title.split(" · ").at(-1).trim();
// Milliseconds: for the answer to be seen on another page of the user, before the title and a notification tell of it.
const SEEN_WITHIN = 1000;
const LONG_WAIT = 15000;

const unseen = () => [...list().querySelectorAll(".session[data-unseen]")];

function see(row) {
  window.htmx.ajax("POST", row.dataset.unseen, { source: chat, swap: "none" });
  row.removeAttribute("data-unseen");
}

function show() {
  if (!document.hidden) unseen().filter((row) => "current" in row.dataset).forEach(see);
  const count = unseen().length;
  const title = `${document.getElementById("session-title").textContent.trim()} · ${site}`;
  document.title = count ? `(${count}) ${title}` : title;
}

function tell(id) {
  const row = document.getElementById(id);
  if (!row?.matches("[data-unseen]") || !document.hidden || !isOn()) return;
  const link = row.querySelector("a");
  notify(list().dataset.answered, link.querySelector("span").textContent, id, link.href);
}

// The row of a chat in which an answer has ended, before sessions.js moves it to its place.
function note(event) {
  if (event.detail.target.id !== "sessions") return;
  const row = event.detail.fragment?.querySelector(".session-news .session[data-unseen]");
  if (row) setTimeout(tell, SEEN_WITHIN, row.id);
}
document.addEventListener("htmx:oobBeforeSwap", note, true);

let due = 0;
new MutationObserver(() => {
  const own = list()?.querySelector(".session[data-current][data-unseen]");
  if (own && !document.hidden) see(own);
  clearTimeout(due);
  due = setTimeout(show, SEEN_WITHIN);
}).observe(document.querySelector(".rail-body"), { childList: true, subtree: true });
document.addEventListener("visibilitychange", show);
show();

// While the first answer takes long, offers notifications; an answer to the offer is remembered.
let waiting = 0;
function watch() {
  if (!isBusy()) {
    clearTimeout(waiting);
    waiting = 0;
    offer.hidden = true;
  } else if (!waiting && possible && chosen() === null && Notification.permission === "default") {
    waiting = setTimeout(() => (offer.hidden = false), LONG_WAIT);
  }
}
chat.addEventListener("chat:asked", watch);
chat.addEventListener("htmx:wsAfterMessage", watch);
watch();

offer.addEventListener("click", async (event) => {
  const answer = event.target.closest("[data-notify]")?.dataset.notify;
  if (!answer) return;
  offer.hidden = true;
  if (answer === "no" || !(await turnOn())) turnOff();
  document.getElementById("question").focus();
});
