// Shows what the models that are tried write, as it comes; then the page with what came of it.

const asking = document.querySelector("[data-ask]");

// Shows a line of the stream: a piece of what a model thinks or writes, or why it ended.
function show({ model, ...came }) {
  const card = asking.querySelector(`[data-model="${CSS.escape(model)}"]`);
  for (const [kind, piece] of Object.entries(came)) {
    const place = card.querySelector(`[data-${kind}]`);
    const thinking = card.querySelector("details");
    const isFirst = !place.textContent;
    place.append(piece);
    place.hidden = false;
    // What it thinks is read while it thinks; where the answer begins, that is what is read.
    if (isFirst && kind === "thinking") thinking.hidden = false;
    if (isFirst && kind !== "error") thinking.open = kind === "thinking";
    if (kind === "error") card.querySelector("[data-state]").hidden = true;
    place.scrollTop = place.scrollHeight;
  }
}

// Asks, and returns whether the stream came to its end.
async function ask() {
  const token = asking.querySelector("[name=csrfmiddlewaretoken]").value;
  const response = await fetch(asking.dataset.ask, { method: "POST", headers: { "X-CSRFToken": token } });
  if (!response.ok) return false;
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  for (let rest = ""; ;) {
    const { value, done } = await reader.read();
    if (done) return false;
    const lines = (rest + value).split("\n");
    rest = lines.pop();
    for (const line of lines.filter(Boolean)) {
      const told = JSON.parse(line);
      if (told.done) return true;
      show(told);
    }
  }
}

for (const state of asking.querySelectorAll("[data-state]")) state.hidden = false;
if (await ask().catch(() => false)) {
  location.replace(location.href);
} else {
  for (const state of asking.querySelectorAll("[data-state]")) state.hidden = true;
  for (const told of asking.querySelectorAll("[data-broken], [data-again]")) told.hidden = false;
}
