// What every figure and every table can do by itself: be saved as a file, without asking the server.
"use strict";

document.addEventListener("click", function (event) {
  const figure = event.target.closest("button.save"), table = event.target.closest("button.save-table");
  if (figure) {
    const graph = document.querySelector(`#${CSS.escape(figure.dataset.figure)} .js-plotly-plot`);
    const { kind: format, file: filename } = figure.dataset;
    if (graph) window.Plotly.downloadImage(graph, { format, filename, scale: format === "png" ? 2 : 1 });
  }
  if (table) {
    // a table may still be on its way when its button is there
    window.dash_ag_grid.getApiAsync(table.dataset.table).then((grid) => grid.exportDataAsCsv());
  }
});

// When its place changes, plotly makes a figure as high as the place, and the place is as high as the figure: without
// this both end at nothing, in a narrow window or on a page that is shown again. A figure comes with its height, which
// plotly forgets as soon as it has resized it once.
new MutationObserver(function () {
  for (const graph of document.querySelectorAll(".dash-graph .js-plotly-plot")) {
    const drawn = graph.querySelector(".svg-container"), height = graph.layout && graph.layout.height;
    if (drawn && height) drawn.style.minHeight = `${height}px`;
  }
}).observe(document.documentElement, { childList: true, subtree: true });
