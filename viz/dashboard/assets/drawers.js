// The drawers over the bench: networks, checks, many words, accuracy, rules and states, figures, papers, extraction.

import { Problem, ask, asked, dark, element, part, remember, save, selection } from "./page.js";
import { startExtraction } from "./jobs.js";

const FIGURES = {
  paper: "what its paper draws", actions: "actions, pushed values, readings", stack: "stack cells",
  segments: "stack segments", operations: "table of operations", hidden: "hidden vectors", map: "map of hidden vectors",
  rounding: "soft and rounded stack", stacks: "the network's stack and the automaton's", states: "hidden vectors by state",
  drift: "what drifts on a word that goes round",
};
const TITLES = {
  networks: "networks", checks: "checks and counterexamples", words: "many words at once", accuracy: "accuracy by length",
  automaton: "rules and states", figures: "figures and tables", papers: "the papers' tables, with our figures", extract: "extract again",
};

let acts = null, filled = 0;

export function watchDrawers(given) {
  acts = given;
  for (const button of document.querySelectorAll("[data-drawer]")) {
    button.setAttribute("aria-expanded", "false");
    button.setAttribute("aria-controls", "drawer");
    button.addEventListener("click", () => openDrawer(selection.drawer === button.dataset.drawer ? "" : button.dataset.drawer));
  }
  part("drawer-close").addEventListener("click", () => openDrawer(""));
}

export function openDrawer(name, silent = false) {
  const opener = document.querySelector(`[data-drawer="${selection.drawer}"]`);
  selection.drawer = TITLES[name] ? name : "";
  for (const button of document.querySelectorAll("[data-drawer]")) {
    button.setAttribute("aria-expanded", String(button.dataset.drawer === selection.drawer));
  }
  part("drawer").hidden = !selection.drawer;
  if (!silent) remember(true);
  if (selection.drawer) {
    part("drawer-title").textContent = TITLES[selection.drawer];
    if (!silent) part("drawer-title").focus();
    fill();
  } else {
    part("drawer-body").replaceChildren();
    if (!silent && opener) opener.focus();
  }
}

// Another word, network, step's state or theme: what is open follows.
export function drawerChanged() {
  if (selection.drawer && !["networks", "words", "extract"].includes(selection.drawer)) fill();
}

async function fill() {
  const mine = (filled += 1), body = part("drawer-body"), name = selection.drawer;
  const parts = [];
  const add = (...made) => mine === filled && parts.push(...made);
  try {
    await { networks, checks, words, accuracy, automaton, figures, papers, extract }[name](add, () => mine === filled);
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    add(element("p", error.message));
  }
  if (mine !== filled) return;
  body.replaceChildren(...parts);
  for (const made of parts) made.drawn?.();
}

// ---- parts ----------------------------------------------------------------------------------------------------------

function lines(python) {
  const made = element("details");
  made.append(element("summary", "in Python"), element("pre", python, { tabindex: "0" }));
  return made;
}

const MARKED = { "✓": "said-yes", "✗": "said-no" };

function tablePart(name, found, cell = null) {
  const made = element("div"), scroll = element("div", "", { class: "scroll", tabindex: "0", role: "region", "aria-label": name }), table = element("table");
  const hidden = found.columns.indexOf("open"), head = element("tr");
  found.columns.forEach((column, number) => number !== hidden && head.append(element("th", column, { scope: "col" })));
  table.append(head, ...found.rows.map((row, place) => {
    const line = element("tr");
    row.forEach((value, number) => {
      if (number === hidden) return;
      const shown = typeof value === "number" && !Number.isInteger(value) ? String(Number(value.toPrecision(5))) : value === null ? "" : value.toLocaleString("en");
      const made = element("td", "", { class: typeof value === "number" ? "number" : MARKED[String(value)[0]] || null });
      made.append(cell?.(found.columns[number], row, place, shown) || shown);
      line.append(made);
    });
    return line;
  }));
  scroll.append(table);
  const csv = element("button", "CSV", { type: "button", title: `save ${name} as CSV`, onclick: () => save(`${selection.network}-${name.replaceAll(" ", "-")}.csv`, asCsv(found), "text/csv") });
  made.append(scroll, csv, ...(found.python ? [lines(found.python)] : []));
  return made;
}

const asCsv = ({ columns, rows }) =>
  [columns, ...rows].map((row) => row.map((value) => `"${String(value ?? "").replaceAll('"', '""')}"`).join(",")).join("\n") + "\n";

