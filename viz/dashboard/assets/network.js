// The network: what is said of it beside any word, the list to choose from, and the words that its claims name; and what
// follows when something else is selected.

import { CHANGE, ask, choose, element, fill, options, part, remember, selection, showChosen, tried } from "./page.js";
import { drawAutomaton, light, showBefore } from "./automaton.js";
import { showAgainst } from "./compare.js";
import { drawerChanged, showDrawer } from "./drawers.js";
import { opened } from "./files.js";
import { showJobs } from "./jobs.js";
import { go, table } from "./steps.js";
import { clearWord, dropWord, lastTry, problem, showWord } from "./word.js";

export let known = null; // what the server said last of the network
let tries = 0, disagreement = -1;

export async function showNetwork() {
  const mine = (tries += 1), last = () => mine === tries;
  dropWord();
  clearWord("opening the network …");
  networkShown({ says: "" });
  known = null;
  await tried(async () => {
    const found = await ask("network", { network: selection.network });
    if (!last()) return;
    networkShown(found);
    showJobs(found);
    await fitWord(found);
    if (last()) await showWord();
  }, (said) => {
    if (!last()) return;
    clearWord("");
    problem(said);
    part("network").value = "";
    selection.drawer = "networks";
    showDrawer("");
  });
  remember();
}

// What the server put into the page is there without a question.
export function showFirst({ network, word, chosen }) {
  selection.word ??= chosen;
  part("network").append(element("option", network.title, { value: selection.network }));
  tries += 1;
  networkShown(network);
  showWord(word || null);
  showJobs(network);
}

function networkShown(found) {
  const { html = {}, automaton, mending } = found;
  known = found;
  disagreement = -1;
  problem("");
  part("extract").textContent = found.extracted ? "extract again" : "extract";
  part("extract").hidden = selection.network.startsWith("result-"); // a saved result stays as it is
  part("next-disagreement").disabled = !found.disagreements?.length;
  for (const [id, name] of [["card", "card"], ["meanings", "meanings"], ["chips", "chips"], ["claim-list", "claims"]]) fill(part(id), html[name]);
  drawAutomaton(automaton || null);
  part("automaton-says").textContent = found.says ?? automatonLine(found);
  fill(mend.firstElementChild, html.mending);
  mend.hidden = !mending;
  why.hidden = !found.advice;
  why.lastElementChild.textContent = found.advice ?? "";
  showChip();
  showChosen();
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
  place?.append(mend, why);
}

function automatonLine({ extracted, automaton, settings, why: reason, missing, saved }) {
  if (!extracted) return "Nothing has been read out of this network yet: extract does it.";
  if (missing) return missing;
  if (!automaton) return `${reason}.`;
  return saved ? "as the saved result says" : settings === "sl.extract(network)" ? "" : `as ${settings} found it`;
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
  const groups = await ask("networks", { opened: opened().join(",") });
  const some = groups.map(({ group, networks }) => [group, networks.map(({ name, title }) => [name, title])]);
  const there = some.some(([, networks]) => networks.some(([name]) => name === selection.network));
  if (!there && known) some.unshift([selection.network, known.title]);
  part("network").replaceChildren(...options(some));
  part("other-network").replaceChildren(...options([["", ""], ...some]));
  const link = ({ name, title, line }) => element("li", [element("a", title, { href: `?${new URLSearchParams({ network: name, drawer: "" })}` }), `: ${line}`]);
  part("network-list").replaceChildren(...groups.flatMap(({ group, networks }) => [element("h3", group), element("ul", networks.map(link))]));
  showChosen();
}, problem);

export function nextDisagreement() {
  const words = known?.disagreements ?? [];
  if (!words.length) return;
  disagreement = (disagreement + 1) % words.length;
  const { word, who } = words[disagreement];
  visit({ word, rounded: who === "rounded network" ? "1" : "0" });
}

// What is selected is shown; `before` it was something else. Of `silent` steps back and forth the focus stays where it is.
export async function follow(before, silent = false) {
  const other = (...names) => names.some((name) => before[name] !== selection[name]);
  showChosen();
  if (other("drawer")) showDrawer(before.drawer, silent);
  else if (other("figure", "table", "rows", "state", "raw", "sweep")) drawerChanged();
  if (other("network") || selection.word === null) return showNetwork().then(fillNetworks);
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
