// Branches: the URL names the one that is shown, and switching versions keeps the scroll position and the focus.

const chat = document.getElementById("chat");
const view = document.getElementById("transcript");
const announcer = document.getElementById("announcer");

const leaf = () => document.getElementById("parent-turn").value;

let shown = leaf();
let step = null;

// So that a reload shows the same branch, even if another tab asks something in the meantime.
function nameBranch() {
  if (leaf() === shown) return;
  shown = leaf();
  const address = new URL(location.href);
  address.searchParams.set("turn", shown);
  address.searchParams.delete("deleted");
  address.hash = "";
  history.replaceState(history.state, "", address);
}

chat.addEventListener("htmx:wsAfterMessage", nameBranch);

document.addEventListener("htmx:beforeRequest", (event) => {
  const link = event.target.closest("[data-step]");
  if (!link) return;
  const top = link.closest(".turn")?.getBoundingClientRect().top;
  step = { to: link.dataset.step, turn: link.dataset.turn, top };
  link.closest("details")?.removeAttribute("open");
});

// The map of the branches isn't replaced while someone reads it.
document.addEventListener("htmx:oobBeforeSwap", ({ target, detail }) => {
  if (target.id === "branches" && target.open) detail.shouldSwap = false;
});

document.addEventListener("htmx:afterSettle", () => {
  const turn = step && document.getElementById(`turn-${step.turn}`);
  if (!turn) return;
  const { to, top } = step;
  step = null;
  chat.dispatchEvent(new CustomEvent("chat:stepped"));
  if (to === "elsewhere") {
    document.getElementById("notice").replaceChildren();
    turn.tabIndex = -1;
    turn.focus({ preventScroll: true });
    turn.scrollIntoView({ block: "start" });
    return nameBranch();
  }
  view.scrollTop += turn.getBoundingClientRect().top - top;
  const links = turn.querySelector(".siblings");
  (links.querySelector(`a[data-step="${to}"]`) ?? links.querySelector("a")).focus({ preventScroll: true });
  announcer.textContent = links.ariaLabel;
  nameBranch();
});

chat.addEventListener("keydown", (event) => {
  const links = event.target.closest(".siblings");
  const to = { ArrowLeft: "earlier", ArrowRight: "later" }[event.key];
  if (!links || !to || event.altKey || event.ctrlKey || event.metaKey) return;
  event.preventDefault();
  links.querySelector(`[data-step="${to}"]`)?.click();
});

// The map of a long chat opens at the end of the branch that is shown.
document.addEventListener(
  "toggle",
  ({ target }) => {
    if (target.id !== "branches" || !target.open) return;
    [...target.querySelectorAll("[aria-current]")].at(-1)?.scrollIntoView({ block: "nearest" });
  },
  true,
);
