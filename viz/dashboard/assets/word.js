// The word: asked for and shown in every part, what is said of it, and what stands there while it is not; one step in every
// part at once: the table of the word, the table under it, the strip of the whole word, the drawing.

import { ask, asked, choose, dark, element, part, remember, selection, shade, showChosen, tried } from "./page.js";
import { light, setRun } from "./automaton.js";
import { nameOf, showAgainst } from "./compare.js";
import { drawerChanged } from "./drawers.js";
import { StepTable } from "./table.js";

const LONG = 500; // symbols of a word, as in jobs.py

let tries = 0; // questions for a word, of which only the last one is shown
let slow = null, others = 0;

export const lastTry = () => tries;

// What is on its way is not shown any more.
export const dropWord = () => void (tries += 1);

export const problem = (text) => void (part("problem").textContent = text || "");

// Nothing of an earlier network or word stays under a new name.
export function clearWord(busy) {
  table.clear();
  second.clear();
  part("table-2").hidden = true;
  for (const id of ["sentence", "steps", "word-python", "stacks"]) part(id).replaceChildren();
  part("overview").getContext("2d").clearRect(0, 0, 10_000, 100);
  setRun(null, null);
  light(1);
  busyWith(busy);
}

function busyWith(text) {
  part("busy").textContent = text || "";
  part("busy").hidden = !text;
  part("bench").setAttribute("aria-busy", text ? "true" : "false");
}

// Shows the selected word; `first` is what the server put into the page, all of the word or its beginning.
export async function showWord(first = null) {
  const mine = (tries += 1), last = () => mine === tries;
  showChosen();
  if (!first) clearTimeout(slow);
  slow = setTimeout(() => last() && clearWord("reading the word …"), 150);
  const shown = (found) => {
    clearTimeout(slow);
    busyWith(found.of ? "reading the rest of the word …" : "");
    wordShown(found);
  };
  await tried(async () => {
    const begun = first ? (first.of ? first : null) : await beginning();
    if (!last()) return;
    if (begun) shown(begun);
    const wait = (said) => last() && (begun ? busyWith(said) : clearWord(said));
    const found = (first && !first.of && first) || (await ask("word", asked(), { stop: () => !last(), wait }));
    if (!last() || !found) return;
    shown(found);
    await showAgainst(mine);
  }, (said) => {
    if (!last()) return;
    clearTimeout(slow);
    clearWord("");
    problem(said);
  });
}

// What is near the step comes first where the word is long and the step an early one.
const beginning = async () => ((selection.word ?? "").length <= LONG || selection.against
  ? null : (await ask("word", { ...asked(), step: selection.step, beginning: 1 })).beginning);

function wordShown(found) {
  setRun(found.run, found.before);
  table.step = Math.max(1, Math.min(found.letters.length || 1, selection.step));
  table.show(found, selection.against ? nameOf(found) : "");
  const steps = found.of || found.letters.length;
  part("steps").textContent = `of ${steps.toLocaleString("en")}`;
  part("step").max = part("scrub").max = Math.max(1, steps);
  part("word-python").textContent = found.python;
  part("next-wrong").disabled = !found.wrong.length && !found.parts;
  part("sentence").replaceChildren(...told(found.sentence));
  go(table.step);
  if (!found.of) drawerChanged();
  requestAnimationFrame(() => performance.mark("word shown"));
}

// A sentence whose steps are links and whose verdicts have a mark.
export const told = (parts) => parts.map(({ step, text, good }) => {
  if (step) return element("button", text, { type: "button", onclick: () => go(step) });
  return good === undefined ? element("span", text) : element("span", `${good ? "✓" : "✗"} ${text}`, { class: good ? "good" : "bad" });
});

export function nextWrong() {
  const places = [...(table.data?.wrong || []), table.data?.parts].filter(Boolean).sort((a, b) => a - b);
  if (places.length) go(places.find((step) => step > selection.step) || places[0]);
}

export const anotherWord = () => tried(async () => {
  others += 1;
  choose(await ask("other-word", { network: selection.network, seed: others }));
}, problem);

// ---- steps ----------------------------------------------------------------------------------------------------------

export const table = new StepTable(part("table-1"), go), second = new StepTable(part("table-2"), go);

let frame = null; // in which the strip is drawn

export function go(step) {
  selection.step = Math.max(1, Math.min(table.size || 1, step || 1));
  table.go(selection.step);
  if (!part("table-2").hidden) second.go(Math.min(second.size || 1, selection.step));
  part("step").value = part("scrub").value = selection.step;
  light(selection.step);
  cancelAnimationFrame(frame);
  frame = requestAnimationFrame(() => {
    drawOverview(part("overview"));
    part("now").textContent = table.told(selection.step);
  });
  remember();
}

// What is done to a table is done to the one under it, too.
export function both(act) {
  act(table);
  if (!part("table-2").hidden && second.data) act(second);
  drawOverview(part("overview"));
}

export function watchOverview() {
  part("scrub").addEventListener("input", () => go(Number(part("scrub").value)));
  new ResizeObserver(() => table.data && both((one) => one.fit(one.width))).observe(part("bench"));
}

// The whole word in one strip: where the network is wrong, what the table shows, where we are.
function drawOverview(canvas) {
  const wide = (canvas.width = canvas.clientWidth), high = canvas.height, context = canvas.getContext("2d");
  if (!table.data || !table.size) return;
  const each = wide / table.size, at = (t) => t * each;
  const symbols = table.data.rows.find((row) => row.id === "symbol");
  for (let t = 0; t < table.size; t += Math.max(1, 1 / each)) { // of a long word as many symbols as there are pixels
    context.fillStyle = shade(symbols.at[Math.floor(t)], symbols.names.length);
    context.fillRect(at(t), 8, Math.max(1, each - (each > 3 ? 1 : 0)), high - 16);
  }
  context.fillStyle = dark() ? "#ff9a5c" : "#b04300";
  for (const step of table.data.wrong) context.fillRect(at(step - 1), 0, Math.max(2, each), 8);
  context.strokeStyle = dark() ? "#e6e8eb" : "#1b1f24";
  context.strokeRect(at(table.begin) + 0.5, 6.5, Math.max(2, table.shown * each - 1), high - 13);
  context.fillStyle = dark() ? "#ff7fc0" : "#c2006b";
  context.fillRect(at(table.step - 1), high - 8, Math.max(3, each), 8);
}
