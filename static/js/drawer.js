// The drawer: takes the focus when it opens, gives it back when it closes.

let opener = null;

export const isOpen = () => document.getElementById("drawer").hasAttribute("data-open");

export function close() {
  const drawer = document.getElementById("drawer");
  drawer.removeAttribute("data-open");
  drawer.replaceChildren();
  if (opener?.isConnected) opener.focus({ preventScroll: true });
  opener = null;
}

document.addEventListener("htmx:beforeRequest", (event) => {
  if (event.detail.target?.id !== "drawer" || event.detail.target.contains(event.detail.elt)) return;
  opener = event.detail.elt;
});

document.addEventListener("htmx:afterSettle", (event) => {
  if (event.detail.target?.classList.contains("passage-slot")) {
    const cited = event.detail.target.querySelector(".said") ?? event.detail.target.querySelector(".cited");
    // What doesn't fit is read from its beginning.
    cited?.scrollIntoView({ block: cited.offsetHeight > window.innerHeight / 2 ? "start" : "center" });
  } else if (event.detail.target?.id === "drawer" || event.detail.elt?.id === "drawer") {
    document.querySelector("[data-drawer-title]")?.focus({ preventScroll: true });
  }
});

document.addEventListener("click", (event) => event.target.closest("[data-drawer-close]") && close());

// A page's picture stands over its sign of loading; where it can't be had, nothing is loading either.
for (const type of ["load", "error"]) {
  document.addEventListener(type, (event) => event.target.matches?.(".page-frame > img") && event.target.previousElementSibling?.remove(), true);
}
