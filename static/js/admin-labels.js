// Accessible names for controls that Django's administration leaves without one: dates and times, cells of inline
// tables, Select2's boxes and the search field of a list.

const words = (element) => element?.textContent.trim().replace(/[:：]$/, "") ?? "";

// Returns the element that labels a control: its label, the header of its column, or the legend of its row.
function saidBy(control) {
  if (control.labels?.length) return control.labels[0];
  const cell = control.closest(".tabular td");
  if (cell) return cell.closest("table").tHead.rows[0].cells[cell.cellIndex];
  return control.closest(".form-row")?.querySelector("legend, label");
}

function nameFields(root) {
  for (const control of root.querySelectorAll(".tabular td :is(input:not([type=hidden]), select, textarea)")) {
    if (!control.labels.length) control.setAttribute("aria-label", words(saidBy(control)));
  }
  for (const control of root.querySelectorAll(".datetime input")) {
    control.setAttribute("aria-label", `${words(saidBy(control))}: ${words(control.previousSibling)}`);
  }
  for (const box of root.querySelectorAll(".select2-container .select2-selection")) {
    const select = box.closest(".select2-container").previousElementSibling;
    const label = select && saidBy(select);
    const shown = box.querySelector("[role=textbox]");
    if (!label || !shown) continue;
    label.id ||= `${shown.id}-label`;
    for (const element of [box, shown]) element.setAttribute("aria-labelledby", `${label.id} ${shown.id}`);
  }
  for (const tip of root.querySelectorAll("span.help-tooltip[aria-label]")) tip.setAttribute("role", "img");
  for (const head of root.querySelectorAll(".inline-group thead th")) {
    if (!words(head)) head.setAttribute("role", "presentation");
  }
}

// After Django's own scripts, some of which wait for the same event.
addEventListener("load", () => {
  setTimeout(() => {
    nameFields(document);
    const search = document.getElementById("searchbar");
    search?.setAttribute("aria-label", search.form.querySelector("input[type=submit]").value);
  });
});
document.addEventListener("formset:added", (event) => setTimeout(() => nameFields(event.target)));
