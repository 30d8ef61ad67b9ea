// A change of one step: what is changed, and to what. How the word runs then is shown under how it ran.

import { ask, choices, element, field, part, remember, selection } from "./page.js";

const WHAT = {
  "what it does in a step": { actions: "the operation", pushed: "the value to push" },
  "what it is before a step": { cells: "a cell of the stack", height: "the stack's height", hidden: "the hidden vector", unit: "a hidden unit" },
};
const NAMED = { zero: "zero", mean: "its mean over the word", rounded: "rounded", source: "that of another moment …" };
const SPECIAL = { actions: [], pushed: ["zero"], cells: ["zero", "source"], height: [], hidden: ["zero", "mean", "rounded", "source"], unit: ["zero", "source"] };
const LONGEST = 12; // numbers that somebody would type

let offered = null; // what can be changed in the network called `of`
let typed = false; // whether numbers are typed though they have a name

const kind = () => (selection.change.set === "hidden" && selection.change.unit ? "unit" : selection.change.set);
const offer = (name = kind()) => offered.parts.find((one) => one.part === name);

// A change of the step that is in focus: the one that is there moves to it.
export function aimChange() {
  if (selection.change) selection.change.change = String(selection.step);
}

export const askedChange = () => Object.fromEntries(Object.entries(selection.change).filter(([name]) => name !== "network"));

// Asks what can be changed in this network; what is to be changed in another one is forgotten.
export async function prepareChange(table) {
  const { network } = selection;
  if (!offered || offered.of !== network) offered = { ...(await ask("changeable", { network })), of: network };
  if (selection.change && selection.change.network === network) return;
  selection.change = { network, change: String(selection.step) };
  choosePart(offered.parts[0].part, table);
  remember();
}

function choosePart(name, table) {
  const { change } = selection, known = offer(name).choices;
  const { at, names } = table.data?.rows.find((one) => one.type === "operation") ?? {};
  for (const one of ["stack", "cell", "unit", "from", "after", "from-cell"]) delete change[one];
  change.set = name === "unit" ? "hidden" : name;
  if (!["hidden", "unit"].includes(name)) change.stack = "1";
  if (name === "cells") change.cell = "1";
  if (name === "unit") change.unit = "1";
  typed = false;
  const done = names?.[at[Number(change.change) - 1]]; // to the first stack in the step that is to be changed
  const other = known.find((one) => one.name !== done) ?? known[0];
  change.to = name === "height" || name === "unit" ? "0" : other ? other.to : "zero";
}

// ---- the line of controls -------------------------------------------------------------------------------------------

// The controls of the change; `changed` is called whenever one of them has been used, `close` to have the word as it ran.
export function changeControls(table, { changed, close }) {
  const change = selection.change, name = kind(), within = name === "actions" || name === "pushed";
  const set = (key, value) => {
    if (value === "") delete change[key];
    else change[key] = value;
    changed();
  };
  const box = (text, id, key, otherwise, more = {}) => {
    const value = change[key] ?? otherwise, onchange = ({ target }) => set(key, target.value);
    return field(text, element("input", "", { id: `change-${id}`, value, onchange, autocomplete: "off", spellcheck: "false", ...more }));
  };
  const number = (text, key, most, otherwise = 1, least = 1) => box(text, key, key, otherwise, { type: "number", min: least, max: most });
  const there = Object.entries(WHAT).map(([label, names]) => [label, Object.entries(names).filter(([one]) => offer(one))]);
  const parts = choices(there.filter(([, options]) => options.length), name, { id: "change-what", onchange: ({ target }) => {
    choosePart(target.value, table);
    changed();
  } });
  return [
    field("set", parts),
    offered.stacks > 1 && change.stack && number("stack", "stack", offered.stacks),
    name === "cells" && number("cell", "cell", table.size),
    name === "unit" && number("number", "unit", offered.units),
    box(within ? "in step" : "before step", "step", "change", 1, { type: "number", min: 1, max: table.size }),
    ...values(name, { box, number, set, changed }),
    element("button", "as it ran", { type: "button", id: "change-close", title: "leave the step as it is", onclick: close }),
  ].filter(Boolean);
}

function values(name, { box, number, set, changed }) {
  const change = selection.change, { choices: known = [], numbers = 1 } = offer(name) || {}, special = SPECIAL[name] || [];
  const named = known.some((one) => one.to === change.to) || special.includes(change.to), source = change.to === "source" && !typed;
  const options = [
    ...known.map((one) => [one.to, name === "actions" || numbers > LONGEST ? one.name : `${one.name} (${one.to})`]),
    ...special.map((one) => [one, NAMED[one]]),
    ...(numbers <= LONGEST ? [["", numbers > 1 ? `${numbers} numbers …` : "a number …"]] : []),
  ];
  const choose = ({ target: { value } }) => {
    typed = value === "";
    if (!typed) change.to = value;
    else if (change.to in NAMED) change.to = Array(numbers).fill("0").join(" ");
    changed();
  };
  const type = ({ target }) => set("to", target.value.replaceAll(",", " ").trim());
  return [
    options.length > 1 && field("to", choices(options, named && !typed ? change.to : "", { id: "change-to", onchange: choose })),
    (!named || typed) && box(numbers > 1 ? "numbers" : "number", "numbers", "to", "", { class: "numbers", onchange: type }),
    source && box("of the word", "from", "from", "", { onchange: ({ target }) => {
      delete change.after;
      change.from = target.value;
      changed();
    } }),
    source && box("after symbols", "after", "after", "", { type: "number", min: 0, placeholder: "all" }),
    source && name === "cells" && number("its cell", "from-cell", 1000, change.cell ?? 1),
  ];
}

// The controls stand in `line` before `says`; who is in one of them stays there.
export function showControls(line, says, controls) {
  const here = line.contains(document.activeElement) ? document.activeElement.id : "";
  line.replaceChildren(...controls, says);
  if (here) part(here)?.focus();
}
