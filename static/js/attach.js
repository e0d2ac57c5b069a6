// Files for the chat: selected, dropped or pasted. Each gets a chip with its upload's progress, which the server's chip
// then replaces. A question asked in the meantime waits until they are uploaded.

import { refusal } from "./file-rules.js";
import { isUploading, Transfer } from "./uploading.js";

const form = document.getElementById("attach");
const composer = document.getElementById("composer");
const input = document.getElementById("attach-files");
const held = document.getElementById("held");
const template = document.getElementById("uploading-template");
const rules = JSON.parse(form.dataset.rules);
const news = new Map(); // chips from the socket during uploads from this page, one of which may be for such a file

const chipIn = (html) => {
  const holder = document.createElement("template");
  holder.innerHTML = html;
  return holder.content.querySelector("li");
};

class Upload {
  // Into a knowledge base if its part of the drop area is given.
  constructor(file, isFolder = false, base = null) {
    this.file = file;
    this.isFolder = isFolder;
    this.base = base;
    this.chip = template.content.firstElementChild.cloneNode(true);
    this.bar = this.chip.querySelector("progress");
    this.state = this.chip.querySelector(".chat-file-state");
    this.words = this.state.dataset;
    this.retry = this.chip.querySelector("[data-upload-retry]");
    const target = base ? { action: base.dataset.dropBase, elements: form.elements } : form;
    this.transfer = new Transfer(file, target, {}, this);
    const name = this.chip.querySelector("[data-name]");
    name.textContent = name.title = file.name;
    this.chip.querySelector("[data-upload-cancel]").addEventListener("click", () => this.cancel());
    this.retry.addEventListener("click", () => this.queue());
    document.getElementById("chat-files").append(this.chip);
    this.queue();
  }

  queue() {
    this.retry.hidden = true;
    this.transfer.queue(() => this.check());
  }

  check() {
    if (this.isFolder) return this.words.folder;
    if (this.file.size > Number(form.dataset.limit) * 1024 * 1024) return this.words.large;
    return refusal(this.file, rules);
  }

  arrive(request) {
    const { status, responseText } = request;
    const words = request.getResponseHeader("X-Message");
    if (this.base && responseText.includes("<tr")) this.added(responseText);
    else if (status === 200 && responseText.includes("<li")) this.become(responseText);
    else if (words) this.refuse(decodeURIComponent(words));
    else if (status === 413) this.refuse(this.words.large);
    else this.breakOff();
  }

  // The response has the document's row in the list of the base.
  added(html) {
    const holder = document.createElement("template");
    holder.innerHTML = html;
    const refused = holder.content.querySelector("[data-refused]");
    if (refused) return this.refuse(refused.querySelector(".row-error")?.textContent.trim() || refused.dataset.refused);
    this.show(100, this.base.dataset.added);
    this.bar.hidden = true;
    if (document.getElementById("welcome")) htmx.ajax("GET", location.href, { target: "#welcome", select: "#welcome", swap: "outerHTML" });
  }

  // The server's chip replaces it; identical files share one chip.
  become(html) {
    const chip = chipIn(html);
    document.getElementById(chip.id)?.remove();
    this.chip.replaceWith(chip);
    htmx.process(chip);
  }

  show(percent, text) {
    this.chip.classList.remove("failed");
    this.bar.hidden = false;
    this.bar.value = percent;
    this.state.textContent = text;
  }

  refuse(text) {
    this.chip.classList.add("failed");
    this.bar.hidden = true;
    this.state.textContent = text;
    held.hidden = true; // the question was meant for this file, too: it stays in the composer
  }

  breakOff() {
    this.refuse(this.words.broken);
    this.retry.hidden = false;
  }

  cancel() {
    this.chip.remove();
    this.transfer.cancel();
  }
}

window.addEventListener("uploads:ended", () => {
  for (const [id, html] of news) {
    if (document.getElementById(id)) continue;
    const chip = chipIn(html);
    document.getElementById("chat-files").append(chip);
    htmx.process(chip);
  }
  news.clear();
  if (held.hidden) return;
  held.hidden = true;
  composer.requestSubmit();
});

