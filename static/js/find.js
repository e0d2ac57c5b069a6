// Highlights the search words in a document's text: as a phrase if it occurs, otherwise each word.

const held = document.querySelector("[data-find]");
// In a chat, only in the turn that the URL names.
const text = (/^#turn-\d+$/.test(location.hash) && held?.querySelector(location.hash)) || held;

function rangesOf(query) {
  const wanted = query.toLowerCase();
  const ranges = [];
  const walker = document.createTreeWalker(text, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const lower = node.data.toLowerCase();
    if (lower.length !== node.data.length) continue; // letters whose lower case is longer would shift the rest
    for (let at = lower.indexOf(wanted); at >= 0; at = lower.indexOf(wanted, at + wanted.length)) {
      const range = new Range();
      range.setStart(node, at);
      range.setEnd(node, at + wanted.length);
      ranges.push(range);
    }
  }
  return ranges;
}

if (text && window.Highlight) {
  const words = held.dataset.find.split(/\s+/).filter(Boolean);
  const together = rangesOf(words.join(" "));
  const found = together.length ? together : words.flatMap(rangesOf);
  CSS.highlights.set("found", new Highlight(...found));
  const visible = found.find((range) => range.getClientRects().length);
  if (text !== held) visible?.startContainer.parentElement.scrollIntoView({ block: "center" });
}
