// The drawers under the bench: networks, a sweep, checks, many words, accuracy, rules and states, causes, figures,
// papers, extraction.
// What is chosen in them is chosen here; their figures and tables are Dash's.

import { hideDash, showInDash, watchDash } from "./dash.js";
import { Problem, ask, dark, element, part, remember, selection } from "./page.js";
import { startExtraction } from "./jobs.js";

const FIGURES = {
  paper: "what its paper draws", actions: "actions, pushed values, readings", stack: "stack cells",
  segments: "stack segments", operations: "table of operations", hidden: "hidden vectors", map: "map of hidden vectors",
  rounding: "soft and rounded stack", stacks: "the network's stack and the automaton's", states: "hidden vectors by state",
  drift: "what drifts on a word that goes round", boxes: "boxes of the certificate", learning: "learning curve of this network", predictions: "table of predictions, coloured",
};
const TITLES = {
  networks: "networks", checks: "checks and counterexamples", words: "many words at once", accuracy: "accuracy by length",
  automaton: "rules and states", causes: "is the automaton what it computes with?", figures: "figures and tables", papers: "the papers' tables, with our figures", extract: "extract again",
  sweep: "a sweep: a network comes onto the bench with one click",
};

let acts = null, filled = 0, before = "";

export function watchDrawers(given) {
  acts = given;
  watchDash(given);
  for (const button of document.querySelectorAll("[data-drawer]")) {
    button.setAttribute("aria-expanded", "false");
    button.setAttribute("aria-controls", "drawer");
    button.addEventListener("click", () => openDrawer(selection.drawer === button.dataset.drawer ? "" : button.dataset.drawer));
  }
  part("drawer-close").addEventListener("click", () => openDrawer(""));
  part("grip").addEventListener("input", () => dock(part("grip").value));
  dock(localStorage.getItem("dock") || 40);
}

// How high the drawers are, in percent of the page: so they stay.
function dock(percent) {
  part("grip").value = percent;
  document.documentElement.style.setProperty("--dock", `${part("grip").value}vh`);
  localStorage.setItem("dock", part("grip").value);
}

export function openDrawer(name, silent = false) {
  document.querySelector("[data-drawer=sweep]").hidden = !selection.sweep;
  const opener = document.querySelector(`[data-drawer="${selection.drawer}"]`);
  selection.drawer = Object.hasOwn(TITLES, name) ? name : "";
  for (const button of document.querySelectorAll("[data-drawer]")) {
    button.setAttribute("aria-expanded", String(button.dataset.drawer === selection.drawer));
  }
  part("drawer").hidden = !selection.drawer;
  if (!silent) remember(true);
  if (selection.drawer) {
    part("drawer-title").textContent = TITLES[selection.drawer];
    if (!silent) {
      part("drawer").scrollIntoView({ block: "start" });
      part("drawer-title").focus({ preventScroll: true });
    }
    fill();
  } else {
    part("drawer-body").replaceChildren();
    hideDash();
    before = "";
    if (!silent && opener) opener.focus();
  }
}

// Another word, network, step's state or theme: what is open follows.
export function drawerChanged() {
  if (selection.drawer && !["networks", "words", "extract", "sweep"].includes(selection.drawer)) fill();
}

async function fill() {
  const mine = (filled += 1), body = part("drawer-body"), name = selection.drawer;
  const parts = [];
  let asked = null;
  const add = (...made) => parts.push(...made);
  try {
    const made = { networks, words, automaton, figures, papers, extract }[name];
    asked = made ? await made(add) : { sweep: selection.sweep };
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    add(element("p", error.message));
  }
  if (mine !== filled) return;
  body.replaceChildren(...parts);
  if (asked) inDash(asked);
  else hideDash();
}

function inDash(asked = {}) {
  const { drawer, network, word, rounded, raw, state, figure } = selection, now = `${drawer} ${network}`;
  showInDash({ drawer, network, word: word ?? "", rounded, raw, state: state ?? "", figure, theme: dark() ? "dark" : "light", ...asked }, now !== before);
  before = now;
}

// ---- one function for each drawer: what stands over Dash's part, and what is asked for there -----------------------

async function networks(add) {
  const upload = element("p", "A file of your own is opened with the button in the strip, or dropped on the page.");
  const list = element("div", "", { class: "networks" });
  for (const { group, networks: some } of await ask("networks", { opened: acts.opened().join(",") })) {
    const items = element("ul");
    items.append(...some.map(({ name, title, line }) => {
      const item = element("li");
      item.append(element("a", title, { href: `?${new URLSearchParams({ network: name, drawer: "" })}` }), `: ${line}`);
      return item;
    }));
    list.append(element("h3", group), items);
  }
  add(upload, list);
  return null;
}

