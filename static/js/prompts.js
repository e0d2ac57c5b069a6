// Saved prompts: / in an empty composer lists them, further text filters the list, and blanks are filled in first.

const field = document.getElementById("question");
const list = document.getElementById("prompts");
const dialog = document.getElementById("prompt-blanks");
const BLANK = /\{\{\s*([^{}]+?)\s*\}\}/g;
let chosen = "";

const offered = () => [...list.querySelectorAll("[data-prompt]:not([hidden])")];
const isOpen = () => !list.hidden;

function mark(option) {
  for (const each of offered()) each.setAttribute("aria-selected", each === option);
  option?.scrollIntoView({ block: "nearest" });
}

function narrow() {
  const words = field.value.slice(1).trim().toLowerCase();
  for (const each of list.querySelectorAll("[data-prompt]")) each.hidden = !each.textContent.toLowerCase().includes(words);
  mark(offered()[0]);
}

async function open() {
  list.hidden = false;
  const response = await fetch(list.dataset.address);
  if (!response.ok) return close();
  list.innerHTML = await response.text();
  narrow();
}

function close() {
  list.hidden = true;
}

function insert(text) {
  field.value = text;
  field.dispatchEvent(new Event("input", { bubbles: true }));
  field.focus();
}

function take(option) {
  close();
  chosen = option.dataset.prompt;
  const blanks = [...new Set([...chosen.matchAll(BLANK)].map((found) => found[1]))];
  if (!blanks.length) return insert(chosen);
  field.value = "";
  dialog.querySelector("[data-blanks]").replaceChildren(
    ...blanks.map((name) => {
      const row = dialog.querySelector("template").content.firstElementChild.cloneNode(true);
      row.querySelector("span").textContent = name;
      row.querySelector("input").name = name;
      return row;
    }),
  );
  dialog.showModal();
  dialog.querySelector("input").focus();
}

dialog.querySelector("form").addEventListener("submit", (event) => {
  event.preventDefault();
  const given = new FormData(event.target);
  dialog.close();
  insert(chosen.replace(BLANK, (_all, name) => given.get(name)));
});

field.addEventListener("input", (event) => {
  if (!event.isTrusted) return;
  if (!/^\/[^\n]*$/.test(field.value)) close();
  else if (isOpen()) narrow();
  else if (field.value === "/") open();
});

// Before the composer handles Enter and keys.js the other keys.
field.addEventListener("keydown", (event) => {
  if (!isOpen() || event.isComposing) return;
  const all = offered();
  const at = all.findIndex((each) => each.ariaSelected === "true");
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (step && all.length) mark(all[(at + step + all.length) % all.length]);
  else if ((event.key === "Enter" || event.key === "Tab") && at >= 0) take(all[at]);
  else if (event.key === "Escape") close();
  else return;
  event.preventDefault();
  event.stopPropagation();
});

list.addEventListener("click", (event) => {
  const option = event.target.closest("[data-prompt]");
  if (option) take(option);
});

document.addEventListener("click", (event) => {
  const opener = event.target.closest("[data-open-prompts]");
  if (opener && !isOpen()) return open();
  if (!event.target.closest("#prompts, #question")) close();
});
