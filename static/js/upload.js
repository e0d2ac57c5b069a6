// File uploads: each file gets a row with its progress, which the server's row then replaces.

import { refusal } from "./file-rules.js";
import * as unfinished from "./unfinished.js";
import { again, begin, isMany, note } from "./upload-summary.js";
import { Transfer } from "./uploading.js";

const form = document.getElementById("upload");
const inputs = [document.getElementById("upload-files"), document.getElementById("upload-folder")];
const overlay = document.getElementById("drop-area");
const template = document.getElementById("upload-row");
const rules = JSON.parse(document.getElementById("upload-rules").textContent);
const PER_PAGE = 50;
const rows = () => document.getElementById("rows"); // replaced when the table is filtered

// In an upload of many files: interrupted ones, which the summary offers to retry.
const broken = [];

class Upload {
  constructor({ file, folder }) {
    this.file = file;
    this.folder = folder;
    this.row = template.content.firstElementChild.cloneNode(true);
    this.bar = this.row.querySelector("progress");
    this.label = this.row.querySelector("[data-waiting]");
    this.words = this.label.dataset;
    this.error = this.row.querySelector(".row-error");
    this.retry = this.row.querySelector("[data-upload-retry]");
    this.name = folder ? `${folder}/${file.name}` : file.name;
    this.transfer = new Transfer(file, form, { folder }, this);
    this.row.querySelector(".name").textContent = this.name;
    this.row.querySelector("[data-upload-cancel]").addEventListener("click", () => this.cancel());
    this.retry.addEventListener("click", () => {
      begin([this.file]);
      this.queue();
    });
    if (!isMany()) rows().prepend(this.row); // in an upload of many, only files being uploaded have rows
    this.queue();
  }

  queue() {
    unfinished.begin(this.name);
    this.error.hidden = this.retry.hidden = true;
    this.transfer.queue(() => this.check());
  }

  // Unsupported files are reported before they are uploaded.
  async check() {
    this.title = "";
    if (this.file.size > Number(form.dataset.limit) * 1024 * 1024) return this.words.large;
    if (this.file.size > rules.room) {
      this.title = rules.full_title;
      return rules.full.replace("{name}", this.file.name);
    }
    const reason = await refusal(this.file, rules);
    if (reason) this.title = rules.title;
    return reason;
  }

  begin() {
    if (this.row.isConnected) return;
    rows().prepend(this.row);
    while (rows().children.length > PER_PAGE && !rows().lastElementChild.matches(".uploading")) rows().lastElementChild.remove();
  }

  arrive({ status, responseText }) {
    if ([200, 413, 415, 507].includes(status) && responseText.includes("<tr")) this.become(responseText);
    else if (status === 413) this.refuse(this.words.large);
    else this.breakOff();
  }

  become(html) {
    unfinished.end(this.name);
    const holder = document.createElement("template");
    holder.innerHTML = html;
    const row = holder.content.querySelector("tr");
    if (row.id) document.getElementById(row.id)?.remove(); // a refused file has no row of its own
    const { refused, id } = { refused: row.dataset.refused, id: row.id.replace("document-", "") };
    note(this.file, this.name, refused ? { reason: refused } : { document: id, there: row.matches(".noticed") });
    if (refused && isMany()) return this.row.remove();
    this.row.replaceWith(row);
    htmx.process(row);
  }

  show(percent, text) {
    this.bar.hidden = false;
    this.bar.value = percent;
    this.label.textContent = text;
  }

  // `title` is the category in the summary of an upload of many files.
  refuse(text, again = false) {
    if (!again) unfinished.end(this.name);
    note(this.file, this.name, { reason: this.title || text, again });
    if (isMany()) {
      if (again) broken.push(this);
      return this.row.remove();
    }
    this.bar.hidden = true;
    this.label.textContent = "";
    this.error.textContent = text;
    this.error.hidden = false;
    this.retry.hidden = !again;
  }

  breakOff() {
    this.refuse(this.words.broken, true);
  }

  cancel() {
    unfinished.end(this.name);
    if (!this.transfer.cancelled && this.error.hidden) note(this.file, this.name, {});
    this.transfer.cancel();
    this.row.remove();
  }
}

// Takes objects `{ file, folder }`. Rows are added at the top, so the first file is added last.
function add(files) {
  const first = new URLSearchParams(location.search);
  if (first.get("q") || first.get("page")) history.replaceState(null, "", location.pathname);
  begin([...files].map(({ file }) => file));
  const each = isMany() ? [...files] : [...files].reverse();
  each.forEach((file) => new Upload(file));
}

function chosen(file) {
  const parts = file.webkitRelativePath.split("/").slice(0, -1);
  return { file, folder: parts.join("/"), hidden: [...parts.slice(1), file.name].some((part) => part.startsWith(".")) };
}

for (const input of inputs) {
  input.disabled = form.querySelector(`label[for="${input.id}"]`).hidden = false;
  const take = () => {
    add([...input.files].map(chosen).filter(({ folder, hidden }) => !(folder && hidden)));
    input.value = "";
  };
  input.addEventListener("change", take);
  if (input.files.length) take(); // selected before this script was loaded
}

// Dropping files, or folders with everything in them.
async function filesOf(entry, folder = "") {
  if (entry.isFile) return [{ file: await new Promise((resolve, reject) => entry.file(resolve, reject)), folder }];
  const reader = entry.createReader();
  const inside = folder ? `${folder}/${entry.name}` : entry.name;
  const found = [];
  for (;;) {
    const entries = await new Promise((resolve, reject) => reader.readEntries(resolve, reject));
    if (!entries.length) return found;
    for (const inner of entries) if (!inner.name.startsWith(".")) found.push(...(await filesOf(inner, inside)));
  }
}

const carriesFiles = (event) => event.dataTransfer?.types.includes("Files");
let depth = 0;

function hover(change) {
  depth = Math.max(0, depth + change);
  overlay.hidden = depth === 0;
}

window.addEventListener("dragenter", (event) => carriesFiles(event) && hover(1));
window.addEventListener("dragleave", (event) => carriesFiles(event) && hover(-1));
window.addEventListener("dragover", (event) => carriesFiles(event) && event.preventDefault());
window.addEventListener("drop", async (event) => {
  if (!carriesFiles(event)) return;
  event.preventDefault();
  depth = 0;
  hover(0);
  const items = [...event.dataTransfer.items].filter((item) => item.kind === "file");
  const entries = items.map((item) => item.webkitGetAsEntry?.());
  const plain = [...event.dataTransfer.files].map(chosen);
  if (!entries.every(Boolean)) return add(plain);
  add((await Promise.all(entries.map((entry) => filesOf(entry)))).flat());
});

document.addEventListener("click", (event) => {
  if (event.target.closest("tr.refused [data-upload-cancel]")) event.target.closest("tr").remove();
});

document.querySelector("#upload-summary [data-again]").addEventListener("click", () => {
  again();
  for (const upload of broken.splice(0)) upload.queue();
});
