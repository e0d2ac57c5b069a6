// Scrolling: stays at the end while the reader is there, and never moves what is being read.

const chat = document.getElementById("chat");
const view = document.getElementById("transcript");
const toEnd = document.querySelector("[data-to-end]");
const NEAR = 48;

// An empty session is read from its beginning.
let following = !location.hash && document.querySelector("#turns .turn") !== null;

const distance = () => view.scrollHeight - view.scrollTop - view.clientHeight;
const jump = (behavior = "instant") => view.scrollTo({ top: view.scrollHeight, behavior });

let last = 0;

// Only going up stops the following: while an answer grows, the end runs ahead of the scroll's own events.
function note() {
  if (distance() < NEAR) following = true;
  else if (view.scrollTop < last - 1) following = false;
  last = view.scrollTop;
  toEnd.hidden = distance() < view.clientHeight / 3 || document.querySelector("#turns .turn") === null;
}

view.addEventListener("scroll", note, { passive: true });
view.addEventListener("wheel", (event) => event.deltaY < 0 && (following = false), { passive: true });
toEnd.addEventListener("click", () => jump("smooth"));
function follow() {
  following = true;
  jump();
}

// Whoever asks wants to see the answer.
chat.addEventListener("chat:asked", follow);
chat.addEventListener("chat:stepped", () => (following = false));
// Who opens a source reads where it is named.
chat.addEventListener("drawer:opening", () => (following = false));
chat.addEventListener("htmx:wsAfterSend", (event) => event.target.id !== "resume" && follow());

// Earlier turns come in above the one that is being read, which stays where it is and takes the focus of their button.
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
  else note();
});

// The list of turns is replaced as a whole when one steps to another version.
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