let plotly = null;

function withPlotly() {
  plotly ??= new Promise((resolve, reject) => {
    const script = element("script", "", { src: document.body.dataset.plotly });
    script.onload = () => resolve(window.Plotly);
    script.onerror = () => reject(new Problem("The program that draws figures did not arrive."));
    document.head.append(script);
  });
  return plotly;
}

function figurePart(name, found) {
  const made = element("div"), place = element("div", "drawing …", { class: "figure waiting" });
  const { data, layout } = found.figure, title = layout.title?.text || name;
  const traces = [...new Set(data.map((one) => one.name).filter(Boolean))];
  const notes = (layout.annotations || []).map((one) => one.text);
  place.setAttribute("role", "img");
  place.setAttribute("aria-label", [title, ...traces, ...notes].join("; ").replace(/<[^>]*>/g, " "));
  const file = `${selection.network}-${name}`.replaceAll(" ", "-");
  const kinds = ["svg", "png"].map((format) => element("button", format.toUpperCase(), {
    type: "button", "data-kind": format, title: `save this figure as ${format.toUpperCase()}`,
    onclick: async () => (await withPlotly()).downloadImage(place, { format, filename: file, scale: format === "png" ? 2 : 1 }),
  }));
  const buttons = element("div", "", { class: "tools" });
  buttons.append(...kinds);
  made.append(place, buttons, lines(found.python));
  made.drawn = async () => {
    const program = await withPlotly();
    if (!place.isConnected) return;
    place.replaceChildren();
    place.classList.remove("waiting");
    await program.newPlot(place, data, layout, { displaylogo: false, responsive: true, displayModeBar: false });
  };
  return made;
}

const theme = () => ({ theme: dark() ? "dark" : "light" });

// ---- one function for each drawer -----------------------------------------------------------------------------------

async function networks(add) {
  const upload = element("p", "A file of your own is opened with the button in the strip, or dropped on the page.");
  const list = element("div", "", { class: "networks" });
  for (const { group, networks: some } of await ask("networks", { opened: acts.opened().join(",") })) {
    const items = element("ul");
    items.append(...some.map(({ name, title, line }) => {
      const item = element("li");
      item.append(element("button", title, { type: "button", class: "plain", onclick: () => { openDrawer(""); acts.network(name); } }), `: ${line}`);
      return item;
    }));
    list.append(element("h3", group), items);
  }
  add(upload, list);
}

const openButton = (word, step = null) => element("button", word || "ε", { type: "button", onclick: () => acts.openWord(word === "ε" ? "" : word, step) });

async function checks(add) {
  const network = selection.network;
  const [checked, coverage] = await Promise.all([ask("checks", { network }), ask("coverage", { network }).catch(() => null)]);
  const at = checked.columns.indexOf("counterexample"), who = checked.columns.indexOf("automaton and");
  add(element("h3", "checks: a counterexample comes onto the bench with one click"), tablePart("checks", checked, (column, row) =>
    column === "counterexample" && row[at] ? element("button", row[at].length > 60 ? `${row[at].slice(0, 57)}… (${row[at].length})` : row[at], {
      type: "button", onclick: () => acts.openWord(row[at] === "ε" ? "" : row[at], null, row[who] === "rounded network"),
    }) : null));
  if (coverage) {
    const word = coverage.columns.indexOf("shortest word");
    add(element("h3", "transitions"), element("p", coverage.says), tablePart("coverage", coverage, (column, row) => (column === "shortest word" && row[word] ? openButton(row[word]) : null)));
  }
}

