// The drawers under the bench: networks, a sweep, checks, many words, accuracy, rules and states, causes, figures,
// papers, extraction. What is chosen in them is chosen here, in templates of the page; figures and tables are Dash's.

import { hideDash, showInDash, watchDash } from "./dash.js";
import { ask, choices, copyOf, dark, element, field, kept, part, remember, selection, tried } from "./page.js";
import { startExtraction } from "./jobs.js";

let acts = null, filled = 0, before = "";

const openers = () => [...document.querySelectorAll("[data-drawer]")];
const openerOf = (name) => openers().find((one) => one.dataset.drawer === name);

export function watchDrawers(given) {
  acts = given;
  watchDash(given);
  for (const button of openers()) {
    button.addEventListener("click", () => openDrawer(selection.drawer === button.dataset.drawer ? "" : button.dataset.drawer));
  }
  part("drawer-close").addEventListener("click", () => openDrawer(""));
  part("drawer-body").addEventListener("click", ({ target }) => target.dataset.save && acts.saveFile(target.dataset.save));
  part("grip").addEventListener("input", () => dock(part("grip").value));
  dock(kept("dock") || 40);
}

// How high the drawers are, in percent of the page: so they stay.
function dock(percent) {
  part("grip").value = percent;
  document.documentElement.style.setProperty("--dock", `${part("grip").value}vh`);
  kept("dock", part("grip").value);
}

export function openDrawer(name, silent = false) {
  openerOf("sweep").hidden = !selection.sweep;
  const closed = openerOf(selection.drawer), opener = openerOf(name);
  selection.drawer = opener ? name : "";
  for (const button of openers()) button.setAttribute("aria-expanded", String(button === opener));
  part("drawer").hidden = !opener;
  if (!silent) remember(true);
  if (opener) {
    part("drawer-title").textContent = opener.dataset.title ?? opener.textContent;
    if (!silent) {
      part("drawer").scrollIntoView({ block: "start" });
      part("drawer-title").focus({ preventScroll: true });
    }
    fill();
  } else {
    part("drawer-body").replaceChildren();
    hideDash();
    before = "";
    if (!silent && closed) closed.focus();
  }
}

// Another word, network, step's state or theme: what is open follows.
export function drawerChanged() {
  if (selection.drawer && !["networks", "words", "extract", "sweep"].includes(selection.drawer)) fill();
}

async function fill() {
  const mine = (filled += 1), made = { networks, words, automaton, figures, papers, extract }[selection.drawer];
  const nothing = () => [[], { sweep: selection.sweep }];
  const [parts, asked] = await tried(made ?? nothing, (problem) => [[element("p", problem)], null]);
  if (mine !== filled) return;
  part("drawer-body").replaceChildren(...parts);
  if (asked) inDash(asked);
  else hideDash();
}

function inDash(asked = {}) {
  const { drawer, network, word, rounded, raw, state, figure } = selection, now = `${drawer} ${network}`;
  showInDash({ drawer, network, word: word ?? "", rounded, raw, state: state ?? "", figure, theme: dark() ? "dark" : "light", ...asked }, now !== before);
  before = now;
}

// ---- one function for each drawer: what stands over Dash's part, and what is asked for there -----------------------

async function networks() {
  const groups = await ask("networks", { opened: acts.opened().join(",") });
  const linkTo = (name, title) => element("a", title, { href: `?${new URLSearchParams({ network: name, drawer: "" })}` });
  const list = groups.flatMap(({ group, networks: some }) => [
    element("h3", group),
    element("ul", some.map(({ name, title, line }) => element("li", [linkTo(name, title), `: ${line}`]))),
  ]);
  const upload = element("p", "A file of your own is opened with the button in the strip, or dropped on the page.");
  return [[upload, element("div", list, { class: "networks" })], null];
}

async function words() {
  const body = copyOf("drawer-words"), [box, judge, other, only] = body.querySelectorAll("textarea, button, input");
  const given = () => ({ words: box.value, different: only.checked }), judged = () => inDash(given());
  let seed = 0;
  const draw = async () => {
    box.value = (await ask("words", { network: selection.network, seed })).words;
    seed += 1;
  };
  judge.onclick = only.onchange = judged;
  other.onclick = () => draw().then(judged);
  await draw();
  return [[body], given()];
}

// What is chosen in a list is asked for, and held by the address.
function choosing(list, chosen, choose) {
  list.value = chosen;
  list.onchange = () => {
    choose(list.value);
    remember(true);
    inDash(asks[selection.drawer]());
  };
  return list;
}

const asks = { automaton: () => ({}), figures: () => ({ table: steps }), papers: () => ({ table: selection.table }) };
let steps = ""; // which table of the steps is shown under a figure

function automaton() {
  const body = copyOf("drawer-automaton"), which = body.querySelector("select");
  which.parentNode.hidden = !acts.before();
  choosing(which, selection.raw ? "raw" : "", (name) => {
    Object.assign(selection, { raw: Boolean(name), state: null });
    acts.lit();
  });
  return [[body], {}];
}

function figures() {
  const body = copyOf("drawer-figures"), [figure, table] = body.querySelectorAll("select");
  choosing(table, steps, (name) => (steps = name));
  choosing(figure, selection.figure, (name) => (selection.figure = name));
  figure.value ||= "paper"; // an address may ask for anything
  return [[body], { ...asks.figures(), figure: figure.value }];
}

async function papers() {
  const { tables } = await ask("papers");
  selection.table ||= tables[0].name;
  const list = choices(tables.map(({ name, what }) => [name, what]), "", { id: "paper" });
  return [[field("table or figure", choosing(list, selection.table, (name) => (selection.table = name)))], asks.papers()];
}

function extract() {
  const body = copyOf("drawer-extract");
  body.querySelector("form").onsubmit = (event) => {
    event.preventDefault();
    const given = [...event.target.elements].filter(({ name, value }) => name && value !== "");
    startExtraction(Object.fromEntries(given.map(({ name, type, value }) => [name, type === "number" ? Number(value) : value])), true);
  };
  return [[body], null];
}
