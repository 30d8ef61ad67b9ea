// Another run under the first, with the first difference marked: soft and rounded, two words, two networks, or the same
// network with something changed in a step.

import { Problem, ask, asked, element, part, remember, selection } from "./page.js";
import { aimChange, askedChange, changeControls, prepareChange, showControls } from "./intervene.js";
import { told } from "./word.js";

let bench = null; // the two tables, how to go to a step, and which question was the last one

export function watchCompare(given) {
  bench = given;
}

const titleOf = (network) => [...part("network").options].find((one) => one.value === network)?.textContent ?? network;

// What is made from the network that is shown is called by what was done to it; of a name that is too long for its place
// what both names begin with is left out first.
function otherName(network) {
  const title = titleOf(network), own = titleOf(selection.network), parts = title.split("-"), theirs = own.split("-");
  if (title.startsWith(`${own} (`)) return `${title.slice(own.length + 2, -1)} `;
  while (parts.join("-").length > 13 && parts.length > 1 && parts[0] === theirs.shift()) parts.shift();
  return `${parts.length < title.split("-").length ? "…" : ""}${parts.join("-")} `;
}

export const nameOf = (found) => `${found.network === selection.network ? "" : otherName(found.network)}${found.rounded ? "rounded" : "network"}`;

let turns = 0; // questions for another run, of which only the last one is shown

export async function showAgainst(mine) {
  const { table, second, current } = bench;
  const { against, other } = selection, turn = (turns += 1), late = () => mine !== current() || turn !== turns;
  part("compare").value = against;
  const place = part("table-2"), line = part("against");
  place.hidden = line.hidden = !against;
  part("bench").classList.toggle("comparing", Boolean(against));
  table.compact = second.compact = Boolean(against);
  table.changed = second.changed = table.different = second.different = table.beside = second.beside = null;
  if (table.data) part("word-python").textContent = table.data.python;
  if (!against) {
    table.name = "";
    second.clear();
    table.draw();
    return;
  }
  againstLine(line);
  if (against === "network" && !other) return;
  try {
    if (against === "change") await prepareChange(table);
    if (late()) return;
    if (against === "change") drawControls(line);
    const [route, given] = {
      kind: () => ["word", { ...asked(), rounded: selection.rounded ? 0 : 1 }],
      word: () => ["word", { ...asked(), word: other }],
      network: () => ["word", { ...asked(), network: other }],
      change: () => ["change", { ...asked(), ...askedChange() }],
    }[against]();
    const found = await ask(route, given, { stop: late, wait: (said) => !late() && (part("against-says").textContent = said) });
    if (late() || !found) return;
    second.step = Math.min(found.letters.length || 1, selection.step);
    [table.beside, second.beside] = [second, table];
    second.show(found, { change: "changed", word: found.word || "ε" }[against] || nameOf(found));
    table.name = { change: "as it ran", word: table.data.word || "ε" }[against] || nameOf(table.data);
    table.changed = second.changed = found.changed ?? null;
    table.different = second.different = against === "change" ? found.first : firstDifference(table.data, found);
    if (against === "change") part("word-python").textContent = found.python;
    part("against-says").replaceChildren(...(against === "change" ? told(found.sentence) : [differs(table.different)]));
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    if (late()) return;
    second.clear();
    part("against-says").replaceChildren(element("span", error.message, { class: "bad" }));
  }
  table.draw();
  second.draw();
}

const differs = (at) =>
  at ? element("button", `first difference at step ${at}`, { type: "button", onclick: () => bench.go(at) }) : element("span", "no difference in what is said, done or read");

// Something in the step that is in focus is to be changed.
export function changeStep() {
  selection.against = "change";
  aimChange();
  remember(true);
  showAgainst(bench.current()).then(() => part("change-what")?.focus());
}

function drawControls(line) {
  const changed = () => {
    remember(true);
    showAgainst(bench.current());
  };
  const close = () => {
    selection.against = "";
    changed();
    part("change").focus();
  };
  showControls(line, part("against-says"), changeControls(bench.table, { changed, close }));
}

// The networks that there are to compare with, once they are known.
export function offerNetworks() {
  const list = part("other-network");
  list?.replaceChildren(element("option", "", { value: "" }), ...[...part("network").options].map((one) => one.cloneNode(true)));
  if (list) list.value = selection.other;
}

function againstLine(line) {
  if (line.dataset.kind === `${selection.against} ${selection.network}`) return;
  line.dataset.kind = `${selection.against} ${selection.network}`;
  line.replaceChildren();
  const choose = () => {
    selection.other = line.querySelector("input, select").value;
    remember(true);
    showAgainst(bench.current());
  };
  if (selection.against === "word") {
    const label = element("label", "the other word ", { class: "field" }), typed = element("input", "", { id: "other-word", value: selection.other });
    typed.addEventListener("change", choose);
    label.append(typed);
    line.append(label);
  } else if (selection.against === "network") {
    const label = element("label", "the other network ", { class: "field" }), list = element("select", "", { id: "other-network" });
    list.addEventListener("change", choose);
    label.append(list);
    line.append(label);
    offerNetworks();
  }
  line.append(element("span", "", { id: "against-says", role: "status" }));
}

// The first step at which two runs read, say or do something else; values that are only graded do not count.
function firstDifference(one, other) {
  const pairs = one.rows
    .filter((row) => row.at && !row.group && (row.id === "symbol" || row.id === "said" || row.type === "operation" || row.part === "automaton"))
    .map((row) => [row, other.rows.find((found) => found.name === row.name && found.type === row.type)])
    .filter(([, found]) => found);
  const steps = Math.min(one.letters.length, other.letters.length);
  for (let t = 0; t < steps; t += 1) {
    if (pairs.some(([a, b]) => a.names[a.at[t]] !== b.names[b.at[t]])) return t + 1;
  }
  return one.letters.length === other.letters.length ? null : steps + 1;
}

