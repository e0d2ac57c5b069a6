// The frame of every page: the sidebar, menus and toasts.

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

// A toast disappears after six seconds, but not while it is under the pointer or has the focus.
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

// Shows errors from the server in a toast; `X-Message` contains the text.
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

// A message for this page from an earlier response, e.g. to undo an action on the previous page.
const offer = document.getElementById("offer-undo");
if (offer) toasts?.append(offer.content.cloneNode(true));
if (offer) window.htmx?.process(toasts);

// An installed site says when it can't be reached.
window.addEventListener("load", () => navigator.serviceWorker?.register("/service-worker.js"));
