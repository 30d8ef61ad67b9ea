// The workbench: what is chosen is asked for, shown in every part at once, and kept in the address.

import { Problem, ask, asked, dark, element, part, readAddress, remember, selection } from "./page.js";
import { StepTable, drawOverview } from "./table.js";
import { drawAutomaton, light, setRun, watchDrawing } from "./automaton.js";
import { nameOf, showAgainst, watchCompare } from "./compare.js";
import { opened, receive, saveFile } from "./files.js";
import { watchKeys } from "./keys.js";
import { player } from "./play.js";
import { drawerChanged, openDrawer, watchDrawers } from "./drawers.js";
import { showJobs, startExtraction, watchJobs } from "./jobs.js";


const table = new StepTable(part("table-1"), go), second = new StepTable(part("table-2"), go);
const play = player(() => [selection.step, table.size], go);
let known = null; // what the server said last of the network
let tries = 0, wordTries = 0, disagreement = -1;

// ---- one step -------------------------------------------------------------------------------------------------------

let overview = false;

function go(step) {
  selection.step = Math.max(1, Math.min(table.size || 1, step || 1));
  table.go(selection.step);
  if (!part("table-2").hidden) {
    second.go(Math.min(second.size || 1, selection.step));
  }
  part("step").value = selection.step;
  light(selection.step, selection.state);
  if (!overview) {
    overview = true;
    requestAnimationFrame(() => {
      overview = false;
      drawOverview(part("overview"), table);
      part("now").textContent = table.told(selection.step);
    });
  }
  remember();
}

// ---- what is wrong, what is on its way ------------------------------------------------------------------------------

function problem(text) {
  part("problem").textContent = text || "";
}

// Nothing of an earlier network or word stays under a new name.
function clearWord(busy) {
  table.clear();
  second.clear();
  part("table-2").hidden = true;
  part("sentence").replaceChildren();
  part("steps").textContent = "";
  part("word-python").textContent = "";
  part("overview").getContext("2d").clearRect(0, 0, 10_000, 100);
  setRun(null);
  light(1, selection.state);
  part("stacks").replaceChildren();
  part("rule").textContent = "";
  busyWith(busy);
}

function busyWith(text) {
  part("busy").textContent = text || "";
  part("busy").hidden = !text;
  part("bench").setAttribute("aria-busy", text ? "true" : "false");
}

// ---- a word ---------------------------------------------------------------------------------------------------------

async function showWord(first = null) {
  const mine = (wordTries += 1);
  part("word").value = selection.word ?? "";
  if (!first) clearTimeout(showWord.slow);
  showWord.slow = setTimeout(() => mine === wordTries && clearWord("reading the word …"), 150);
  try {
    const found = first || (await ask("word", asked(), {
      stop: () => mine !== wordTries,
      wait: (said) => mine === wordTries && clearWord(said),
    }));
    if (mine !== wordTries || !found) return;
    clearTimeout(showWord.slow);
    busyWith("");
    problem("");
    wordShown(found);
    await showAgainst(mine);
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    if (mine !== wordTries) return;
    clearTimeout(showWord.slow);
    clearWord("");
    problem(error.message);
  }
}

function wordShown(found) {
  setRun(found.run);
  table.step = Math.max(1, Math.min(found.letters.length || 1, selection.step));
  table.show(found, selection.against ? nameOf(found) : "");
  part("steps").textContent = `of ${found.letters.length.toLocaleString("en")}`;
  part("step").max = Math.max(1, found.letters.length);
  part("word-python").textContent = found.python;
  part("next-wrong").disabled = !found.wrong.length && !found.parts;
  tell(found);
  go(table.step);
  drawerChanged();
  requestAnimationFrame(() => performance.mark("word shown"));
}

function tell(found) {
  part("sentence").replaceChildren(...found.sentence.map((one) => {
    if (one.step) return element("button", one.text, { type: "button", onclick: () => go(one.step) });
    const mark = one.good === undefined ? "" : one.good ? "✓ " : "✗ ";
    return element("span", mark + one.text, { class: one.good === undefined ? null : one.good ? "good" : "bad" });
  }));
}

function nextWrong() {
  const places = [...(table.data?.wrong || []), ...(table.data?.parts ? [table.data.parts] : [])].sort((a, b) => a - b);
  if (places.length) go(places.find((step) => step > selection.step) || places[0]);
}

