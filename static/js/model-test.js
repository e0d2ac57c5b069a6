// Streams the output of the models being tested, then loads the page with the results.

const asking = document.querySelector("[data-ask]");

// Shows a line of the stream: a piece of a model's reasoning or answer, or why it ended.
function show({ model, ...came }) {
  const card = asking.querySelector(`[data-model="${CSS.escape(model)}"]`);
  for (const [kind, piece] of Object.entries(came)) {
    const place = card.querySelector(`[data-${kind}]`);
    const thinking = card.querySelector("details");
    const isFirst = !place.textContent;
    place.append(piece);
    place.hidden = false;
    // Follow the reasoning until the answer begins, then the answer.
    if (isFirst && kind === "thinking") thinking.hidden = false;
    if (isFirst && kind !== "error") thinking.open = kind === "thinking";
    if (kind === "error") card.querySelector("[data-state]").hidden = true;
    place.scrollTop = place.scrollHeight;
  }
}

// Sends the question, and returns whether the stream was complete.
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
      const output = JSON.parse(line);
      if (output.done) return true;
      show(output);
    }
  }
}

for (const state of asking.querySelectorAll("[data-state]")) state.hidden = false;
if (await ask().catch(() => false)) {
  location.replace(location.href);
} else {
  for (const state of asking.querySelectorAll("[data-state]")) state.hidden = true;
  for (const element of asking.querySelectorAll("[data-broken], [data-again]")) element.hidden = false;
}
