// The summary of an upload of many files: its progress, the time left, and the files that weren't added, by reason.

const panel = document.getElementById("upload-summary");
const words = panel.dataset;
const MANY = 6; // the minimum number of files for a summary
const EVERY = 1500;
const KEY = `upload:${words.address}`;

// A base's latest upload, kept while the tab is open, since the user may leave the page and return.
let state = JSON.parse(sessionStorage.getItem(KEY) ?? "null") ?? fresh();
let timer = 0;

function fresh() {
  return { total: 0, sent: 0, there: 0, bytes: 0, bytesSent: 0, documents: [], refused: [], begun: 0, read: null, readFrom: null };
}

export const isMany = () => state.total >= MANY;

// Adds files to the upload; `isMany` returns whether there are many.
export function begin(files) {
  if (!uploading()) state = fresh();
  state.begun ||= Date.now();
  state.total += files.length;
  for (const file of files) state.bytes += file.size;
  panel.hidden = !isMany();
  show();
}

// A file is done: `outcome` has its `document`, `there` if that already existed, or a `reason`, with `again` if it can
// be retried; it is empty if the upload was cancelled.
export function note(file, name, outcome) {
  state.sent += 1;
  state.bytesSent += file.size;
  if (outcome.reason) state.refused.push({ name, reason: outcome.reason, again: outcome.again });
  else if (outcome.there) state.there += 1;
  else if (outcome.document) state.documents.push(outcome.document);
  else {
    state.sent -= 1; // cancelled
    state.total -= 1;
  }
  show();
  if (!uploading()) follow();
}

const uploading = () => state.sent < state.total;

async function follow() {
  clearTimeout(timer);
  if (!state.documents.length || uploading()) return;
  const data = new FormData();
  data.append("documents", state.documents.join(","));
  data.append("csrfmiddlewaretoken", document.getElementById("upload").elements.csrfmiddlewaretoken.value);
  try {
    const response = await fetch(words.address, { method: "POST", body: data });
    if (response.ok) state.read = await response.json();
    else if (response.status < 500) return; // signed out, or no longer shared
  } catch {
    // Try again next time.
  }
  if (uploading()) return;
  state.readFrom ??= state.read && { at: Date.now(), percent: state.read.percent };
  show();
  if (state.read && state.read.ended >= state.read.total) done();
  else timer = setTimeout(follow, EVERY);
}

function done() {
  if (state.told) return;
  state.told = true;
  show();
  // A few files were added to a table that may be in use: only refresh its counts.
  const part = isMany() || !document.getElementById("bulk") ? "#documents" : "#counts";
  htmx.ajax("GET", location.href, { target: part, select: part, swap: "outerHTML" });
}

// Returns the estimated time left as text; nothing while it is unknown.
function left(begun, part) {
  const elapsed = (Date.now() - begun) / 1000;
  if (part < 0.03 || elapsed < 3) return "";
  const seconds = (elapsed * (1 - part)) / part;
  const [unit, size] = seconds < 60 ? ["second", 1] : seconds < 5400 ? ["minute", 60] : ["hour", 3600];
  const count = unit === "second" ? Math.max(5, Math.round(seconds / 5) * 5) : Math.round(seconds / size);
  const said = new Intl.NumberFormat(document.documentElement.lang, { style: "unit", unit, unitDisplay: "long" }).format(count);
  return words.left.replace("{time}", said);
}

const counted = (text, n) => text.replace("{n}", n.toLocaleString(document.documentElement.lang));
const of = (text, n, total) => counted(text, n).replace("{total}", total.toLocaleString(document.documentElement.lang));

function show() {
  if (!isMany()) return;
  const { read } = state;
  const ended = !uploading() && (!state.documents.length || (read && read.ended >= read.total));
  let line;
  let part = 1;
  if (uploading()) {
    part = state.bytes ? state.bytesSent / state.bytes : state.sent / state.total;
    line = [of(words.uploading, state.sent, state.total), left(state.begun, part)];
  } else if (!ended) {
    part = (read?.percent ?? 0) / 100;
    const before = (state.readFrom?.percent ?? 0) / 100;
    line = [of(words.reading, read?.ended ?? 0, read?.total ?? state.documents.length)];
    if (state.readFrom) line.push(left(state.readFrom.at, (part - before) / (1 - before || 1)));
  } else {
    const failed = read ? read.reasons.reduce((sum, reason) => sum + reason.count, 0) : 0;
    const counts = [[words.ready, read?.ready ?? 0], [words.there, state.there], [words.failed, failed], [words.refused, state.refused.length]];
    line = counts.filter(([, n]) => n > 0).map(([text, n]) => counted(text, n));
  }
  panel.hidden = false;
  panel.querySelector("[data-line]").textContent = line.filter(Boolean).join(" · ");
  const bar = panel.querySelector("progress");
  bar.hidden = ended;
  bar.value = 100 * part;
  panel.querySelector("[data-close]").hidden = !ended;
  panel.querySelector("[data-again]").hidden = uploading() || !state.refused.some(({ again }) => again);
  showReasons();
  sessionStorage.setItem(KEY, JSON.stringify(state));
}

function showReasons() {
  const reasons = new Map();
  for (const { name, reason } of state.refused) {
    const known = reasons.get(reason) ?? { title: reason, text: "", count: 0, files: [] };
    known.count += 1;
    known.files.push(name);
    reasons.set(reason, known);
  }
  const all = [...reasons.values(), ...(state.read?.reasons ?? [])];
  const list = panel.querySelector("ul");
  const open = new Set([...list.querySelectorAll("details[open]")].map((each) => each.dataset.reason));
  list.hidden = !all.length;
  list.replaceChildren(
    ...all.map(({ title, text, count, files }) => {
      const item = panel.querySelector("template").content.firstElementChild.cloneNode(true);
      const details = item.querySelector("details");
      details.dataset.reason = title;
      details.open = open.has(title);
      item.querySelector("[data-title]").textContent = title;
      item.querySelector("[data-count]").textContent = count;
      item.querySelector("[data-text]").textContent = text === title ? "" : text;
      item.querySelector("[data-files]").textContent = files.join("\n");
      return item;
    }),
  );
}

// Retried files are no longer listed as not added.
export function again() {
  const kept = state.refused.filter((each) => !each.again);
  const count = state.refused.length - kept.length;
  state.refused = kept;
  state.sent -= count;
  state.told = false;
  show();
}

panel.querySelector("[data-close]").addEventListener("click", () => {
  state = fresh();
  sessionStorage.removeItem(KEY);
  panel.hidden = true;
});

if (uploading()) {
  // The page was left during an upload: show what was uploaded.
  state.total = Math.max(state.sent, 0);
  if (!isMany()) state = fresh();
}
show();
if (!state.told) follow();
