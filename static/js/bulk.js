// Ticking rows: Shift extends from the last one ticked, and ticks are kept when a row is reloaded.

const ticked = new Set();
let last = null;

const ticks = () => [...document.querySelectorAll("#rows .row-tick")];

function note(tick) {
  ticked[tick.checked ? "add" : "delete"](tick.value);
}

document.addEventListener("click", (event) => {
  const tick = event.target.closest("#rows .row-tick");
  if (!tick) return;
  const all = ticks();
  const from = all.findIndex((each) => each.value === last);
  if (event.shiftKey && from >= 0) {
    const to = all.indexOf(tick);
    for (const each of all.slice(Math.min(from, to), Math.max(from, to) + 1)) each.checked = tick.checked;
  }
  last = tick.value;
  all.forEach(note);
});

document.addEventListener("change", (event) => {
  if (!event.target.matches("[data-all-shown]")) return;
  for (const each of ticks()) {
    each.checked = event.target.checked;
    note(each);
  }
});

document.addEventListener("htmx:afterSwap", () => {
  for (const each of ticks()) each.checked = ticked.has(each.value);
});
