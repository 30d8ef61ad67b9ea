// The network: what is said of it beside any word, the list to choose from, and the words that its claims name; and what
// follows when something else is selected.

import { CHANGE, Problem, ask, asked, choose, element, fill, part, remember, save, selection, showChosen, tried } from "./page.js";
import { drawAutomaton, light, showBefore } from "./automaton.js";
import { showAgainst } from "./compare.js";
import { drawerChanged, showDrawer } from "./drawers.js";
import { showJobs } from "./jobs.js";
import { clearWord, dropWord, go, lastTry, problem, showWord, table } from "./word.js";

export let known = null; // what the server said last of the network
let tries = 0, disagreement = -1;

// Shows the network, and the word on it; the `first` one is there without a question.
export async function showNetwork(first = null) {
  const mine = (tries += 1), last = () => mine === tries;
  if (!first) {
    dropWord();
    clearWord("opening the network …");
    networkShown({});
    known = null;
  }
  await tried(async () => {
    const found = first?.network ?? await ask("network", { network: selection.network });
    if (!last()) return;
    networkShown(found);
    showJobs();
    if (!first) await fitWord(found);
    if (last()) await showWord(first?.word);
  }, (said) => {
    if (!last()) return;
    clearWord("");
    problem(said);
    selection.drawer = "networks";
    showDrawer("");
  });
  await fillNetworks();
  remember();
}

function networkShown(found) {
  const { html = {}, automaton, mending } = found;
  known = found;
  disagreement = -1;
  part("extract").textContent = found.extracted ? "extract again" : "extract";
  part("extract").hidden = selection.network.startsWith("result-"); // a saved result stays as it is
  part("next-disagreement").disabled = !found.disagreements?.length;
  for (const [id, name] of [["card", "card"], ["meanings", "meanings"], ["chips", "chips"], ["claim-list", "claims"]]) fill(part(id), html[name]);
  drawAutomaton(automaton || null);
  fill(part("automaton-says"), html.says);
  fill(mend.firstElementChild, html.mending);
  mend.hidden = !mending;
  why.hidden = !found.advice;
  why.lastElementChild.textContent = found.advice ?? "";
  showChip();
  listed();
}

// The network that is shown can be seen in the list, also before that is here, and when it is in it no longer.
function listed() {
  showChosen();
  if (known?.title && !part("network").value) part("network").append(element("option", known.title, { value: selection.network, selected: true }));
}

const mend = part("mend"), why = part("why");

// The claims that the chip rests on, of none all of them. Why, and the repair, stand in the first that is not good.
function showChip() {
  const items = [...part("claim-list").children], { chip } = selection;
  const there = known.chips?.some(({ name }) => name === chip);
  known.claims?.forEach(({ chips }, number) => (items[number].hidden = there && !chips.includes(chip)));
  const seen = items.filter((one) => !one.hidden), not = seen.find((one) => one.className === "no");
  const place = not || seen.find((one) => one.dataset.what === "certificate") || seen[0];
  why.open = Boolean(there && not);
  place?.append(why, mend);
}

// A network that cannot read the word that is there gets one that it can.
async function fitWord({ alphabet, network }) {
  const single = alphabet.every((symbol) => symbol.length === 1), word = selection.word;
  const symbols = word === null ? [null] : single ? [...word] : word.split(/\s+/).filter(Boolean);
  if (symbols.length && symbols.every((symbol) => alphabet.includes(symbol))) return;
  selection.word = (await ask("other-word", { network, seed: 0 })).word;
  selection.step = 1;
}

// The networks to choose from, to compare with, and with a line each in their drawer.
export const fillNetworks = () => tried(async () => {
  const { html } = await ask("networks", { opened: opened().join(",") });
  fill(part("network"), html.options);
  fill(part("other-network"), `<option></option>${html.options}`);
  fill(part("network-list"), html.listed);
  listed();
}, problem);

export function nextDisagreement() {
  disagreement = (disagreement + 1) % known.disagreements.length; // the button can be used only where there are some
  const { word, who } = known.disagreements[disagreement];
  visit({ word, rounded: who === "rounded network" ? "1" : "0" });
}

// What is selected is shown; `before` it was something else. Of `silent` steps back and forth the focus stays where it is.
export async function follow(before, silent = false) {
  const other = (...names) => names.some((name) => before[name] !== selection[name]);
  showChosen();
  if (other("drawer")) showDrawer(before.drawer, silent);
  else if (other("figure", "table", "rows", "state", "raw", "sweep")) drawerChanged();
  if (other("network", "word", "rounded")) problem(""); // of what was chosen before, and not of a file opened meanwhile
  if (other("network") || selection.word === null) return showNetwork();
  showBefore();
  if (known) showChip();
  if (other("word", "rounded")) return showWord();
  if (other("against", "other", ...CHANGE)) return showAgainst(lastTry());
  return other("step") ? go(selection.step) : light(selection.step);
}

// What a link asks for, anywhere on the page; a word comes onto the bench at the first step where it is wrong.
export async function visit(link) {
  const given = Object.fromEntries(new URLSearchParams(link)), plain = "word" in given && selection.against === "change";
  await choose(plain ? { against: "", ...given } : given);
  if (!("word" in given)) return;
  if (!("step" in given) && selection.against !== "change" && table.data) go(table.data.wrong[0] || table.data.parts || 1);
  part("sentence").scrollIntoView({ block: "nearest" });
}

// ---- files in and out: networks and results that are opened or dropped, traces and automata that are saved ---------------

const LARGEST = 20_000_000; // bytes of a file

const opened = () => {
  const names = JSON.parse(window.sessionStorage.getItem("opened") || "[]");
  return /^(upload|result)-/.test(selection.network) ? [...new Set([...names, selection.network])] : names;
};

// A network that was opened, or made here, is listed from now on; returns whether it was not before.
export function remembered(network) {
  const names = opened();
  window.sessionStorage.setItem("opened", JSON.stringify([...new Set([network, ...names])]));
  return !names.includes(network);
}

// Shows the network, or the result, in a file, or says what is wrong with it.
export const receive = (file) => file && tried(async () => {
  if (file.size > LARGEST) {
    const size = `${(file.size / 1e6).toFixed(0)} MB; expected a trained network, or a saved result, of at most ${LARGEST / 1e6} MB`;
    throw new Problem(`${file.name}: ${size}.`);
  }
  const { network } = await ask("upload", { title: encodeURIComponent(file.name) }, { post: file });
  remembered(network);
  await choose({ network, word: null });
}, problem);

export const saveFile = (suffix) => tried(async () => {
  const text = await ask("file", { ...asked(), suffix, raw: selection.raw ? 1 : 0 });
  save(`${selection.network}.${suffix === "trace" ? "trace.json" : suffix}`, text);
}, problem);
