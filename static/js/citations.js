// Citations: a card while pointing at a number, the passage in the drawer when following it.

const card = document.getElementById("hover-card");
const GAP = 8;
let shown = null;
let timer = 0;

// A chip can name several passages of its document.
const contentsOf = (link) =>
  link.dataset.citation
    .split(" ")
    .map((number) => link.closest(".answer")?.querySelector(`.cards [data-card="${CSS.escape(number)}"]`))
    .filter(Boolean);

function place(link) {
  const at = link.getBoundingClientRect();
  const { width, height } = card.getBoundingClientRect();
  const left = Math.max(GAP, Math.min(at.left + at.width / 2 - width / 2, innerWidth - width - GAP));
  const above = at.top - height - GAP;
  card.style.left = `${left}px`;
  card.style.top = `${above > GAP ? above : at.bottom + GAP}px`;
}

function show(link) {
  const contents = contentsOf(link);
  if (!contents.length) return;
  card.replaceChildren(...contents.map((content) => content.cloneNode(true)));
  card.hidden = false;
  shown = link;
  link.setAttribute("aria-describedby", card.id);
  place(link);
}

function hide() {
  clearTimeout(timer);
  shown?.removeAttribute("aria-describedby");
  shown = null;
  card.hidden = true;
}

function later(action, ms) {
  clearTimeout(timer);
  timer = setTimeout(action, ms);
}

document.addEventListener("pointerover", (event) => {
  if (event.pointerType === "touch") return;
  const link = event.target.closest("[data-citation]");
  if (link) later(() => show(link), shown ? 0 : 120);
  else if (event.target.closest("#hover-card")) clearTimeout(timer);
  else if (shown) later(hide, 160);
});

document.addEventListener("focusin", (event) => {
  const link = event.target.closest("[data-citation]");
  if (link?.matches(":focus-visible")) show(link);
  else if (shown) hide();
});

document.addEventListener("keydown", (event) => event.key === "Escape" && hide());

// Focusing a link, or the end of an answer, can scroll the page: the card moves along.
const transcript = document.getElementById("transcript");
function follow() {
  if (!shown) return;
  const { top, bottom } = shown.getBoundingClientRect();
  const view = transcript.getBoundingClientRect();
  if (shown === document.activeElement && top >= view.top && bottom <= view.bottom) place(shown);
  else hide();
}
transcript.addEventListener("scroll", follow, { passive: true });

document.addEventListener("click", (event) => {
  const link = event.target.closest("a[data-citation]");
  if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  hide();
  link.dispatchEvent(new CustomEvent("drawer:opening", { bubbles: true }));
  window.htmx.ajax("GET", link.href, { target: "#drawer", swap: "outerHTML", source: link });
});
