// The network: what is said of it beside any word, the list to choose from, and the words that its claims name.

import { Problem, ask, element, part, remember, select, selection } from "./page.js";
import { drawAutomaton, showBefore } from "./automaton.js";
import { offerNetworks } from "./compare.js";
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
  part("chips").replaceChildren();
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
  const claims = found.claims || [];
  part("claim-list").replaceChildren(...claims.map((claim) => {
    const item = element("li", "", { class: claim.verdict, "data-what": claim.what });
    item.append(element("b", `${claim.sign} ${claim.what}`), `: ${claim.says} `);
    for (const { text, href } of claim.links) item.append(element("a", text, { href }), " ");
    return item;
  }), ...(claims.length ? [] : [element("li", "Nothing is claimed yet.")]));
  part("chips").replaceChildren(...(found.chips || []).map(({ name, sign, verdict, by }, number) =>
    element("button", `${sign} ${name}${by && `: ${by}`}`, { type: "button", class: verdict, "data-chip": name, "data-key": number + 1, title: `what this rests on (${number + 1})` })));
  why.hidden = !found.advice;
  why.replaceChildren(element("summary", "why, and what to do next"), element("pre", found.advice, { tabindex: 0 }));
  repair = repairOffered(found.mending);
  showChip();
}

const why = element("details");
let repair = null;

// The claims that the chip rests on, of none all of them. Why, and the repair, stand in the first that is not good.
function showChip() {
  const items = [...part("claim-list").children], claims = known.claims || [], { chip } = selection;
  const there = (known.chips || []).some(({ name }) => name === chip);
  for (const one of part("chips").children) one.setAttribute("aria-pressed", String(one.dataset.chip === chip));
  claims.forEach(({ chips }, number) => (items[number].hidden = there && !chips.includes(chip)));
  const seen = items.filter((one) => !one.hidden), not = seen.find((one) => one.className === "no");
  const place = not || seen.find((one) => one.dataset.what === "certificate") || seen[0];
  why.open = there && Boolean(not);
  place.append(...(repair ? [repair] : []), why);
}

export function chooseChip(chip) {
  selection.chip = selection.chip === chip ? "" : chip;
  remember(true);
  showChip();
}

function automatonLine({ extracted, automaton, settings, why, missing, saved }) {
  if (!extracted) return "Nothing has been read out of this network yet: extract does it.";
  if (missing) return missing;
  if (!automaton) return `${why}.`;
  return saved ? "as the saved result says" : settings === "sl.extract(network)" ? "" : `as ${settings} found it`;
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
  offerNetworks();
}

export function nextDisagreement() {
  const words = (known && known.disagreements) || [];
  if (!words.length) return;
  disagreement = (disagreement + 1) % words.length;
  const { word, who } = words[disagreement];
  visit({ word, rounded: who === "rounded network" ? "1" : "0" });
}

// What the address says is shown; it was that of `before`, a selection.
export async function follow(before, silent = true) {
  setKind();
  part("against").dataset.kind = "";
  if (["drawer", "figure", "table", "state"].some((name) => before[name] !== selection[name])) {
    const { drawer } = selection;
    selection.drawer = before.drawer;
    openDrawer(drawer, silent);
  }
  if (before.network !== selection.network || !known) return showNetwork().then(fillNetworks);
  showBefore();
  showChip();
  await showWord();
}

// What a link asks for, anywhere on the page; a word comes onto the bench at the first step where it is wrong.
export async function visit(asked) {
  const before = { ...selection }, given = new URLSearchParams(asked);
  select(given);
  await follow(before, false);
  if (given.has("word") && !given.has("step") && selection.against !== "change" && table.data) go(table.data.wrong[0] || table.data.parts || 1);
  if (given.has("word")) part("sentence").scrollIntoView({ block: "nearest" });
}

export function setKind() {
  document.querySelector(`input[name=kind][value=${selection.rounded ? "rounded" : "soft"}]`).checked = true;
}
