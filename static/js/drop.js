// Fields for one file: shows the name of the file that was dropped or selected.

function show(area) {
  const { files } = area.querySelector("input[type='file']");
  if (files.length) area.querySelector("[data-drop-name]").textContent = files[0].name;
}

document.addEventListener("change", (event) => {
  const area = event.target.closest("[data-drop]");
  if (area) show(area);
});

for (const area of document.querySelectorAll("[data-drop]")) {
  const hover = (on) => area.toggleAttribute("data-over", on);
  area.addEventListener("dragover", (event) => {
    event.preventDefault();
    hover(true);
  });
  area.addEventListener("dragleave", () => hover(false));
  area.addEventListener("drop", (event) => {
    event.preventDefault();
    hover(false);
    area.querySelector("input[type='file']").files = event.dataTransfer.files;
    show(area);
  });
}
