// Draws diagrams for the parent page, in a frame without an origin, network access or cookies.

import mermaid from "../mermaid/mermaid.esm.min.mjs";

async function draw({ number, source, dark, font }) {
  mermaid.initialize({
    startOnLoad: false,
    securityLevel: "strict",
    theme: dark ? "dark" : "neutral",
    // The dark theme's default is a light grey, on which its light text is hard to read.
    themeVariables: dark ? { edgeLabelBackground: "#191817" } : {},
    fontFamily: font,
    htmlLabels: false,
    flowchart: { htmlLabels: false, useMaxWidth: false, wrappingWidth: 170 },
    suppressErrorRendering: true,
    maxTextSize: 20_000,
    // Options that a diagram can't override.
    secure: ["secure", "securityLevel", "startOnLoad", "maxTextSize", "suppressErrorRendering", "maxEdges", "htmlLabels", "fontFamily", "theme", "themeCSS", "themeVariables", "dompurifyConfig"],
  });
  const { svg } = await mermaid.render(`diagram-${number}`, source);
  const parsed = new DOMParser().parseFromString(svg, "text/html").querySelector("svg");
  const [, , width, height] = (parsed.getAttribute("viewBox") ?? "").split(/[\s,]+/).map(Number);
  // An image needs explicit dimensions.
  parsed.setAttribute("width", width);
  parsed.setAttribute("height", height);
  parsed.style.removeProperty("max-width");
  const title = parsed.querySelector(":scope > title")?.textContent ?? "";
  return { svg: new XMLSerializer().serializeToString(parsed), width, height, title };
}

addEventListener("message", async (event) => {
  if (event.source !== parent) return;
  const { number } = event.data;
  const answer = await draw(event.data).catch(() => ({}));
  document.body.replaceChildren();
  parent.postMessage({ number, ...answer }, "*");
});
parent.postMessage({ ready: true }, "*");
