// Popovers that the server sends: opened beside what asked for them, and the focus given back when they are done.

const GAP = 6;
let opener = null;

function place(popover) {
  const at = opener.getBoundingClientRect();
  const { width, height } = popover.getBoundingClientRect();
  const below = at.bottom + GAP;
  popover.style.left = `${Math.max(GAP, Math.min(at.left, innerWidth - width - GAP))}px`;
  popover.style.top = `${Math.max(GAP, below + height < innerHeight ? below : at.top - height - GAP)}px`;
}

function open(popover) {
  popover.showPopover();
  place(popover);
  popover.querySelector("button, input, textarea")?.focus({ preventScroll: true });
}

document.addEventListener("htmx:afterSwap", (event) => {
  if (event.detail.target?.id !== "add-slot") return;
  const popover = event.detail.target.querySelector("[data-popover]");
  if (popover) {
    opener = event.detail.requestConfig.elt;
    open(popover);
  } else if (opener?.isConnected) {
    opener.focus({ preventScroll: true });
  }
});

// Whatever closes one, it is gone for good: the next is asked for anew.
const forget = (event) => event.newState === "closed" && event.target.matches("[data-popover]") && event.target.remove();
document.addEventListener("toggle", forget, true);
