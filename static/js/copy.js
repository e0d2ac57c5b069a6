// Copying an answer as text, its citations as [n]; or one block of code.

function textOf(answer) {
  const copy = answer.querySelector(".prose").cloneNode(true);
  copy.querySelectorAll("figcaption button").forEach((button) => button.remove());
  for (const link of copy.querySelectorAll("sup a")) link.textContent = `[${link.dataset.citation}]`;
  // Line breaks exist only for what is laid out.
  copy.className = "prose visually-hidden";
  document.body.append(copy);
  const text = copy.innerText.trim();
  copy.remove();
  return text;
}

function write(text) {
  if (navigator.clipboard) return navigator.clipboard.writeText(text);
  // Without TLS there is no clipboard object.
  const area = document.createElement("textarea");
  area.value = text;
  area.className = "visually-hidden";
  document.body.append(area);
  area.select();
  document.execCommand("copy");
  area.remove();
  return Promise.resolve();
}

document.addEventListener("click", async (event) => {
  const button = event.target.closest("[data-copy-answer], [data-copy-code]");
  if (!button) return;
  const code = button.closest("figure")?.querySelector("code");
  await write(button.matches("[data-copy-code]") ? code.textContent : textOf(button.closest(".answer")));
  button.classList.add("copied");
  setTimeout(() => button.classList.remove("copied"), 1600);
});
