// The playground: a passage ticked on one side is ticked on the other, and a rank leads to its side.

document.addEventListener("change", (event) => {
  const { target } = event;
  if (target.matches("select[data-submit]")) target.form.requestSubmit();
  if (!target.matches("#results input[name='chunk']")) return;
  for (const tick of document.querySelectorAll(`#results input[name='chunk'][value='${CSS.escape(target.value)}']`)) {
    tick.checked = target.checked;
  }
});

// Phones show one side at a time; switching sides doesn't start a search.
document.querySelector(".side-tabs")?.addEventListener("change", (event) => event.stopPropagation());

document.addEventListener("click", (event) => {
  const link = event.target.closest("[data-other]");
  if (link) document.querySelector(`[data-side-tab][value='${link.dataset.other}']`).checked = true;
});

// Enter in the query submits it and also triggers a change event, which must not replace that search.
let searched = null;
document.addEventListener("htmx:confirm", (event) => {
  const { triggeringEvent } = event.detail;
  if (triggeringEvent?.type !== "change" || triggeringEvent.target.name !== "q") return;
  if (triggeringEvent.target.value === searched) event.preventDefault();
});

// Changes don't run an assistant, even if its button was pressed before.
document.addEventListener("htmx:configRequest", ({ detail }) => {
  if (detail.triggeringEvent?.type === "change") detail.formData.delete("ask");
  if (detail.elt.matches(".playground-form")) searched = detail.formData.get("q");
});
