// The list of chats: updates wait while it is in use, and keep its filter and length.

let waiting = false;

const list = () => document.getElementById("sessions");
// A running request must find its target again, and a title being typed must not be lost.
const isInUse = () => list().matches(":has(.renaming, .menu[open], .htmx-request)");

function narrowing() {
  const given = new FormData(document.querySelector(".rail-tools .search"));
  return new URLSearchParams([...given].filter(([, value]) => value.trim()));
}

function refresh() {
  waiting = false;
  const wanted = narrowing();
  const shown = list().querySelectorAll(".session").length;
  const current = list().querySelector("[data-current]")?.id.replace("session-", "") ?? list().dataset.current;
  if (current) wanted.set("current", current);
  wanted.set("shown", shown);
  const top = list().scrollTop;
  const got = window.htmx.ajax("GET", `${list().dataset.address}?${wanted}`, { target: "#sessions", swap: "outerHTML" });
  got.then(() => (list().scrollTop = top));
}

document.addEventListener("htmx:oobBeforeSwap", (event) => {
  if (event.detail.target.id !== "sessions") return;
  const news = event.detail.fragment?.querySelector(".session-news"); // one row; otherwise it is the whole list
  if (isInUse()) {
    waiting = true;
    event.preventDefault();
  } else if (narrowing().size || (news ? news.dataset.day !== list().dataset.day : "longer" in list().dataset)) {
    event.preventDefault();
    refresh();
  } else if (news) {
    event.preventDefault();
    update(news);
  } else {
    const top = list().scrollTop;
    requestAnimationFrame(() => (list().scrollTop = top));
  }
});

// Replaces the row of a chat, and moves it to its place; a chat that is no longer listed has no new row.
function update(news) {
  const old = document.getElementById(`session-${news.dataset.session}`);
  const row = news.querySelector(".session");
  const focused = old?.contains(document.activeElement);
  old?.remove();
  if (row) {
    insert(row, news.dataset.group);
    window.htmx.process(row);
    if (focused) row.querySelector("a").focus();
  }
  for (const group of list().querySelectorAll("ul")) if (!group.firstElementChild) removeGroup(group);
}

// The order of the list: pinned chats first, then those with the newest activity.
function comesBefore(row, other) {
  const [one, two] = [row, other].map(({ dataset }) => dataset.place.split("_").map(Number));
  const different = one.findIndex((value, index) => value !== two[index]);
  return different >= 0 && one[different] > two[different];
}

// The heading of a row's group, which a group that continues on a further page doesn't repeat.
function headOf(row) {
  let element = row.parentElement;
  while (element && !element.matches(".sessions-head")) element = element.previousElementSibling;
  return element;
}

function insert(row, group) {
  const rows = [...list().querySelectorAll(".session")];
  const next = rows.find((other) => comesBefore(row, other));
  const previous = next ? rows[rows.indexOf(next) - 1] : rows.at(-1);
  const more = list().querySelector(".sessions-more");
  if (next && headOf(next)?.textContent === group) return next.before(row);
  if (!next && more) return; // it is on a further page
  if (previous && headOf(previous)?.textContent === group) return previous.after(row);
  const head = document.createElement("h2");
  const members = document.createElement("ul");
  head.className = "sessions-head";
  head.textContent = group;
  members.setAttribute("role", "list");
  members.append(row);
  list().querySelector(".sessions-none")?.remove();
  if (next) headOf(next).before(head, members);
  else list().append(head, members);
}

function removeGroup(group) {
  const [before, after] = [group.previousElementSibling, group.nextElementSibling];
  if (before?.matches(".sessions-head") && !after?.matches("ul")) before.remove();
  group.remove();
}

// Chats may have changed in another tab meanwhile.
let hiddenAt = 0;
document.addEventListener("visibilitychange", () => {
  if (document.hidden) hiddenAt = Date.now();
  else if (Date.now() - hiddenAt > 10_000) isInUse() ? (waiting = true) : refresh();
});

const goOn = () => waiting && setTimeout(() => waiting && !isInUse() && refresh());
document.addEventListener("htmx:afterRequest", goOn);
document.addEventListener("toggle", goOn, true);
document.addEventListener("focusout", goOn);

// Ignore responses to requests from before the filter was changed.
document.addEventListener("htmx:beforeSwap", (event) => {
  const { target, xhr, requestConfig } = event.detail;
  if (target.id !== "sessions") return;
  const address = new URL(xhr.responseURL).searchParams;
  const asked = (name) => (requestConfig.formData.get(name) ?? address.get(name) ?? "").trim();
  const wanted = narrowing();
  if (["q", "in"].every((name) => asked(name) === (wanted.get(name) ?? "").trim())) return;
  event.detail.shouldSwap = false;
  if (requestConfig.verb !== "get") refresh();
});

// A menu may have been opened, or a title edited, since the update was requested.
document.addEventListener("htmx:beforeSwap", ({ detail }) => {
  if (detail.target.id !== "sessions" || detail.requestConfig.elt !== document.body || !isInUse()) return;
  detail.shouldSwap = false;
  waiting = true;
});

// Loading more sessions makes the list longer than its first page.
document.addEventListener("htmx:beforeSwap", (event) => {
  if (event.detail.target.classList.contains("sessions-more")) list().dataset.longer = "";
});
