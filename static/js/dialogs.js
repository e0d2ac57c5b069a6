// Dialogs that the server sends: opened when they arrive, closed when their form has been answered.

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

// A row whose document another person deleted has nothing more to ask for.
document.addEventListener("htmx:responseError", (event) => {
  if (event.detail.xhr.status === 404) event.target.closest?.("tr.document-row")?.remove();
});
