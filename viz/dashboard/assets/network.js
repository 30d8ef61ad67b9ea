// The network: what is said of it beside any word, the list to choose from, and the words that its claims name.

import { ask, choices, element, part, remember, select, selection, tried } from "./page.js";
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
  const mine = (tries += 1), last = () => mine === tries;
  dropWord();
  part("network").value = selection.network;
  clearWord("opening the network …");
  networkShown({ chips: [], claims: [], says: "" });
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
    openDrawer("networks");
  });
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
  disagreement = -1;
  problem("");
  part("card").replaceChildren(element("dl", Object.entries(found.card ?? {}).flatMap(([name, value]) => [element("dt", name), element("dd", value)])));
  part("extract").textContent = found.extracted ? "extract again" : "extract";
  part("extract").hidden = selection.network.startsWith("result-"); // a saved result stays as it is
  part("next-disagreement").disabled = !found.disagreements?.length;
  drawAutomaton(found.automaton || null);
  part("automaton-says").textContent = found.says ?? automatonLine(found);
  const nothing = found.claims ? [] : [element("li", "Nothing is claimed yet.")];
  part("claim-list").replaceChildren(...(found.claims ?? []).map(claimed), ...nothing);
  part("chips").replaceChildren(...(found.chips ?? []).map(({ name, sign, verdict, by }, number) =>
    element("button", `${sign} ${name}${by && `: ${by}`}`, { type: "button", class: verdict, "data-chip": name, "data-key": number + 1, title: `what this rests on (${number + 1})` })));
  why.hidden = !found.advice;
  why.lastChild.textContent = found.advice ?? "";
  repair = repairOffered(found.mending);
  showChip();
}

const claimed = ({ verdict, what, sign, says, links }) => element("li", [
  element("b", `${sign} ${what}`), `: ${says} `, ...links.flatMap(({ text, href }) => [element("a", text, { href }), " "]),
], { class: verdict, "data-what": what });

const why = element("details", [element("summary", "why, and what to do next"), element("pre", "", { tabindex: 0 })]);
let repair = null;

// The claims that the chip rests on, of none all of them. Why, and the repair, stand in the first that is not good.
function showChip() {
  const items = [...part("claim-list").children], { chip } = selection;
  const there = known.chips?.some(({ name }) => name === chip);
  for (const one of part("chips").children) one.setAttribute("aria-pressed", String(one.dataset.chip === chip));
  known.claims?.forEach(({ chips }, number) => (items[number].hidden = there && !chips.includes(chip)));
  const seen = items.filter((one) => !one.hidden), not = seen.find((one) => one.className === "no");
  const place = not || seen.find((one) => one.dataset.what === "certificate") || seen[0];
  why.open = Boolean(there && not);
  place?.append(...(repair ? [repair] : []), why);
}

export function chooseChip(chip) {
  selection.chip = selection.chip === chip ? "" : chip;
  remember(true);
  showChip();
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

export const fillNetworks = () => tried(async () => {
  const groups = await ask("networks", { opened: opened().join(",") });
  const options = groups.map(({ group, networks }) => [group, networks.map(({ name, title }) => [name, title])]);
  const there = options.some(([, some]) => some.some(([name]) => name === selection.network));
  if (!there && known) options.unshift([selection.network, known.title]);
  part("network").replaceChildren(...choices(options, "").childNodes);
  part("network").value = selection.network;
  offerNetworks();
}, problem);

export function nextDisagreement() {
  const words = known?.disagreements ?? [];
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
  if (!given.has("word")) return;
  if (!given.has("step") && selection.against !== "change" && table.data) go(table.data.wrong[0] || table.data.parts || 1);
  part("sentence").scrollIntoView({ block: "nearest" });
}

export function setKind() {
  document.querySelector(`input[name=kind][value=${selection.rounded ? "rounded" : "soft"}]`).checked = true;
}
