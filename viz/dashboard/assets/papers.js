// Which table of the Papers page is shown stands in the address, so that a link and Back show it again.
"use strict";

window.dash_clientside = Object.assign({}, window.dash_clientside, {
  papers: {
    // The address chooses when the page is opened and where Back leads; else the reader does, and the address follows.
    choose: function (chosen, page, search, options) {
      const { no_update, callback_context } = window.dash_clientside;
      if (page !== "papers") return no_update;
      const view = new URLSearchParams(window.location.search), asked = view.get("table");
      const known = options.some((option) => option.value === asked);
      const moved = callback_context.triggered.some((one) => one.prop_id === "address.search");
      const next = (!chosen || moved) && known ? asked : chosen || options[0].value;
      if (next !== asked) {
        view.set("table", next);
        window.history[known ? "pushState" : "replaceState"](null, "", "?" + view.toString());
      }
      return next === chosen ? no_update : next;
    },
  },
});
