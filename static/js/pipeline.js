// Where the drawing is wider than its room, as on a phone, its middle is shown first: most nodes stand there.

const graph = document.querySelector(".graph");
graph.scrollLeft = (graph.scrollWidth - graph.clientWidth) / 2;
