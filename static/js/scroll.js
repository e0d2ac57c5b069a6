// Scrolling: stays at the end while the reader is there, and never moves text that is being read.

const chat = document.getElementById("chat");
const view = document.getElementById("transcript");
const toEnd = document.querySelector("[data-to-end]");
const NEAR = 48;

// An empty session starts at the top.
let following = !location.hash && document.querySelector("#turns .turn") !== null;

const distance = () => view.scrollHeight - view.scrollTop - view.clientHeight;
const jump = (behavior = "instant") => view.scrollTo({ top: view.scrollHeight, behavior });

let last = 0;

// Only scrolling up stops the following: while an answer grows, its end is ahead of the scroll events.
function note() {
  if (distance() < NEAR) following = true;
  else if (view.scrollTop < last - 1) following = false;
  last = view.scrollTop;
  offer();
}

function offer() {
  toEnd.hidden = distance() < view.clientHeight / 3 || document.querySelector("#turns .turn") === null;
}

view.addEventListener("scroll", note, { passive: true });
view.addEventListener("wheel", (event) => event.deltaY < 0 && (following = false), { passive: true });
toEnd.addEventListener("click", () => jump("smooth"));
function follow() {
  following = true;
  jump();
}

// After asking, show the answer.
chat.addEventListener("chat:asked", follow);
chat.addEventListener("chat:stepped", () => (following = false));
// After opening a source, stay at its citation.
chat.addEventListener("drawer:opening", () => (following = false));
chat.addEventListener("htmx:wsAfterSend", (event) => event.target.id !== "resume" && follow());

// Earlier turns are inserted above the current one, which keeps its position and gets the focus of their button.
let reading = null;

view.addEventListener("htmx:beforeSwap", ({ detail: { target } }) => {
  if (!target.classList.contains("earlier")) return;
  const turn = target.nextElementSibling;
  reading = { turn, top: turn.getBoundingClientRect().top };
});
view.addEventListener("htmx:afterSettle", () => {
  if (!reading) return;
  const { turn, top } = reading;
  reading = null;
  view.scrollTop += turn.getBoundingClientRect().top - top;
  turn.tabIndex = -1;
  turn.focus({ preventScroll: true });
});

const resized = new ResizeObserver(() => {
  if (following) jump();
  else offer(); // the end may only be near because nothing is laid out yet
});

// Switching versions replaces the whole list of turns.
function watch() {
  resized.disconnect();
  resized.observe(document.getElementById("turns"));
  resized.observe(view);
}
new MutationObserver((changes) => changes.some((change) => change.type === "childList") && watch()).observe(view, {
  childList: true,
});
watch();
if (following) jump();
