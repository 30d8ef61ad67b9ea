// One step, in every part at once: the table of the word, the table under it, the strip of the whole word, the drawing.

import { part, remember, selection } from "./page.js";
import { StepTable, drawOverview } from "./table.js";
import { light } from "./automaton.js";

export const table = new StepTable(part("table-1"), go), second = new StepTable(part("table-2"), go);

let overview = false;

export function go(step) {
  selection.step = Math.max(1, Math.min(table.size || 1, step || 1));
  table.go(selection.step);
  if (!part("table-2").hidden) {
    second.go(Math.min(second.size || 1, selection.step));
  }
  part("step").value = selection.step;
  light(selection.step);
  if (!overview) {
    overview = true;
    requestAnimationFrame(() => {
      overview = false;
      drawOverview(part("overview"), table);
      part("now").textContent = table.told(selection.step);
    });
  }
  remember();
}

// What is done to a table is done to the one under it, too.
export function both(act) {
  act(table);
  if (!part("table-2").hidden && second.data) act(second);
  drawOverview(part("overview"), table);
}

export function watchOverview() {
  const scrub = (event) => {
    const box = part("overview").getBoundingClientRect();
    go(1 + Math.floor(((event.clientX - box.left) / box.width) * table.size));
  };
  part("overview").addEventListener("pointerdown", (event) => {
    part("overview").setPointerCapture(event.pointerId);
    scrub(event);
  });
  part("overview").addEventListener("pointermove", (event) => event.buttons && scrub(event));
  new ResizeObserver(() => table.data && both((one) => one.fit(one.width))).observe(part("bench"));
}
