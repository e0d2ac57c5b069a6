// Sets formulas by KaTeX, which is loaded when the page has the first one, also while an answer is written. Until then,
// and where KaTeX can't read one, its source is shown. Set again in a line that is still written, they don't flicker:
// it happens before the browser draws.

const FILES = new URL("../katex/", import.meta.url);
const LONGEST = 4000; // characters
const MOST = 500; // formulas that are kept
const OPTIONS = {
  throwOnError: true,
  strict: false,
  trust: false,
  maxSize: 20,
  maxExpand: 500,
  // These two would write styles into the markup, which the page's policy forbids.
  macros: { "\\pmb": "\\boldsymbol{#1}", "\\fcolorbox": "\\colorbox{#2}{#3}" },
};

const made = new Map(); // by source; null for what can't be read
let coming = null;

function load() {
  coming ??= (async () => {
    const style = document.createElement("link");
    style.rel = "stylesheet";
    style.href = new URL("katex.min.css", FILES);
    const styled = new Promise((resolve, reject) => {
      style.addEventListener("load", resolve);
      style.addEventListener("error", reject);
    });
    // Before the site's own, whose layers give way to it.
    document.head.append(style);
    await Promise.all([import(new URL("katex.min.js", FILES)), styled]);
  })();
  return coming;
}

function formula(source, displayMode) {
  if (!made.has(source)) {
    const ends = source.startsWith("$") && !source.startsWith("$$") ? 1 : 2;
    const box = document.createElement("span");
    try {
      if (source.length > LONGEST) throw new RangeError(source.length);
      window.katex.render(source.slice(ends, -ends), box, { ...OPTIONS, macros: { ...OPTIONS.macros }, displayMode });
    } catch {
      box.replaceChildren();
    }
    if (made.size >= MOST) made.delete(made.keys().next().value);
    made.set(source, box.firstElementChild);
  }
  return made.get(source)?.cloneNode(true);
}

function set(element) {
  const source = element.textContent;
  const display = element.classList.contains("display");
  const shown = formula(source, display);
  element.classList.add(shown ? "set" : "unread");
  if (!shown) return;
  element.dataset.source = source;
  if (display) {
    element.tabIndex = 0; // it may be wider than the page
    element.setAttribute("role", "group");
  }
  element.replaceChildren(shown);
}

const found = (root) => root.querySelectorAll(".math:not(.set, .unread)");

function setAll(root) {
  if (!found(root).length) return;
  if (window.katex) found(root).forEach(set);
  else load().then(() => found(document).forEach(set)).catch(() => (coming = null));
}

new MutationObserver((changes) => {
  for (const { target, addedNodes } of changes) if (addedNodes.length) setAll(target);
}).observe(document.body, { childList: true, subtree: true });
setAll(document);
