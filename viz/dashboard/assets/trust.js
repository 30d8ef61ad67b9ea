// Words in a table of the Trust page: each is a link to the Probe page, at the step where runs part.
"use strict";

window.dashAgGridComponentFunctions = Object.assign(window.dashAgGridComponentFunctions || {}, {
  WordLink: function (cell) {
    const open = function (event) {
      if (event.ctrlKey || event.metaKey || event.shiftKey || event.button) return; // into another tab or window
      event.preventDefault();
      window.history.pushState(null, "", event.currentTarget.href);
      window.dispatchEvent(new CustomEvent("_dashprivate_pushstate")); // as Dash's own links tell its address
      window.scrollTo(0, 0);
    };
    return window.React.createElement("a", { href: cell.data.open, onClick: open, className: "word" }, cell.value);
  },
});

// Enter opens the word of the row that the arrow keys have come to.
document.addEventListener("keydown", function (event) {
  const row = event.key === "Enter" && event.target.closest("#trust-judged .ag-row");
  const link = row && row.querySelector("a.word");
  if (link && event.target !== link) link.click();
});
