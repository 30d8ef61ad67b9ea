// The network: what is said of it beside any word, the list to choose from, and the words that its claims name.

import { Problem, ask, element, part, remember, selection } from "./page.js";
import { drawAutomaton } from "./automaton.js";
import { opened } from "./files.js";
import { openDrawer } from "./drawers.js";
import { repairOffered, showJobs } from "./jobs.js";
import { go, table } from "./steps.js";
import { clearWord, dropWord, problem, showWord } from "./word.js";

export let known = null; // what the server said last of the network
let tries = 0, disagreement = -1;

export async function showNetwork() {
  const mine = (tries += 1);
  dropWord();
  disagreement = -1;
  part("network").value = selection.network;
  known = null;
  clearWord("opening the network …");
  drawAutomaton(null);
  part("claim-list").replaceChildren();
  part("automaton-says").textContent = "";
  fillCard({});
  try {
    const found = await ask("network", { network: selection.network });
    if (mine !== tries) return;
    networkShown(found);
    showJobs(found);
    await fitWord(found);
    if (mine !== tries) return;
    await showWord();
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    if (mine !== tries) return;
    clearWord("");
    problem(error.message);
    part("network").value = "";
    openDrawer("networks");
  }
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
  known = found;
  problem("");
  fillCard(found.card);
  part("extract").textContent = found.extracted ? "extract again" : "extract";
  part("next-disagreement").disabled = !(found.disagreements || []).length;
  drawAutomaton(found.automaton || null);
  part("extract").hidden = found.network.startsWith("result-"); // a saved result stays as it is
  part("automaton-says").textContent = automatonLine(found);
  const items = (found.claims || []).map((claim) => {
    const item = element("li", "", { class: claim.verdict });
    item.append(element("b", `${claim.sign} ${claim.what}`), `: ${claim.says} `);
    if (claim.word !== null) item.append(wordButton(claim));
    return item;
  });
  if (found.advice) {
    const why = element("details");
    why.append(element("summary", "why, and what to do next"), element("pre", found.advice, { tabindex: 0 }));
    items[0].append(why);
  }
  part("claim-list").replaceChildren(...items, ...(items.length ? [] : [element("li", "Nothing is claimed yet.")]));
  const mend = repairOffered(found.mending), claims = found.claims || [];
  if (mend) (items[claims[0].word === null ? claims.findIndex((claim) => claim.what === "certificate") : 0] || items[0]).append(mend);
}

function automatonLine({ extracted, automaton, settings, why, missing, saved }) {
  if (!extracted) return "Nothing has been read out of this network yet: extract does it.";
  if (missing) return missing;
  if (!automaton) return `${why}.`;
  return saved ? "as the saved result says" : settings === "sl.extract(network)" ? "" : `as ${settings} found it`;
}

function wordButton({ word, rounded }) {
  return element("button", "show the word", { type: "button", class: "plain", onclick: () => openWord(word, null, rounded) });
}

function fillCard(card) {
  const list = element("dl");
  for (const [name, value] of Object.entries(card)) list.append(element("dt", name), element("dd", value));
  part("card").replaceChildren(list);
}

// A network that cannot read the word that is there gets one that it can.
async function fitWord(found) {
  const single = found.alphabet.every((symbol) => symbol.length === 1), word = selection.word;
  const symbols = word === null ? [null] : single ? [...word] : word.split(/\s+/).filter(Boolean);
  if (symbols.every((symbol) => found.alphabet.includes(symbol)) && (symbols.length || selection.given)) return;
  selection.word = (await ask("other-word", { network: selection.network, seed: 0 })).word;
  selection.step = 1;
}

export async function fillNetworks() {
  const groups = await ask("networks", { opened: opened().join(",") }).catch((error) => problem(error.message));
  if (!groups) return;
  part("network").replaceChildren(...groups.map(({ group, networks }) => {
    const made = element("optgroup", "", { label: group });
    made.append(...networks.map(({ name, title }) => element("option", title, { value: name })));
    return made;
  }));
  if (![...part("network").options].some((option) => option.value === selection.network) && known) {
    part("network").prepend(element("option", known.title, { value: selection.network }));
  }
  part("network").value = selection.network;
}

export function nextDisagreement() {
  const words = (known && known.disagreements) || [];
  if (!words.length) return;
  disagreement = (disagreement + 1) % words.length;
  const { word, who } = words[disagreement];
  openWord(word, null, who === "rounded network");
}

// A word that is named anywhere comes onto the bench, at the first step where something is wrong with it.
export async function openWord(word, step = null, rounded = selection.rounded, network = null) {
  const other = network && network !== selection.network;
  Object.assign(selection, { word, rounded, step: step || 1 });
  setKind();
  remember(true);
  if (other) {
    selection.network = network;
    await showNetwork();
    return;
  }
  await showWord();
  if (!step && table.data) go(table.data.wrong[0] || table.data.parts || 1);
}

// Another network, made from this one, under this one on the same word.
export async function beside(network, word, rounded) {
  await fillNetworks();
  Object.assign(selection, { against: "network", other: network });
  part("against").dataset.kind = "";
  await openWord(word ?? selection.word, null, rounded);
  part("table-2").scrollIntoView({ block: "nearest" });
}

export function setKind() {
  document.querySelector(`input[name=kind][value=${selection.rounded ? "rounded" : "soft"}]`).checked = true;
}
