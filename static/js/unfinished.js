// Files that weren't uploaded when the page was left. Their names are kept in this browser, and listed on return; the
// browser doesn't let a page keep the files themselves.

const notice = document.getElementById("unfinished");
const KEY = `unfinished:${notice.dataset.owner}:${location.pathname}`;
const SHOWN = 10;

const names = new Set(); // being uploaded by this page
let left = []; // what an earlier page left
let knows = false; // whether what is kept is known here: another tab may be uploading
let release = null; // ends this page's lock, by which other tabs know that it is still uploading

function show() {
  const { more, unfinished } = notice.dataset;
  notice.hidden = !left.length;
  notice.querySelector("[data-count]").textContent = unfinished.replace("{n}", left.length);
  const rest = left.length - SHOWN;
  const shown = left.slice(0, SHOWN).join(" · ");
  notice.querySelector("[data-names]").textContent = rest > 0 ? `${shown} ${more.replace("{n}", rest)}` : shown;
}

function keep() {
  if (!knows) return;
  const all = [...new Set([...left, ...names])];
  if (all.length) localStorage.setItem(KEY, JSON.stringify(all));
  else localStorage.removeItem(KEY);
}

export function begin(name) {
  names.add(name);
  knows = true;
  if (left.includes(name)) {
    left = left.filter((each) => each !== name);
    show();
  }
  if (!release) navigator.locks?.request(KEY, () => new Promise((resolve) => (release = resolve)));
}

export function end(name) {
  names.delete(name);
  if (names.size) return;
  release?.();
  release = null;
  keep();
}

window.addEventListener("pagehide", keep);
document.addEventListener("visibilitychange", () => document.hidden && keep()); // phones end pages in the background
notice.querySelector("[data-dismiss]").addEventListener("click", () => {
  left = [];
  show();
  keep();
});

function recall() {
  knows = true;
  left = JSON.parse(localStorage.getItem(KEY) ?? "[]").sort((one, other) => one.localeCompare(other));
  show();
}

if (navigator.locks) navigator.locks.request(KEY, { ifAvailable: true }, (lock) => lock && recall());
else recall(); // without a secure connection
