// Renders formulas with KaTeX, which is loaded for the first one, even while an answer is being written. Until then,
// and if KaTeX can't parse it, the source is shown. Rendering again while a line is being written doesn't flicker,
// since it happens before the browser paints.

const FILES = new URL("../katex/", import.meta.url);
const LONGEST = 4000; // characters
const MOST = 500; // cached formulas
const OPTIONS = {
  throwOnError: true,
  strict: false,
  trust: false,
  maxSize: 20,
  maxExpand: 500,
  // These two commands would add inline styles, which the page's policy forbids.
  macros: { "\\pmb": "\\boldsymbol{#1}", "\\fcolorbox": "\\colorbox{#2}{#3}" },
};

const made = new Map(); // by source; null if it can't be parsed
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
    // Before the site's own styles, whose layers have lower priority.
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
    element.tabIndex = 0; // it can be wider than the page, and is then scrolled
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
