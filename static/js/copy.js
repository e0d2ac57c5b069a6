// Copying an answer as Markdown and as HTML, both with its sources; or one code block, or the element that a button
// names (a link, a key), as plain text.

const BOXES = { box: "☐", "box done": "☑" };

// HTML for pasting elsewhere: no buttons, formulas as MathML, checkboxes as characters.
function pasted(html, answer) {
  const copy = new DOMParser().parseFromString(html, "text/html").body;
  copy.querySelectorAll("figcaption").forEach((part) => part.remove());
  for (const figure of copy.querySelectorAll("figure")) figure.replaceWith(...figure.childNodes);
  const formulas = new Map([...answer.querySelectorAll(".math.set")].map((it) => [it.dataset.source, it.querySelector("math")]));
  for (const formula of copy.querySelectorAll(".math")) {
    const set = formulas.get(formula.textContent);
    if (set) formula.replaceChildren(set.cloneNode(true));
  }
  for (const box of copy.querySelectorAll(".box")) box.replaceWith(`${BOXES[box.className] ?? ""} `);
  // What only this page needs: its styles, and its scrolling by keyboard.
  for (const name of ["class", "tabindex", "role", "aria-label"])
    for (const element of copy.querySelectorAll(`[${name}]`)) element.removeAttribute(name);
  return copy.innerHTML.trim();
}

async function fetched(answer) {
  const response = await fetch(`/messages/${answer.dataset.answer}/copy/`, { headers: { Accept: "application/json" } });
  if (!response.ok) throw new Error(response.statusText);
  const { text, html } = await response.json();
  return { "text/plain": text, "text/html": pasted(html, answer) };
}

// Without TLS there is no clipboard object; the data is then set during the browser's copy event.
async function writeOldWay(contents) {
  const put = (event) => {
    event.preventDefault();
    for (const [type, text] of Object.entries(contents)) event.clipboardData.setData(type, text);
  };
  document.addEventListener("copy", put, { once: true });
  document.execCommand("copy");
  document.removeEventListener("copy", put);
}

async function write(coming, types) {
  if (!navigator.clipboard?.write) return writeOldWay(await coming);
  // The browser waits for data that is still loading, as long as a click started it.
  const blob = async (type) => new Blob([(await coming)[type]], { type });
  await navigator.clipboard.write([new ClipboardItem(Object.fromEntries(types.map((type) => [type, blob(type)])))]);
}

document.addEventListener("click", async (event) => {
  const button = event.target.closest("[data-copy], [data-copy-answer], [data-copy-code]");
  if (!button) return;
  if (button.matches("[data-copy-answer]")) await write(fetched(button.closest(".answer")), ["text/plain", "text/html"]);
  else {
    const named = button.dataset.copy ? document.querySelector(button.dataset.copy) : button.closest("figure").querySelector("code");
    const text = button.dataset.copy ? named.textContent.trim() : named.textContent;
    await write(Promise.resolve({ "text/plain": text }), ["text/plain"]);
  }
  button.classList.add("copied");
  setTimeout(() => button.classList.remove("copied"), 1600);
});
