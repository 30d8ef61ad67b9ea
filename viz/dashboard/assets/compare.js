// Another run under the first, with the first difference marked: soft and rounded, two words, two networks, or the same
// network with something changed in a step.

import { CHANGE, ask, asked, choose, element, part, remember, selection, showChosen, tried } from "./page.js";
import { go, lastTry, second, table, told } from "./word.js";

let turns = 0; // questions for another run, of which only the last one is shown

const titleOf = (network) => [...part("network").options].find((one) => one.value === network)?.textContent ?? network;

export const nameOf = ({ network, rounded }) => `${network === selection.network ? "" : `${titleOf(network)} `}${rounded ? "rounded" : "network"}`;

const ASKED = { // what is asked for, by what is compared
  kind: () => ["word", { rounded: selection.rounded ? 0 : 1 }],
  word: () => ["word", { word: selection.other }],
  network: () => ["word", { network: selection.other }],
  change: () => ["change", Object.fromEntries(CHANGE.map((name) => [name, selection[name] || null]))],
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
    if (changes) await prepareChange();
    if (late()) return;
    if (changes) showChange();
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

// ---- a change of one step: what is changed, and to what -----------------------------------------------------------------

const LONGEST = 12; // numbers that somebody would type

let offered = { parts: [] }; // what can be changed in the network called `of`
let typed = false; // whether numbers are typed though they have a name

const kind = () => (selection.set === "hidden" && selection.unit ? "unit" : selection.set);
const offer = (name = kind()) => offered.parts.find((one) => one.part === name) ?? { choices: [], numbers: 1 };

// Asks what can be changed in this network. Where nothing is chosen yet it is the first of it, in the step in focus.
async function prepareChange() {
  const { network } = selection;
  if (offered.of !== network) offered = { ...(await ask("changeable", { network })), of: network };
  if (selection.set || network !== selection.network) return;
  Object.assign(selection, { change: selection.change || String(selection.step), ...atFirst(offered.parts[0].part) });
  remember();
}

// What is chosen at first of a part: on the first stack, and something else than what is done in the step.
function atFirst(name) {
  const known = offer(name).choices, { at, names } = table.data?.rows.find((one) => one.type === "operation") ?? {};
  const done = names?.[at[Number(selection.change || selection.step) - 1]];
  const other = known.find((one) => one.name !== done) ?? known[0], vector = name === "hidden" || name === "unit";
  typed = false;
  return {
    set: name === "unit" ? "hidden" : name, unit: name === "unit" ? "1" : "", cell: name === "cells" ? "1" : "", stack: vector ? "" : "1",
    to: name === "height" || name === "unit" ? "0" : other ? other.to : "zero", from: "", after: "", "from-cell": "",
  };
}

export function watchChange() {
  part("change-what").addEventListener("change", ({ target }) => choose(atFirst(target.value)));
  part("change-to").addEventListener("change", ({ target: { value } }) => {
    typed = value === "";
    const numbers = Number.isNaN(parseFloat(selection.to)) ? Array(offer().numbers).fill("0").join(" ") : selection.to;
    if (!typed || numbers !== selection.to) choose({ to: typed ? numbers : value });
    else showChange();
  });
  part("change-close").addEventListener("click", () => {
    choose({ against: "" });
    part("change").focus();
  });
}

// The controls that the change has, each at what is chosen.
function showChange() {
  const name = kind(), { choices, numbers } = offer(), { to } = selection, list = part("change-to"), own = part("change-own");
  part("change-known").replaceChildren(...choices.map((one) =>
    element("option", name === "actions" || numbers > LONGEST ? one.name : `${one.name} (${one.to})`, { value: one.to })));
  part("change-known").hidden = !choices.length;
  for (const one of list.querySelectorAll("[data-for]")) one.hidden = !one.dataset.for.split(" ").includes(name);
  own.hidden = numbers > LONGEST;
  own.textContent = numbers > 1 ? `${numbers} numbers …` : "a number …";
  const some = [...list.options].filter((one) => !one.hidden), named = some.some((one) => one !== own && one.value === to), source = to === "source" && !typed;
  const there = {
    stack: offered.stacks > 1 && selection.stack, cells: name === "cells", unit: name === "unit", choice: some.length > 1,
    typed: !named || typed, source, "its cell": source && name === "cells",
  };
  for (const one of document.querySelectorAll("#changing [data-if]")) one.hidden = !there[one.dataset.if];
  for (const one of part("change-what").querySelectorAll("option")) one.hidden = !offered.parts.some((other) => other.part === one.value);
  part("change-what").value = name;
  list.value = named && !typed ? to : "";
  part("change-when").textContent = name === "actions" || name === "pushed" ? "in step" : "before step";
  part("change-many").textContent = numbers > 1 ? "numbers" : "number";
  const most = { stack: offered.stacks, cell: table.size, unit: offered.units, step: table.size };
  for (const [one, largest] of Object.entries(most)) part(`change-${one}`).max = largest;
}