async function words(add) {
  const box = element("textarea", "", { rows: 8, spellcheck: "false", id: "many" }), label = element("label", "words, one a line; ε is the empty word");
  const only = element("input", "", { type: "checkbox", id: "only" }), onlyLabel = element("label", " only where they differ");
  onlyLabel.prepend(only);
  label.append(box);
  const said = element("p", "", { role: "status", id: "judged-says" }), place = element("div", "", { id: "judged" });
  let seed = 0;
  const judge = async () => {
    said.textContent = "judging …";
    try {
      const found = await ask("judge", {}, { post: { network: selection.network, words: box.value, different: only.checked }, wait: (text) => (said.textContent = text) });
      const open = found.columns.indexOf("open");
      said.textContent = found.says;
      place.replaceChildren(tablePart("words", found, (column, row, _, shown) => {
        if (column !== "word" || open < 0) return null;
        const to = new URLSearchParams(row[open]);
        return element("button", shown, { type: "button", onclick: () => acts.openWord(to.get("word") ?? "", Number(to.get("step") || 1)) });
      }));
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      place.replaceChildren();
      said.textContent = error.message;
    }
  };
  const draw = async () => {
    box.value = (await ask("words", { network: selection.network, seed })).words;
    seed += 1;
    await judge();
  };
  const buttons = element("div", "", { class: "tools" });
  only.addEventListener("change", judge);
  buttons.append(element("button", "judge", { type: "button", id: "judge", onclick: judge }), element("button", "other words", { type: "button", onclick: draw }), onlyLabel);
  add(label, buttons, said, place);
  await draw();
}

async function accuracy(add) {
  add(figurePart("accuracy", await ask("accuracy", { network: selection.network, ...theme() })));
}

async function automaton(add) {
  const given = { ...asked(), raw: selection.raw ? 1 : 0 };
  const [rules, run, visited] = await Promise.all([ask("transitions", given), ask("run", given), ask("visits", { ...given, state: selection.state ?? "" })]);
  const place = { word: visited.columns.indexOf("word"), step: visited.columns.indexOf("step") };
  const files = element("div", "", { class: "tools" });
  files.append("save the automaton:", ...["dot", "json", "jff", "svg"].map((suffix) =>
    element("button", { jff: "JFLAP" }[suffix] || suffix.toUpperCase(), { type: "button", "data-save": suffix, onclick: () => acts.saveFile(suffix) })));
  const states = element("p", "The states: a click shows the words that visit one. ");
  add(files, element("h3", `words that visit ${visited.state}`), states, tablePart("visits", visited, (column, row) =>
    (column === "word" ? openButton(row[place.word] || "ε", Math.max(1, row[place.step])) : null)));
  add(element("h3", "rules"), tablePart("rules", rules), element("h3", "the run on this word"), tablePart("run", run));
  for (const name of new Set(rules.rows.map((row) => row[0]))) states.append(element("button", name, { type: "button", onclick: () => acts.chooseState(name) }), " ");
}

async function figures(add) {
  const chosen = FIGURES[selection.figure] ? selection.figure : "paper";
  const label = element("label", "figure ", { class: "field" }), list = element("select", "", { id: "figure" });
  list.append(...Object.entries(FIGURES).map(([value, text]) => element("option", text, { value })));
  list.value = chosen;
  list.addEventListener("change", () => {
    selection.figure = list.value;
    remember(true);
    fill();
  });
  label.append(list);
  add(label);
  const own = { stacks: "stacks", states: "map", drift: "drift" }[chosen];
  const found = own ? ask(own, { ...asked(), raw: selection.raw ? 1 : 0, ...theme() }) : ask("figure", { ...asked(), figure: chosen, ...theme() });
  try {
    add(figurePart(FIGURES[chosen], await found));
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    add(element("p", error.message));
  }
  if (own) return;
  for (const table of ["steps", "predictions"]) {
    const part_ = element("details"), holder = element("div");
    part_.append(element("summary", `table of ${table}`), holder);
    part_.addEventListener("toggle", async () => {
      if (!part_.open || holder.firstChild) return;
      try {
        holder.append(tablePart(table, await ask("steps", { ...asked(), table })));
      } catch (error) {
        holder.append(element("p", error.message));
      }
    });
    add(part_);
  }
}

async function papers(add) {
  const { tables } = await ask("papers"), label = element("label", "table or figure ", { class: "field" });
  const list = element("select", "", { id: "paper" });
  list.append(...tables.map(({ name, what }) => element("option", what, { value: name })));
  list.value = selection.table || tables[0].name;
  list.addEventListener("change", () => {
    selection.table = list.value;
    remember(true);
    fill();
  });
  label.append(list);
  add(label);
  const found = await ask("paper", { name: list.value || selection.table, ...theme() });
  const command = element("p", "measured by ");
  command.append(element("code", found.command), found.measured ? "" : " (not measured yet)");
  add(command);
  for (const one of found.tables) add(element("h3", one.title), tablePart(one.title, one), element("p", one.caption));
  for (const one of found.figures) add(element("h3", one.title), figurePart(one.title, one));
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
}
