// A change of one step: what is changed, and to what. How the word runs then is shown under how it ran.

import { ask, element, part, remember, selection } from "./page.js";

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
  const change = selection.change, { choices } = offer(name);
  for (const one of ["stack", "cell", "unit", "from", "after", "from-cell"]) delete change[one];
  change.set = name === "unit" ? "hidden" : name;
  if (!["hidden", "unit"].includes(name)) change.stack = "1";
  if (name === "cells") change.cell = "1";
  if (name === "unit") change.unit = "1";
  typed = false;
  change.to = name === "height" || name === "unit" ? "0" : choices.length ? (choices.find((one) => one.name !== done(table)) || choices[0]).to : "zero";
}

// What the network did to its first stack in the step that is to be changed.
function done(table) {
  const row = table.data && table.data.rows.find((one) => one.type === "operation"), at = Number(selection.change.change) - 1;
  return row ? row.names[row.at[at]] : null;
}

// ---- the line of controls -------------------------------------------------------------------------------------------

const field = (text, control) => {
  const label = element("label", `${text} `, { class: "field" });
  label.append(control);
  return label;
};

function number(id, value, most, choose) {
  const made = element("input", "", { id, type: "number", min: 1, max: most, value });
  made.addEventListener("change", () => choose(made.value));
  return made;
}

function list(id, groups, value, choose) {
  const made = element("select", "", { id });
  for (const [label, options] of groups) {
    const place = label ? element("optgroup", "", { label }) : made;
    place.append(...options.map(([one, text]) => element("option", text, { value: one })));
    if (label) made.append(place);
  }
  made.value = value;
  made.addEventListener("change", () => choose(made.value));
  return made;
}

// The controls of the change; `changed` is called whenever one of them has been used, `close` to have the word as it ran.
export function changeControls(table, { changed, close }) {
  const change = selection.change, name = kind(), set = (key) => (value) => {
    change[key] = value;
    changed();
  };
  const within = name === "actions" || name === "pushed", parts = [];
  const groups = Object.entries(WHAT).map(([label, names]) => [label, Object.entries(names).filter(([one]) => offered.parts.some((part) => part.part === one))]);
  parts.push(field("set", list("change-what", groups.filter(([, options]) => options.length), name, (chosen) => {
    choosePart(chosen, table);
    changed();
  })));
  if (offered.stacks > 1 && change.stack) parts.push(field("stack", number("change-stack", change.stack, offered.stacks, set("stack"))));
  if (name === "cells") parts.push(field("cell", number("change-cell", change.cell ?? 1, table.size, set("cell"))));
  if (name === "unit") parts.push(field("number", number("change-unit", change.unit, offered.units, set("unit"))));
  parts.push(field(within ? "in step" : "before step", number("change-step", change.change, table.size, set("change"))));
  parts.push(...value(name, set, changed));
  parts.push(element("button", "as it ran", { type: "button", id: "change-close", title: "leave the step as it is", onclick: close }));
  return parts;
}

function value(name, set, changed) {
  const change = selection.change, { choices = [], numbers = 1 } = offer(name) || {};
  const named = choices.some((one) => one.to === change.to) || (SPECIAL[name] || []).includes(change.to);
  const options = [
    ...choices.map((one) => [one.to, name === "actions" || numbers > LONGEST ? one.name : `${one.name} (${one.to})`]),
    ...(SPECIAL[name] || []).map((one) => [one, NAMED[one]]),
    ...(numbers <= LONGEST ? [["", numbers > 1 ? `${numbers} numbers …` : "a number …"]] : []),
  ];
  const parts = [];
  if (options.length > 1) {
    parts.push(field("to", list("change-to", [["", options]], named && !typed ? change.to : "", (chosen) => {
      typed = chosen === "";
      if (chosen !== "") change.to = chosen;
      else if (change.to in NAMED) change.to = Array(numbers).fill("0").join(" ");
      changed();
    })));
  }
  if (!named || typed) {
    const box = element("input", "", { id: "change-numbers", value: change.to, autocomplete: "off", spellcheck: "false", class: "numbers" });
    box.addEventListener("change", () => set("to")(box.value.replaceAll(",", " ").trim()));
    parts.push(field(numbers > 1 ? "numbers" : "number", box));
  }
  if (change.to === "source" && !typed) {
    const word = element("input", "", { id: "change-from", value: change.from ?? "", autocomplete: "off", spellcheck: "false" });
    word.addEventListener("change", () => {
      delete change.after;
      set("from")(word.value);
    });
    const read = element("input", "", { id: "change-after", type: "number", min: 0, value: change.after ?? "", placeholder: "all" });
    read.addEventListener("change", () => {
      if (read.value === "") delete change.after;
      else change.after = read.value;
      changed();
    });
    parts.push(field("of the word", word), field("after symbols", read));
    if (name === "cells") parts.push(field("its cell", number("change-from-cell", change["from-cell"] ?? change.cell ?? 1, 1000, set("from-cell"))));
  }
  return parts;
}

// The controls stand in `line` before `says`; who is in one of them stays there.
export function showControls(line, says, controls) {
  const here = line.contains(document.activeElement) ? document.activeElement.id : "";
  line.replaceChildren(...controls, says);
  if (here) part(here)?.focus();
}
