// Shows a PDF in the page with PDF.js, which is loaded on demand, for selecting, searching and zooming. Cited words are
// highlighted, and scanned pages get their recognised text. A file that PDF.js can't show is shown as images of its
// pages.

const FILES = new URL("../pdfjs/", import.meta.url);
// Of a long file, only the visible part is requested.
const PART_BYTES = 2 ** 18;
const MARGIN = 0.25; // of the reader's height, above the target
const DESCENT = -0.2; // of a line's height, from its baseline down
const SETTLED_MS = 100; // without another change of width before the pages are redrawn

let library = null;

function load() {
  library ??= (async () => {
    const style = document.createElement("link");
    style.rel = "stylesheet";
    style.href = new URL("../css/reader.css", import.meta.url);
    const styled = new Promise((resolve, reject) => {
      style.addEventListener("load", resolve);
      style.addEventListener("error", reject);
    });
    document.head.append(style);
    const core = await import(new URL("build/pdf.min.mjs", FILES));
    globalThis.pdfjsLib = core; // where its viewer expects it
    core.GlobalWorkerOptions.workerSrc = new URL("build/pdf.worker.min.mjs", FILES).href;
    const viewer = await import(new URL("web/pdf_viewer.mjs", FILES));
    await styled;
    return { ...core, ...viewer };
  })();
  return library;
}

class Reader {
  constructor(element) {
    this.element = element;
    this.pages = element.querySelector(".reader-pages");
    this.number = element.querySelector("[data-reader-page]");
    this.query = element.querySelector("[data-reader-query]");
    this.count = element.querySelector("[data-reader-count]");
    const numbers = (name) => new Set(element.dataset[name].split(",").filter(Boolean).map(Number));
    this.scanned = numbers("scanned");
    this.marked = numbers("marked");
    this.layers = new Map();
    this.coming = new Set(); // requested pages
    this.awaited = Number(element.dataset.page); // the page with the target, until that is shown
    this.events();
  }

  async open() {
    const pdf = await load();
    this.task = pdf.getDocument({
      url: this.element.dataset.file,
      rangeChunkSize: PART_BYTES,
      disableAutoFetch: true,
      disableStream: true,
      enableXfa: false,
      cMapUrl: new URL("cmaps/", FILES).href,
      standardFontDataUrl: new URL("standard_fonts/", FILES).href,
      wasmUrl: new URL("wasm/", FILES).href,
      iccUrl: new URL("iccs/", FILES).href,
    });
    this.document = await this.task.promise;
    if (!this.element.isConnected) return this.close();
    this.withRecognisedWords();
    this.bus = new pdf.EventBus();
    const linkService = new pdf.PDFLinkService({
      eventBus: this.bus,
      externalLinkTarget: pdf.LinkTarget.BLANK,
      externalLinkRel: "noopener noreferrer nofollow",
    });
    const findController = new pdf.PDFFindController({ eventBus: this.bus, linkService });
    this.view = new pdf.PDFViewer({
      container: this.pages,
      eventBus: this.bus,
      linkService,
      findController,
      annotationMode: pdf.AnnotationMode.ENABLE, // links and the values of forms, but no input
      imageResourcesPath: new URL("web/images/", FILES).href,
    });
    linkService.setViewer(this.view);
    this.bus.on("pagesinit", () => this.begin());
    this.bus.on("pagechanging", ({ pageNumber }) => (this.number.value = pageNumber));
    this.bus.on("textlayerrendered", ({ pageNumber, source }) => this.mark(pageNumber, source.div));
    this.bus.on("updatefindmatchescount", ({ matchesCount }) => this.showCount(matchesCount));
    this.bus.on("updatefindcontrolstate", ({ state, matchesCount }) =>
      this.showCount(matchesCount, state === pdf.FindState.NOT_FOUND),
    );
    this.view.setDocument(this.document);
    linkService.setDocument(this.document, null);
  }

  // Wait for running requests, or PDF.js reports that its file is gone.
  async close() {
    this.sizes?.disconnect();
    clearTimeout(this.fitting);
    this.view?.setDocument(null);
    await Promise.allSettled(this.coming);
    this.task?.destroy();
  }

  begin() {
    this.view.currentScaleValue = "page-width";
    this.show(this.awaited);
    this.element.dataset.live = "";
    // Dragging the edge changes the width many times per second, and each fit redraws all visible pages.
    this.sizes = new ResizeObserver(() => {
      clearTimeout(this.fitting);
      this.fitting = setTimeout(() => {
        if (!this.pages.offsetParent) return; // it was closed
        if (this.view.currentScaleValue === "page-width") this.view.currentScaleValue = "page-width";
        this.view.update();
      }, SETTLED_MS);
    });
    this.sizes.observe(this.pages);
  }

  show(number) {
    this.view.scrollPageIntoView({ pageNumber: Math.min(Math.max(number || 1, 1), this.view.pagesCount) });
  }

  // Fetches, once, the server's data for a page: its recognised lines, and the positions of highlighted words.
  layer(number) {
    if (!this.layers.has(number)) {
      const address = new URL(this.element.dataset.layer.replace("/0.json", `/${number}.json`), location.href);
      address.search = this.element.dataset.marks;
      const asked = fetch(address).then((response) => (response.ok ? response.json() : Promise.reject(response.status)));
      this.layers.set(number, asked.catch(() => ({ lines: [], cited: [], said: [] })));
    }
    return this.layers.get(number);
  }

