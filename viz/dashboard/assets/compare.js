// Another run under the first, with the first difference marked: soft and rounded, two words, two networks, or the same
// network with something changed in a step.

import { ask, asked, choose, element, part, selection, showChosen, tried } from "./page.js";
import { askedChange, prepareChange, showChange } from "./change.js";
import { go, second, table } from "./steps.js";
import { lastTry, told } from "./word.js";

let turns = 0; // questions for another run, of which only the last one is shown

const titleOf = (network) => [...part("network").options].find((one) => one.value === network)?.textContent ?? network;

// What is made from the network that is shown is called by what was done to it; of a name that is too long for its place
// what both names begin with is left out first.
function otherName(network) {
  const title = titleOf(network), own = titleOf(selection.network), parts = title.split("-"), theirs = own.split("-");
  if (title.startsWith(`${own} (`)) return `${title.slice(own.length + 2, -1)} `;
  while (parts.join("-").length > 13 && parts.length > 1 && parts[0] === theirs.shift()) parts.shift();
  return `${parts.length < title.split("-").length ? "…" : ""}${parts.join("-")} `;
}

export const nameOf = ({ network, rounded }) => `${network === selection.network ? "" : otherName(network)}${rounded ? "rounded" : "network"}`;

const ASKED = { // what is asked for, by what is compared
  kind: () => ["word", { rounded: selection.rounded ? 0 : 1 }],
  word: () => ["word", { word: selection.other }],
  network: () => ["word", { network: selection.other }],
  change: () => ["change", askedChange()],
};

export async function showAgainst(mine) {
  const { against, other } = selection, turn = (turns += 1), late = () => mine !== lastTry() || turn !== turns;
  const changes = against === "change", says = (...parts) => part("against-says").replaceChildren(...parts);
  part("table-2").hidden = part("against").hidden = !against;
  for (const one of document.querySelectorAll("[data-against]")) one.hidden = one.dataset.against !== against;
  part("bench").classList.toggle("comparing", Boolean(against));
  table.compact = second.compact = Boolean(against);
  table.changed = second.changed = table.different = second.different = table.beside = second.beside = null;
  if (table.data) part("word-python").textContent = table.data.python;
  says();
  if (!against || (against === "network" && !other)) {
    table.name = "";
    second.clear();
    table.draw();
    return;
  }
  await tried(async () => {
    if (changes) await prepareChange(table);
    if (late()) return;
    if (changes) showChange(table);
    showChosen();
    const [route, given] = ASKED[against]();
    const found = await ask(route, { ...asked(), ...given }, { stop: late, wait: (said) => !late() && says(said) });
    if (late() || !found) return;
    second.step = Math.min(found.letters.length || 1, selection.step);
    [table.beside, second.beside] = [second, table];
    second.show(found, { change: "changed", word: found.word || "ε" }[against] || nameOf(found));
    table.name = { change: "as it ran", word: table.data.word || "ε" }[against] || nameOf(table.data);
    table.changed = second.changed = found.changed ?? null;
    table.different = second.different = changes ? found.first : firstDifference(table.data, found);
    if (changes) part("word-python").textContent = found.python;
    says(...(changes ? told(found.sentence) : [differs(table.different)]));
  }, (problem) => {
    if (late()) return;
    second.clear();
    says(element("span", problem, { class: "bad" }));
  });
  table.draw();
  second.draw();
}

const differs = (at) =>
  at ? element("button", `first difference at step ${at}`, { type: "button", onclick: () => go(at) }) : element("span", "no difference in what is said, done or read");

// Something in the step that is in focus is to be changed; a change that is there moves to it.
export const changeStep = () => choose({ against: "change", change: String(selection.step) }).then(() => part("change-what").focus());

// The first step at which two runs read, say or do something else; values that are only graded do not count.
export function firstDifference(one, other) {
  const counts = (row) => row.id === "symbol" || row.id === "said" || row.type === "operation" || row.part === "automaton";
  const pairs = one.rows
    .filter((row) => row.at && !row.group && counts(row))
    .map((row) => [row, other.rows.find((found) => found.name === row.name && found.type === row.type)])
    .filter(([, found]) => found);
  const steps = Math.min(one.letters.length, other.letters.length);
  for (let t = 0; t < steps; t += 1) {
    if (pairs.some(([a, b]) => a.names[a.at[t]] !== b.names[b.at[t]])) return t + 1;
  }
  return one.letters.length === other.letters.length ? null : steps + 1;
}
