// Keys walk wherever the focus is, but where they already mean something: in a box, a list, an open sheet. Each does what
// the button does that names it; Escape closes a drawer.

import { part, selection } from "./page.js";

export function watchKeys(close) {
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape" && !part("sheet").open && selection.drawer && !event.target.closest("input, textarea")) close();
    // a sheet that was just closed holds the focus until the next frame
    const typed = event.target.closest("textarea, select, dialog[open], .ag-root-wrapper, input:not([type=radio]):not([type=checkbox])");
    const pressed = event.key === " " && event.target.closest("button, summary, input, [role=button]");
    const radio = event.key.startsWith("Arrow") && event.target.closest("input[type=radio]");
    const button = document.querySelector(`[data-key="${CSS.escape(event.key)}"]:not([hidden])`);
    if (!button || typed || pressed || radio || event.ctrlKey || event.altKey || event.metaKey) return;
    event.preventDefault();
    if (button.matches("input")) button.select();
    else button.click();
  });
}