async function words(add) {
  const box = element("textarea", "", { rows: 8, spellcheck: "false", id: "many" }), label = element("label", "words, one a line; ε is the empty word");
  const only = element("input", "", { type: "checkbox", id: "only" }), onlyLabel = element("label", " only where they differ");
  onlyLabel.prepend(only);
  label.append(box);
  let seed = 0;
  const given = () => ({ words: box.value, different: only.checked });
  const draw = async () => {
    box.value = (await ask("words", { network: selection.network, seed })).words;
    seed += 1;
  };
  const buttons = element("div", "", { class: "tools" });
  only.addEventListener("change", () => inDash(given()));
  buttons.append(
    element("button", "judge", { type: "button", id: "judge", onclick: () => inDash(given()) }),
    element("button", "other words", { type: "button", onclick: () => draw().then(() => inDash(given())) }), onlyLabel);
  await draw();
  add(label, buttons);
  return given();
}

async function automaton(add) {
  if (acts.before()) {
    const chosen = (name) => {
      Object.assign(selection, { raw: Boolean(name), state: null });
      acts.lit();
    };
    add(choice("automaton", "which", [["", "minimised"], ["raw", "before minimisation"]], selection.raw ? "raw" : "", chosen));
  }
  const files = element("div", "", { class: "tools" });
  files.append("save the automaton:", ...["dot", "json", "jff", "svg"].map((suffix) =>
    element("button", { jff: "JFLAP" }[suffix] || suffix.toUpperCase(), { type: "button", "data-save": suffix, onclick: () => acts.saveFile(suffix) })));
  add(files);
  return {};
}

// A list to choose from, whose choice the address holds.
function choice(label, id, options, chosen, choose) {
  const made = element("label", `${label} `, { class: "field" }), list = element("select", "", { id });
  list.append(...options.map(([value, text]) => element("option", text, { value })));
  list.value = chosen;
  list.addEventListener("change", () => {
    choose(list.value);
    remember(true);
    inDash(asks[selection.drawer]());
  });
  made.append(list);
  return made;
}

const asks = { automaton: () => ({}), figures: () => ({ table: steps }), papers: () => ({ table: selection.table }) };
let steps = ""; // which table of the steps is shown under a figure

async function figures(add) {
  const chosen = Object.hasOwn(FIGURES, selection.figure) ? selection.figure : "paper", choices = element("div", "", { class: "tools" });
  choices.append(
    choice("figure", "figure", Object.entries(FIGURES), chosen, (name) => (selection.figure = name)),
    choice("table", "steptable", [["", "none"], ["steps", "steps"], ["predictions", "predictions"]], steps, (name) => (steps = name)));
  add(choices);
  return { ...asks.figures(), figure: chosen };
}

async function papers(add) {
  const { tables } = await ask("papers");
  selection.table ||= tables[0].name;
  add(choice("table or figure", "paper", tables.map(({ name, what }) => [name, what]), selection.table, (name) => (selection.table = name)));
  return asks.papers();
}

const FIELDS = [
  ["states", "clusters to begin with", "found"], ["stack_symbols", "stack symbols", "found"],
  ["max_length", "check all words up to length", "as many as 2.5 million words"], ["seed", "seed", "0"], ["budget", "seconds of the search", "60"],
];
const METHODS = { auto: "learned from behaviour, else clusters", learn: "learned from behaviour", kmeans: "clusters of hidden vectors" };

async function extract(add) {
  const form = element("form", "", { class: "form", id: "extraction" });
  for (const [name, title, otherwise] of FIELDS) {
    const label = element("label", title);
    label.append(element("input", "", { type: "number", name, placeholder: otherwise, step: "any" }));
    form.append(label);
  }
  const language = element("label", "language"), method = element("label", "method"), list = element("select", "", { name: "method" });
  language.append(element("input", "", { name: "language", placeholder: "as the file says", autocomplete: "off", spellcheck: "false" }));
  list.append(...Object.entries(METHODS).map(([value, text]) => element("option", text, { value })));
  method.append(list);
  form.append(language, method, element("button", "extract", { type: "submit", id: "extract-so" }));
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const given = Object.fromEntries([...new FormData(form)].filter(([, value]) => value !== ""));
    for (const [name] of FIELDS) if (name in given) given[name] = Number(given[name]);
    startExtraction(given, true);
  });
  add(element("p", "What was read out of the networks of the zoo is shown at once; here it is read out anew. How far it is stands beside the automaton, for everybody who looks at this network, and can be cancelled there."), form);
  return null;
}
