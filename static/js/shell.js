// The frame of every page: the side bar that folds, menus that close, toasts that leave.

const root = document.documentElement;

function toggleRail() {
  const closed = root.dataset.rail !== "closed";
  if (closed) root.dataset.rail = "closed";
  else delete root.dataset.rail;
  document.cookie = `rail=${closed ? "closed" : "open"}; path=/; max-age=31536000; samesite=lax`;
}

function closeMenus(except) {
  for (const menu of document.querySelectorAll("details.menu[open]")) {
    if (!menu.contains(except)) menu.open = false;
  }
}

document.addEventListener("click", (event) => {
  closeMenus(event.target);
  if (event.target.closest("[data-rail-toggle]")) toggleRail();
  if (event.target.closest("[data-toast-close]")) event.target.closest("[data-toast]").remove();
  const opener = event.target.closest("[data-dialog]");
  const dialog = opener && document.getElementById(opener.dataset.dialog);
  if (dialog) {
    dialog.showModal();
    dialog.querySelector("input:not([type=hidden], [type=radio], [type=checkbox]), textarea")?.focus();
  }
  if (event.target.closest("[data-dialog-close]")) event.target.closest("dialog").close();
});

document.addEventListener("focusin", (event) => event.target.matches("[data-select]") && event.target.select());

document.addEventListener("keydown", (event) => {
  if (event.key !== "Escape") return;
  const open = document.querySelector("details.menu[open]");
  if (!open) return;
  open.open = false;
  open.querySelector("summary").focus();
  event.stopImmediatePropagation();
});

// A toast leaves after six seconds, but never under the pointer or while it holds the focus.
function dismissLater(toast) {
  toast.dataset.timed = "";
  const wait = () => setTimeout(() => (toast.matches(":hover, :focus-within") ? wait() : toast.remove()), 6000);
  wait();
}

const toasts = document.getElementById("toasts");
if (toasts) {
  const watch = () => toasts.querySelectorAll("[data-toast]:not([data-timed])").forEach(dismissLater);
  new MutationObserver(watch).observe(toasts, { childList: true });
  watch();
}

// What the server refuses is said, and not swallowed; `X-Message` holds its words.
function say(text) {
  const toast = document.createElement("div");
  toast.className = "toast error";
  toast.dataset.toast = "";
  toast.textContent = text;
  toasts?.append(toast);
}

document.addEventListener("htmx:responseError", (event) => {
  const words = event.detail.xhr.getResponseHeader("X-Message");
  say(words ? decodeURIComponent(words) : `${event.detail.xhr.status} ${event.detail.xhr.statusText}`);
});

// An offer that the server left for this page, e.g. to undo what was done on the one before.
const offer = document.getElementById("offer-undo");
if (offer) toasts?.append(offer.content.cloneNode(true));
if (offer) window.htmx?.process(toasts);
