// Draws complete code blocks that are diagrams, with Mermaid in an isolated frame (see templates/ragsite/diagram.html).
// The page gets an image of the result, which runs no scripts. A button switches to the source, which stays if it can't
// be drawn.

const PATIENCE = 15_000; // ms
const WIDEST = 4000; // px

let frame = null; // a promise
let last = Promise.resolve();
let asked = 0;

const isDark = () => getComputedStyle(document.documentElement).colorScheme === "dark"
  || (document.documentElement.dataset.theme !== "light" && matchMedia("(prefers-color-scheme: dark)").matches);

function load() {
  frame ??= new Promise((resolve, reject) => {
    const element = document.createElement("iframe");
    element.className = "visually-hidden diagram-frame";
    element.setAttribute("sandbox", "allow-scripts");
    element.setAttribute("aria-hidden", "true");
    element.tabIndex = -1;
    element.src = "/diagram/";
    const ready = (event) => {
      if (event.source !== element.contentWindow || event.data?.ready !== true) return;
      removeEventListener("message", ready);
      resolve(element);
    };
    addEventListener("message", ready);
    setTimeout(() => reject(new Error("the frame didn't come")), PATIENCE);
    document.body.append(element);
  });
  return frame;
}

async function drawn(source, dark) {
  const element = await load();
  const number = ++asked;
  return new Promise((resolve, reject) => {
    const answered = (event) => {
      if (event.source !== element.contentWindow || event.data?.number !== number) return;
      removeEventListener("message", answered);
      clearTimeout(late);
      const { svg, width, height, title } = event.data;
      if (typeof svg === "string" && width > 0 && height > 0) resolve({ svg, width, height, title: String(title ?? "") });
      else reject(new Error("no diagram"));
    };
    const late = setTimeout(() => {
      // A drawing that takes too long is stopped by removing its frame.
      removeEventListener("message", answered);
      element.remove();
      frame = null;
      reject(new Error("too slow"));
    }, PATIENCE);
    addEventListener("message", answered);
    // The frame has no origin that could be named as the target. The message contains nothing secret.
    element.contentWindow.postMessage({ number, source, dark, font: getComputedStyle(document.body).fontFamily }, "*");
  });
}

async function draw(figure) {
  const dark = isDark();
  figure.dataset.drawn = dark ? "dark" : "light";
  try {
    const code = figure.querySelector("code").textContent;
    const { svg, width, height, title } = await drawn(code, dark);
    const picture = new Image(Math.min(Math.ceil(width), WIDEST), Math.ceil(height));
    picture.alt = title || figure.querySelector("figcaption span").textContent;
    picture.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(svg)}`;
    await picture.decode();
    const place = document.createElement("div");
    place.className = "diagram-picture";
    place.tabIndex = 0;
    place.append(picture);
    figure.querySelector(".diagram-picture")?.remove();
    figure.querySelector("pre").before(place);
    figure.classList.add("drawn");
    // If the diagram is too wide, its middle is shown first.
    place.scrollLeft = (place.scrollWidth - place.clientWidth) / 2;
  } catch {
    figure.classList.remove("drawn");
  }
}

function drawAll() {
  const theme = isDark() ? "dark" : "light";
  for (const figure of document.querySelectorAll(`figure.diagram:not([data-drawn="${theme}"])`)) {
    figure.dataset.drawn = theme;
    last = last.then(() => figure.isConnected && draw(figure));
  }
}

document.addEventListener("click", (event) => {
  const button = event.target.closest("[data-diagram-switch]");
  if (!button) return;
  const shown = button.closest("figure").classList.toggle("source");
  button.setAttribute("aria-pressed", shown);
});

let waiting = false;
new MutationObserver(() => {
  if (waiting) return;
  waiting = true;
  requestAnimationFrame(() => {
    waiting = false;
    drawAll();
  });
}).observe(document.documentElement, { childList: true, subtree: true, attributeFilter: ["data-theme"] });
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", drawAll);
drawAll();
