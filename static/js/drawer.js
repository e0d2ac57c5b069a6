// The drawer: takes the focus when it opens, returns it when it closes, and follows the answer that is being read.

const view = document.getElementById("transcript");
const beside = window.matchMedia("(min-width: 900px)");
const REST = 350; // milliseconds without scrolling before the user counts as reading

let opener = null;
let latest = null; // its newest request; responses to older ones are ignored
let followed = null; // the link that it opened by following, not by a click
let wasWithin = false;
let kept = null; // the link that opens it, and its distance from the top
const shownLast = new Map(); // by answer, the URL of its source shown last

const drawer = () => document.getElementById("drawer");
export const isOpen = () => drawer().hasAttribute("data-open");

function empty() {
  for (const reader of drawer().querySelectorAll(".pdf-reader")) window.htmx.trigger(reader, "htmx:beforeCleanupElement");
  drawer().replaceChildren();
  latest = followed = null;
}

export function close() {
  drawer().removeAttribute("data-open");
  empty();
  mark();
  if (opener?.isConnected) opener.focus({ preventScroll: true });
  opener = null;
}

// Highlights the open source in the answer.
function mark() {
  const { shows } = isOpen() ? drawer().dataset : {};
  for (const link of view?.querySelectorAll("[data-citation]") ?? []) {
    if (shows && link.getAttribute("href") === shows) link.ariaCurrent = "true";
    else link.removeAttribute("aria-current");
  }
}

document.addEventListener("htmx:beforeRequest", ({ detail: { elt, target, xhr } }) => {
  if (target?.id !== "drawer") return;
  latest = xhr;
  if (elt !== followed) followed = null;
  wasWithin = target.contains(document.activeElement);
  if (target.contains(elt)) return;
  opener = elt;
  kept = isOpen() ? null : { link: elt, top: elt.getBoundingClientRect().top };
});

document.addEventListener("htmx:beforeSwap", ({ detail }) => {
  if (detail.target?.id === "drawer" && detail.xhr !== latest) detail.shouldSwap = false;
});

document.addEventListener("htmx:afterSettle", (event) => {
  if (event.detail.target?.classList.contains("passage-slot")) {
    const cited = event.detail.target.querySelector(".said") ?? event.detail.target.querySelector(".cited");
    // Content that doesn't fit is shown from its beginning.
    cited?.scrollIntoView({ block: cited.offsetHeight > window.innerHeight / 2 ? "start" : "center" });
  } else if (event.detail.target?.id === "drawer" || event.detail.elt?.id === "drawer") {
    const { of, shows } = drawer().dataset;
    if (of) shownLast.set(of, shows);
    mark();
    // The drawer leaves less room for the answer: keep the scroll position of its text.
    if (kept && view?.contains(kept.link)) view.scrollTop += kept.link.getBoundingClientRect().top - kept.top;
    kept = null;
    if (!followed || wasWithin) document.querySelector("[data-drawer-title]")?.focus({ preventScroll: true });
    followed = null;
  }
});

document.addEventListener("click", (event) => event.target.closest("[data-drawer-close]") && close());

// Returns the answer being read: the one whose source is open, as long as its link, or half of it or of the viewport,
// is visible.
function answerRead() {
  const { top } = view.getBoundingClientRect();
  const end = document.querySelector(".composer-place")?.getBoundingClientRect().top ?? innerHeight;
  const seen = [...view.querySelectorAll(".turn .answer")].map((answer) => {
    const at = answer.getBoundingClientRect();
    const inView = Math.max(0, Math.min(at.bottom, end) - Math.max(at.top, top));
    const shown = answer.querySelector("[data-citation][aria-current]")?.getBoundingClientRect();
    const linked = shown && shown.height && shown.top >= top && shown.bottom <= end;
    return { answer, inView, enough: linked || (inView > 0 && inView >= Math.min(at.height, end - top) / 2) };
  });
  const open = seen.find(({ answer }) => answer.dataset.answer === drawer().dataset.of);
  return (open?.enough ? open : seen.reduce((most, each) => (each.inView > most.inView ? each : most), seen[0]))?.answer;
}

function follow() {
  if (!beside.matches || !drawer().matches(".source[data-open]") || document.querySelector(":popover-open, dialog[open]")) return;
  // Don't interrupt selecting or reading in the source.
  if (drawer().querySelector(".drawer-body")?.contains(document.activeElement)) return;
  const answer = answerRead();
  const { of } = drawer().dataset;
  if (!answer || answer.dataset.answer === of || answer.querySelector('[data-status="streaming"]')) return;
  const links = [...answer.querySelectorAll(".prose a[data-citation], .answer-foot > .chips a[data-citation]")];
  const address = shownLast.get(answer.dataset.answer) ?? links[0]?.getAttribute("href");
  if (address) {
    const link = links.find((each) => each.getAttribute("href") === address) ?? links[0] ?? answer.querySelector(".outcome");
    if (followed === link) return;
    followed = link;
    window.htmx.ajax("GET", address, { target: "#drawer", swap: "outerHTML", source: link });
    return;
  }
  const within = drawer().contains(document.activeElement);
  empty();
  drawer().dataset.of = answer.dataset.answer;
  delete drawer().dataset.shows;
  drawer().append(document.getElementById("no-source").content.cloneNode(true));
  drawer().dispatchEvent(new CustomEvent("drawer:changed", { bubbles: true }));
  opener = answer.querySelector(".outcome");
  mark();
  if (within) document.querySelector("[data-drawer-title]").focus({ preventScroll: true });
}

let resting = 0;
function followLater() {
  clearTimeout(resting);
  resting = setTimeout(follow, REST);
}
view?.addEventListener("scroll", followLater, { passive: true });
document.addEventListener("htmx:wsAfterMessage", () => {
  if (!isOpen()) return;
  mark();
  followLater();
});
