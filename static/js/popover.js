// Popovers from the server: opened next to their trigger, which gets the focus back when they close.

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

// A closed popover is removed: the next one is requested again.
const forget = (event) => event.newState === "closed" && event.target.matches("[data-popover]") && event.target.remove();
document.addEventListener("toggle", forget, true);
