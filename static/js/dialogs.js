// Dialogs from the server: opened when they arrive, closed when their form was handled.

function openAll(root) {
  for (const dialog of root.querySelectorAll("dialog[data-open]:not([open])")) {
    for (const menu of document.querySelectorAll("details.menu[open]")) menu.open = false;
    dialog.showModal();
  }
}

openAll(document);

document.addEventListener("htmx:afterSwap", (event) => openAll(event.target));

document.addEventListener("htmx:afterRequest", (event) => {
  const dialog = event.target.closest?.("#dialog-slot dialog");
  if (dialog && event.detail.successful) dialog.close();
});

// A row whose document was deleted by someone else stops polling.
document.addEventListener("htmx:responseError", (event) => {
  if (event.detail.xhr.status === 404) event.target.closest?.("tr.document-row")?.remove();
});