// A chip from the socket: one with its own running request is updated by that, and none is added twice.
document.getElementById("chat").addEventListener("htmx:wsBeforeMessage", (event) => {
  const { message } = event.detail;
  const [, kind, id] = message.match(/^<(li|div hx-swap-oob="beforeend:#chat-files">\s*<li)\b[^>]*? id="(chat-file-\d+)"/) ?? [];
  if (!id) return;
  const chip = document.getElementById(id);
  const isNew = kind !== "li";
  if (isNew && !chip && isUploading()) news.set(id, message);
  if (message.includes('hx-swap-oob="delete"')) news.delete(id);
  if (news.has(id) || (chip && (isNew || chip.matches(".htmx-request") || chip.querySelector(".htmx-request")))) event.preventDefault();
});

// Many files are one line, which opens.
const summary = document.getElementById("files-summary");
const chips = document.getElementById("chat-files");
function summarise() {
  const count = (kind) => chips.querySelectorAll(`:scope > ${kind}`).length;
  const failed = count(".failed");
  const figures = { files: count("li"), ready: count(".ready"), failed };
  const words = failed ? summary.dataset.withFailed : summary.dataset.words;
  const text = words.replace(/\{(\w+)\}/g, (_all, name) => figures[name]);
  const line = summary.querySelector("span");
  if (line.textContent !== text) line.textContent = text;
  const many = figures.files > Number(summary.dataset.most);
  if (summary.hidden !== many) return;
  summary.hidden = !many;
  summary.setAttribute("aria-expanded", String(!many));
}
summary.addEventListener("click", () => summary.setAttribute("aria-expanded", String(summary.ariaExpanded !== "true")));
new MutationObserver(summarise).observe(chips, { childList: true, subtree: true, attributeFilter: ["class"] });
summarise();

function add(files) {
  [...files].forEach((file) => new Upload(file));
}

// Before the composer sends it.
document.addEventListener(
  "submit",
  (event) => {
    if (event.target !== composer || !isUploading()) return;
    event.preventDefault();
    event.stopPropagation();
    if (!composer.elements.question.value.trim()) return;
    held.textContent = held.dataset.held;
    held.hidden = false;
  },
  true,
);
composer.elements.question.addEventListener("input", () => {
  if (!composer.elements.question.value.trim()) held.hidden = true;
});

const take = () => {
  add(input.files);
  input.value = "";
  composer.elements.question.focus();
};
input.addEventListener("change", take);
if (input.files.length) take(); // selected before this script was loaded

document.addEventListener("paste", (event) => {
  const { files, types } = event.clipboardData ?? {};
  if (!files?.length || types.includes("text/plain")) return; // text is pasted as text, even if its program adds an image
  event.preventDefault();
  add(files);
});

// Files make the composer taller; the content under it stays reachable by scrolling.
const place = composer.parentElement;
new ResizeObserver(() => document.documentElement.style.setProperty("--composer-size", `${place.offsetHeight}px`)).observe(place);

// The drop area covers the page, and isn't part of the composer.
document.body.append(document.getElementById("drop-template").content);
const overlay = document.getElementById("drop-area");
const bases = document.getElementById("drop-bases");
const carriesFiles = (event) => event.dataTransfer?.types.includes("Files");
let depth = 0;

function hover(change) {
  depth = Math.max(0, depth + change);
  overlay.hidden = depth === 0;
  if (bases) bases.hidden = !document.getElementById("welcome"); // a chat with questions takes them itself
}

window.addEventListener("dragenter", (event) => carriesFiles(event) && hover(1));
window.addEventListener("dragleave", (event) => carriesFiles(event) && hover(-1));
const zoneOf = (event) => event.target.closest?.("#drop-area [data-drop-base]") ?? null;
window.addEventListener("dragover", (event) => {
  if (!carriesFiles(event)) return;
  event.preventDefault();
  const over = event.target.closest?.("#drop-area > div:not(#drop-bases), [data-drop-base]");
  for (const zone of overlay.querySelectorAll("div")) zone.toggleAttribute("data-over", zone === over);
});
window.addEventListener("drop", (event) => {
  if (!carriesFiles(event)) return;
  event.preventDefault();
  depth = 0;
  hover(0);
  const items = [...event.dataTransfer.items].filter((item) => item.kind === "file");
  const isFolder = items.map((item) => item.webkitGetAsEntry?.()?.isDirectory);
  const base = zoneOf(event);
  [...event.dataTransfer.files].forEach((file, place) => new Upload(file, isFolder[place], base));
  composer.elements.question.focus();
});