function nextDisagreement() {
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

// ---- a network ------------------------------------------------------------------------------------------------------

export async function showNetwork(first = null) {
  const mine = (tries += 1);
  wordTries += 1;
  disagreement = -1;
  part("network").value = selection.network;
  if (!first) {
    known = null;
    clearWord("opening the network …");
    drawAutomaton(null);
    part("claim-list").replaceChildren();
    part("automaton-says").textContent = "";
    fillCard({});
  }
  try {
    const found = first || (await ask("network", { network: selection.network, raw: selection.raw ? 1 : 0 }));
    if (mine !== tries) return;
    networkShown(found);
    showJobs(found);
    if (first === null || selection.word === null) await fitWord(found);
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

function networkShown(found) {
  known = found;
  problem("");
  fillCard(found.card);
  part("raw").checked = selection.raw;
  part("extract").textContent = found.extracted ? "extract again" : "extract";
  part("next-disagreement").disabled = !(found.disagreements || []).length;
  drawAutomaton(found.automaton || null);
  part("automaton-says").textContent = found.extracted ? (found.automaton ? (found.settings === "sl.extract(network)" ? "" : `as ${found.settings} found it`) : `${found.why}.`) : "Nothing has been read out of this network yet: extract does it.";
  const items = (found.claims || []).map((claim) => {
    const item = element("li", "", { class: claim.verdict });
    item.append(element("b", `${claim.sign} ${claim.what}`), `: ${claim.says} `);
    if (claim.word !== null) item.append(wordButton(claim.word, claim.what));
    return item;
  });
  part("claim-list").replaceChildren(...items, ...(items.length ? [] : [element("li", "Nothing is claimed yet.")]));
}

function wordButton(word, what) {
  const rounded = /rounded/.test(what) || (what === "result" && selection.rounded);
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

async function fillNetworks() {
  const groups = await ask("networks", { opened: opened().join(",") });
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

// ---- controls -------------------------------------------------------------------------------------------------------

function setKind() {
  document.querySelector(`input[name=kind][value=${selection.rounded ? "rounded" : "soft"}]`).checked = true;
}

const on = (id, event, act) => part(id).addEventListener(event, act);
const both = (act) => {
  act(table);
  if (!part("table-2").hidden && second.data) act(second);
  drawOverview(part("overview"), table);
};

function chooseWord(word) {
  if (word === selection.word && table.data) return;
  Object.assign(selection, { word, step: 1 });
  remember(true);
  return showWord();
}

export async function anotherWord() {
  anotherWord.times = (anotherWord.times || 0) + 1;
  const { word } = await ask("other-word", { network: selection.network, seed: anotherWord.times });
  chooseWord(word);
}

const bench = { problem, showNetwork: () => showNetwork(), fillNetworks: () => fillNetworks() };

function watchControls() {
  on("network", "change", () => {
    Object.assign(selection, { network: part("network").value, state: null, raw: false, step: 1 });
    remember(true);
    showNetwork().then(() => remember());
  });
  let typing = null;
  on("word", "input", () => {
    clearTimeout(typing);
    typing = setTimeout(() => chooseWord(part("word").value), 500);
  });
  on("word", "keydown", (event) => {
    if (event.key !== "Enter" && event.key !== "Escape") return;
    clearTimeout(typing); // it is meant now
    if (event.key === "Enter") chooseWord(part("word").value);
    part("word").blur(); // the arrow keys walk again
  });
  on("random", "click", () => anotherWord().catch((error) => problem(error.message)));
  const steps = { first: () => 1, back: () => selection.step - 1, forward: () => selection.step + 1, last: () => table.size };
  for (const [id, to] of Object.entries(steps)) on(id, "click", () => go(to()));
  on("play", "click", play);
  on("step", "change", () => go(Number(part("step").value)));
  document.querySelectorAll("input[name=kind]").forEach((radio) => radio.addEventListener("change", () => {
    selection.rounded = radio.value === "rounded";
    remember(true);
    showWord();
  }));
  on("compare", "change", () => {
    Object.assign(selection, { against: part("compare").value, other: "" });
    part("against").dataset.kind = "";
    remember(true);
    showAgainst(wordTries);
    document.querySelector("#against input, #against select")?.focus();
  });
  on("raw", "change", () => {
    selection.raw = part("raw").checked;
    remember(true);
    showNetwork();
  });
  on("shade", "click", () => {
    const theme = dark() ? "light" : "dark";
    document.documentElement.dataset.theme = theme;
    try { window.localStorage.setItem("theme", theme); } catch (error) { /* nothing can be kept here */ }
    if (known) drawAutomaton(known.automaton || null);
    both((one) => one.draw());
    go(selection.step);
    drawerChanged();
  });
  on("card-button", "click", () => {
    const shown = part("card").hidden;
    part("card").hidden = !shown;
    part("card-button").setAttribute("aria-expanded", String(shown));
  });
  on("zoom-in", "click", () => both((one) => one.zoom(1.4)));
  on("zoom-out", "click", () => both((one) => one.zoom(1 / 1.4)));
  on("zoom-fit", "click", () => both((one) => one.fit()));
  on("next-wrong", "click", nextWrong);
  on("next-disagreement", "click", nextDisagreement);
  on("extract", "click", () => startExtraction({}, Boolean(known && known.extracted)));
  const scrub = (event) => {
    const box = part("overview").getBoundingClientRect();
    go(1 + Math.floor(((event.clientX - box.left) / box.width) * table.size));
  };
  on("overview", "pointerdown", (event) => {
    part("overview").setPointerCapture(event.pointerId);
    scrub(event);
  });
  on("overview", "pointermove", (event) => event.buttons && scrub(event));
  on("keys", "click", () => part("sheet").showModal());
  on("open-file", "click", () => part("upload").click());
  on("upload", "change", () => receive(part("upload").files[0], bench).finally(() => (part("upload").value = "")));
  document.querySelectorAll("[data-file]").forEach((button) => button.addEventListener("click", () => saveFile(button.dataset.file, problem)));
  document.addEventListener("dragover", (event) => event.preventDefault());
  document.addEventListener("drop", (event) => {
    event.preventDefault();
    receive(event.dataTransfer.files[0], bench);
  });
  new ResizeObserver(() => table.data && both((one) => one.fit(one.width))).observe(part("bench"));
}

const KEYS = {
  ArrowLeft: () => go(selection.step - 1), ArrowRight: () => go(selection.step + 1),
  Home: () => go(1), End: () => go(table.size), " ": play,
  n: nextWrong, d: nextDisagreement, "+": () => both((one) => one.zoom(1.4)), "-": () => both((one) => one.zoom(1 / 1.4)),
  0: () => both((one) => one.fit()), "/": () => part("word").select(), "?": () => part("sheet").showModal(),
};

function introduce() {
  let seen = false;
  try { seen = Boolean(window.localStorage.getItem("introduced")); } catch (error) { /* then every visit is the first */ }
  part("intro").hidden = seen;
  on("intro-close", "click", () => {
    part("intro").hidden = true;
    try { window.localStorage.setItem("introduced", "yes"); } catch (error) { /* see above */ }
  });
}

export function chooseState(name) {
  selection.state = name;
  remember();
  light(selection.step, name);
  openDrawer("automaton");
}

async function begin() {
  readAddress();
  const first = JSON.parse(part("at-first")?.textContent || "{}");
  introduce();
  setKind();
  if (first.network) {
    selection.word ??= first.chosen;
    part("network").append(element("option", first.network.title, { value: selection.network }));
    tries += 1;
    networkShown(first.network);
    if (selection.raw) showNetwork();
    else showWord(first.word || null);
    showJobs(first.network);
  } else await showNetwork();
  remember();
  openDrawer(selection.drawer, true);
  fillNetworks();
}

window.addEventListener("popstate", () => {
  const { network, raw } = selection;
  readAddress();
  setKind();
  part("against").dataset.kind = "";
  openDrawer(selection.drawer, true);
  if (network !== selection.network || raw !== selection.raw || !known) showNetwork();
  else showWord();
});

watchControls();
watchKeys(KEYS, () => openDrawer(""));
watchCompare({ table, second, go, current: () => wordTries });
watchDrawing(chooseState);
watchDrawers({ openWord, saveFile: (suffix) => saveFile(suffix, problem), opened, chooseState, network: (name) => {
  Object.assign(selection, { network: name, step: 1, state: null, raw: false });
  remember(true);
  showNetwork().then(() => fillNetworks()).then(() => remember());
} });
watchJobs({ changed: () => showNetwork(), problem });
begin();
