// The command palette: Ctrl or ⌘ K, or a button, opens it; arrows choose a result, Enter opens it.

const dialog = document.getElementById("palette");
const field = document.getElementById("palette-words");
const results = document.getElementById("palette-results");

const options = () => [...results.querySelectorAll("[role=option]")];
const chosen = () => results.querySelector("[aria-selected=true]");

function choose(option) {
  for (const each of options()) each.setAttribute("aria-selected", each === option);
  field.setAttribute("aria-activedescendant", option?.id ?? "");
  option?.scrollIntoView({ block: "nearest" });
}

function open() {
  if (dialog.open) return dialog.close();
  if (document.querySelector("dialog[open]")) return;
  document.getElementById("rail")?.matches(":popover-open") && document.getElementById("rail").hidePopover();
  dialog.showModal();
  field.value = "";
  window.htmx.trigger(field, "palette");
  field.focus();
}

function go(option, inNewTab) {
  if ("posts" in option.dataset) {
    const form = dialog.querySelector("form");
    form.action = option.href;
    return form.submit();
  }
  if (inNewTab) window.open(option.href);
  else location.assign(option.href);
  dialog.close();
}

results.addEventListener("htmx:afterSwap", () => choose(options()[0]));
results.addEventListener("click", (event) => {
  const option = event.target.closest("[data-posts]");
  if (!option) return;
  event.preventDefault();
  go(option);
});

field.addEventListener("keydown", (event) => {
  if (event.isComposing || event.keyCode === 229) return;
  const all = options();
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (step && all.length) choose(all[(all.indexOf(chosen()) + step + all.length) % all.length]);
  else if (event.key === "Enter" && chosen()) go(chosen(), event.ctrlKey || event.metaKey);
  else return;
  event.preventDefault();
});

dialog.addEventListener("click", (event) => event.target === dialog && dialog.close());
document.addEventListener("click", (event) => event.target.closest("[data-open-palette]") && open());
document.addEventListener("keydown", (event) => {
  if (!(event.ctrlKey || event.metaKey) || event.shiftKey || event.altKey || event.key.toLowerCase() !== "k") return;
  event.preventDefault();
  open();
});