  // For PDF.js, a scanned page has no text: it gets the recognised lines as if they were the page's, so that they can
  // be selected and found like any others.
  withRecognisedWords() {
    const getPage = this.document.getPage.bind(this.document);
    this.document.getPage = async (number) => {
      const asked = getPage(number);
      this.coming.add(asked);
      const page = await asked.finally(() => this.coming.delete(asked));
      if (this.scanned.has(number) && !Object.hasOwn(page, "getTextContent")) {
        const content = async () => textContent((await this.layer(number)).lines, page);
        page.getTextContent = content;
        page.streamTextContent = () =>
          new ReadableStream({
            async start(controller) {
              controller.enqueue(await content());
              controller.close();
            },
          });
      }
      return page;
    };
  }

  async mark(number, page) {
    if (!this.marked.has(number)) return;
    const { cited, said } = await this.layer(number);
    const text = page.querySelector(".textLayer");
    if (!text) return;
    for (const old of text.querySelectorAll("mark")) old.remove();
    const put = (boxes, name) =>
      boxes.map(([x0, y0, x1, y1]) => {
        const box = document.createElement("mark");
        box.className = name;
        box.ariaHidden = "true"; // its words are the ones below it
        box.style.inset = `${100 * y0}% ${100 * (1 - x1)}% ${100 * (1 - y1)}% ${100 * x0}%`;
        return box;
      });
    const boxes = [...put(cited, "cited-words"), ...put(said, "said-words")];
    text.prepend(...boxes);
    if (number === this.awaited && boxes.length) {
      const first = boxes[said.length ? cited.length : 0].getBoundingClientRect();
      const { top, height } = this.pages.getBoundingClientRect();
      this.pages.scrollTop += first.top - top - MARGIN * height;
      this.awaited = 0;
    }
  }

  find(type, backwards = false) {
    const query = this.query.value.trim();
    if (!query) this.showCount({ total: 0 });
    this.bus?.dispatch(query ? "find" : "findbarclose", {
      source: this,
      type: query === this.asked ? type : "",
      query,
      caseSensitive: false,
      entireWord: false,
      highlightAll: true,
      findPrevious: backwards,
      matchDiacritics: false,
    });
    this.asked = query;
  }

  showCount({ current = 0, total = 0 } = {}, none = false) {
    const { of, nothing } = this.count.dataset;
    const words = of.replace("{current}", current).replace("{total}", total);
    this.count.textContent = !this.query.value.trim() ? "" : none ? nothing : total ? words : "";
    this.query.setAttribute("aria-invalid", none && this.query.value.trim() !== "");
  }

  events() {
    const on = (name, action) => this.element.querySelector(`[data-reader-${name}]`)?.addEventListener("click", action);
    on("before", () => this.show(this.view.currentPageNumber - 1));
    on("after", () => this.show(this.view.currentPageNumber + 1));
    on("smaller", () => this.view.decreaseScale());
    on("larger", () => this.view.increaseScale());
    on("fit", () => (this.view.currentScaleValue = "page-width"));
    on("match-before", () => this.find("again", true));
    on("match-after", () => this.find("again"));
    this.number.addEventListener("change", () => this.show(Number(this.number.value)));
    this.query.addEventListener("input", (event) => event.isComposing || this.find(""));
    this.query.addEventListener("compositionend", () => this.find(""));
    this.query.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" || event.isComposing) return;
      event.preventDefault();
      this.find("again", event.shiftKey);
    });
  }
}

// Converts lines with boxes in fractions of the visible page to the text content of PDF.js: in points, from the bottom.
function textContent(lines, page) {
  const view = page.getViewport({ scale: 1 });
  const [x, y] = view.convertToPdfPoint(0, 0);
  const [right, up] = [view.convertToPdfPoint(1, 0), view.convertToPdfPoint(0, -1)].map(([px, py]) => [px - x, py - y]);
  const items = lines.map(([str, x0, y0, x1, y1]) => {
    const size = (y1 - y0) * view.height;
    const start = view.convertToPdfPoint(x0 * view.width, y1 * view.height + DESCENT * size);
    const transform = [...right.map((part) => part * size), ...up.map((part) => part * size), ...start];
    return { str, dir: "ltr", width: (x1 - x0) * view.width, height: size, transform, fontName: "read", hasEOL: true };
  });
  const styles = { read: { fontFamily: "sans-serif", ascent: 1 + DESCENT, descent: DESCENT, vertical: false } };
  return { items, styles, lang: null };
}

const readers = new WeakMap();

async function start(element) {
  if (readers.has(element)) return;
  const reader = new Reader(element);
  readers.set(element, reader);
  try {
    await reader.open();
  } catch (error) {
    console.info("The PDF is shown as pictures of its pages:", error);
    if (!element.isConnected) return;
    await window.htmx.ajax("GET", element.dataset.fallback, { target: element, swap: "outerHTML" });
    if (element.matches("[data-large]")) document.getElementById(element.id)?.showPopover();
  }
}

function look(root = document) {
  for (const element of root.querySelectorAll?.(".pdf-reader[data-inline]") ?? []) start(element);
}

// A reader that is hidden until it is enlarged, such as the drawer's, is loaded when it opens.
document.addEventListener(
  "toggle",
  (event) => {
    const element = event.target;
    if (!element.matches?.(".pdf-reader")) return;
    element.toggleAttribute("data-large", event.newState === "open");
    if (event.newState === "open") start(element);
  },
  true,
);

// Go to a page named in the text, if the file is loaded; before htmx requests its image.
document.addEventListener(
  "click",
  (event) => {
    const link = event.target.closest?.("a[data-turns-to]");
    const element = link && document.querySelector(".pdf-reader[data-live]");
    if (!element || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    event.stopPropagation();
    readers.get(element).show(Number(link.dataset.turnsTo));
  },
  true,
);

document.addEventListener("htmx:afterSettle", (event) => look(event.detail.elt));
document.addEventListener("htmx:beforeCleanupElement", (event) => readers.get(event.detail.elt)?.close());
look();
