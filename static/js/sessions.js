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
  if (isInUse()) {
    waiting = true;
    event.preventDefault();
  } else if (narrowing().size || "longer" in list().dataset) {
    event.preventDefault();
    refresh();
  } else {
    const top = list().scrollTop;
    requestAnimationFrame(() => (list().scrollTop = top));
  }
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
