// One step, in every part at once: the table of the word, the table under it, the strip of the whole word, the drawing.

import { dark, part, remember, selection, shade } from "./page.js";
import { StepTable } from "./table.js";
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
      drawOverview(part("overview"));
      part("now").textContent = table.told(selection.step);
    });
  }
  remember();
}

// What is done to a table is done to the one under it, too.
export function both(act) {
  act(table);
  if (!part("table-2").hidden && second.data) act(second);
  drawOverview(part("overview"));
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

// The whole word in one strip: where the network is wrong, what the table shows, where we are.
function drawOverview(canvas) {
  const wide = (canvas.width = canvas.clientWidth), high = canvas.height, context = canvas.getContext("2d");
  if (!table.data || !table.size) return;
  const each = wide / table.size, at = (t) => t * each;
  const symbols = table.data.rows.find((row) => row.id === "symbol");
  for (let x = 0; x < wide; x += Math.max(1, Math.floor(each))) {
    const t = Math.min(table.size - 1, Math.floor(x / each));
    context.fillStyle = shade(symbols.at[t], symbols.names.length);
    context.fillRect(x, 8, Math.max(1, Math.ceil(each) - (each > 3 ? 1 : 0)), high - 16);
  }
  context.fillStyle = dark() ? "#ff9a5c" : "#b04300";
  for (const step of table.data.wrong) context.fillRect(at(step - 1), 0, Math.max(2, each), 8);
  context.strokeStyle = dark() ? "#e6e8eb" : "#1b1f24";
  context.strokeRect(at(table.begin) + 0.5, 6.5, Math.max(2, table.shown * each - 1), high - 13);
  context.fillStyle = dark() ? "#ff7fc0" : "#c2006b";
  context.fillRect(at(table.step - 1), high - 8, Math.max(3, each), 8);
}
