// A change of one step: what is changed, and to what. How the word runs then is shown under how it ran.

import { CHANGE, ask, choose, options, part, remember, selection } from "./page.js";

const NAMED = { zero: "zero", mean: "its mean over the word", rounded: "rounded", source: "that of another moment …" };
const SPECIAL = { actions: [], pushed: ["zero"], cells: ["zero", "source"], height: [], hidden: ["zero", "mean", "rounded", "source"], unit: ["zero", "source"] };
const LONGEST = 12; // numbers that somebody would type

let offered = { parts: [] }; // what can be changed in the network called `of`
let typed = false; // whether numbers are typed though they have a name

const kind = () => (selection.set === "hidden" && selection.unit ? "unit" : selection.set);
const offer = (name = kind()) => offered.parts.find((one) => one.part === name) ?? { choices: [], numbers: 1 };

// What an address says of the change: which network's step, which part, and to what.
export const askedChange = () => Object.fromEntries(
  CHANGE.map((name) => [name, selection[name] || null]));

// Asks what can be changed in this network. Where nothing is chosen yet it is the first of it, in the step in focus.
export async function prepareChange(table) {
  const { network } = selection;
  if (offered.of !== network) offered = { ...(await ask("changeable", { network })), of: network };
  if (selection.set || network !== selection.network) return;
  Object.assign(selection, { change: selection.change || String(selection.step), ...atFirst(offered.parts[0].part, table) });
  remember();
}

// What is chosen at first of a part: on the first stack, and something else than what is done in the step.
function atFirst(name, table) {
  const known = offer(name).choices, { at, names } = table.data?.rows.find((one) => one.type === "operation") ?? {};
  const done = names?.[at[Number(selection.change || selection.step) - 1]];
  const other = known.find((one) => one.name !== done) ?? known[0], vector = name === "hidden" || name === "unit";
  typed = false;
  return {
    set: name === "unit" ? "hidden" : name, unit: name === "unit" ? "1" : "", cell: name === "cells" ? "1" : "", stack: vector ? "" : "1",
    to: name === "height" || name === "unit" ? "0" : other ? other.to : "zero", from: "", after: "", "from-cell": "",
  };
}

export function watchChange(table) {
  part("change-what").addEventListener("change", ({ target }) => choose(atFirst(target.value, table)));
  part("change-to").addEventListener("change", ({ target: { value } }) => {
    typed = value === "";
    const numbers = selection.to in NAMED ? Array(offer().numbers).fill("0").join(" ") : selection.to;
    if (!typed || numbers !== selection.to) choose({ to: typed ? numbers : value });
    else showChange(table);
  });
  part("change-close").addEventListener("click", () => {
    choose({ against: "" });
    part("change").focus();
  });
}

// The controls that the change has, each at what is chosen.
export function showChange(table) {
  const name = kind(), { choices, numbers } = offer(), special = SPECIAL[name] ?? [], { to } = selection;
  const named = special.includes(to) || choices.some((one) => one.to === to), source = to === "source" && !typed;
  const some = [
    ...choices.map((one) => [one.to, name === "actions" || numbers > LONGEST ? one.name : `${one.name} (${one.to})`]),
    ...special.map((one) => [one, NAMED[one]]),
    ...(numbers <= LONGEST ? [["", numbers > 1 ? `${numbers} numbers …` : "a number …"]] : []),
  ];
  const there = {
    stack: offered.stacks > 1 && selection.stack, cells: name === "cells", unit: name === "unit", choice: some.length > 1,
    typed: !named || typed, source, "its cell": source && name === "cells",
  };
  for (const one of document.querySelectorAll("#changing [data-if]")) one.hidden = !there[one.dataset.if];
  for (const one of part("change-what").querySelectorAll("option")) one.hidden = !offered.parts.some((other) => other.part === one.value);
  part("change-what").value = name;
  part("change-to").replaceChildren(...options(some));
  part("change-to").value = named && !typed ? to : "";
  part("change-when").textContent = name === "actions" || name === "pushed" ? "in step" : "before step";
  part("change-many").textContent = numbers > 1 ? "numbers" : "number";
  const most = { stack: offered.stacks, cell: table.size, unit: offered.units, step: table.size };
  for (const [one, largest] of Object.entries(most)) part(`change-${one}`).max = largest;
}
