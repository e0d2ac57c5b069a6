// The edge of the source panel, dragged with the pointer or moved with arrow keys; its width is remembered.

const root = document.documentElement;
const USUAL = 50; // percent
const STEP = 4;
const SHARE = "--drawer-share";

const edge = () => document.querySelector("#drawer[data-open] > .drawer-edge");
const measured = () => (100 * edge().parentElement.offsetWidth) / innerWidth;

// The resulting width in percent: the style sheet has a minimum, and leaves room for the answer.
function becomes(share) {
  root.style.setProperty(SHARE, share);
  return measured();
}

function tell() {
  if (!edge()) return;
  const now = measured();
  const asked = root.style.getPropertyValue(SHARE);
  edge().ariaValueMin = Math.round(becomes(0));
  edge().ariaValueMax = Math.round(becomes(100));
  if (asked) root.style.setProperty(SHARE, asked);
  else root.style.removeProperty(SHARE);
  edge().ariaValueNow = Math.round(now);
}

function move(share) {
  const now = becomes(share);
  root.style.setProperty(SHARE, now.toFixed(1));
  edge().ariaValueNow = Math.round(now);
}

function keep() {
  document.cookie = `drawer=${Math.round(measured())}; path=/; max-age=31536000; samesite=lax`;
}

const remembered = document.cookie.match(/(?:^|; )drawer=(\d{1,2})(?:;|$)/)?.[1];
if (remembered) root.style.setProperty(SHARE, remembered);

document.addEventListener("pointerdown", (event) => {
  const held = event.target.closest?.(".drawer-edge");
  if (!held || event.button !== 0) return;
  event.preventDefault();
  held.focus({ preventScroll: true });
  held.setPointerCapture(event.pointerId);
  const draw = ({ clientX }) => move((100 * (innerWidth - clientX)) / innerWidth);
  const stop = () => {
    held.removeEventListener("pointermove", draw);
    keep();
  };
  held.addEventListener("pointermove", draw);
  held.addEventListener("lostpointercapture", stop, { once: true });
});

document.addEventListener("dblclick", (event) => {
  if (!event.target.closest(".drawer-edge")) return;
  move(USUAL);
  keep();
});

document.addEventListener("keydown", (event) => {
  if (!event.target.matches?.(".drawer-edge") || event.altKey || event.ctrlKey || event.metaKey) return;
  const to = { ArrowLeft: measured() + STEP, ArrowRight: measured() - STEP, Home: 0, End: 100, Enter: USUAL }[event.key];
  if (to === undefined) return;
  event.preventDefault();
  move(to);
  keep();
});

for (const [target, type] of [[document, "htmx:afterSettle"], [document, "drawer:changed"], [window, "resize"]]) {
  target.addEventListener(type, tell);
}
