// The playground: a passage ticked on one side is ticked on the other, and a rank leads to its side.

document.addEventListener("change", (event) => {
  const { target } = event;
  if (target.matches("select[data-submit]")) target.form.requestSubmit();
  if (!target.matches("#results input[name='chunk']")) return;
  for (const tick of document.querySelectorAll(`#results input[name='chunk'][value='${CSS.escape(target.value)}']`)) {
    tick.checked = target.checked;
  }
});

// On a phone one side is shown at a time; to look at the other is no change to search for.
document.querySelector(".side-tabs")?.addEventListener("change", (event) => event.stopPropagation());

document.addEventListener("click", (event) => {
  const link = event.target.closest("[data-other]");
  if (link) document.querySelector(`[data-side-tab][value='${link.dataset.other}']`).checked = true;
});

// Enter in the query searches, and is a change of it as well, which must not take the place of that search.
let searchedAt = -Infinity;
document.addEventListener("submit", () => { searchedAt = performance.now(); }, true);
document.addEventListener("htmx:confirm", (event) => {
  if (event.detail.triggeringEvent?.type === "change" && performance.now() - searchedAt < 300) event.preventDefault();
});

// Of a change no assistant is asked, though the button that asks may have been pressed before.
document.addEventListener("htmx:configRequest", (event) => {
  if (event.detail.triggeringEvent?.type === "change") event.detail.formData.delete("ask");
});
