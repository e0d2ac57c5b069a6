// Marks the words that are looked for in a document's text: all together where they stand so, else each of them.

const text = document.querySelector(".reading[data-find]");

function rangesOf(query) {
  const wanted = query.toLowerCase();
  const ranges = [];
  const walker = document.createTreeWalker(text, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const held = node.data.toLowerCase();
    if (held.length !== node.data.length) continue; // letters that grow in lower case would shift the rest
    for (let at = held.indexOf(wanted); at >= 0; at = held.indexOf(wanted, at + wanted.length)) {
      const range = new Range();
      range.setStart(node, at);
      range.setEnd(node, at + wanted.length);
      ranges.push(range);
    }
  }
  return ranges;
}

if (text && window.Highlight) {
  const words = text.dataset.find.split(/\s+/).filter(Boolean);
  const together = rangesOf(words.join(" "));
  CSS.highlights.set("found", new Highlight(...(together.length ? together : words.flatMap(rangesOf))));
}
