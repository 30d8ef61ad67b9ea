// The workbench: what is chosen is asked for, shown in every part at once, and kept in the address.
//
// page.js      the selection, its address, questions to the server, colours, elements
// steps.js     one step in every part; table.js draws a word's table, automaton.js the automaton
// word.js      the word on the bench; compare.js another run under it
// network.js   the network, its list, its claims and the words that they name
// controls.js  buttons, boxes and keys; keys.js, play.js, files.js, jobs.js
// drawers.js   the drawers; dash.js what Dash shows in them

import { part, readAddress, remember, selection } from "./page.js";
import { light, showBefore, watchDrawing } from "./automaton.js";
import { watchCompare } from "./compare.js";
import { watchControls } from "./controls.js";
import { openDrawer, watchDrawers } from "./drawers.js";
import { opened, remembered, saveFile } from "./files.js";
import { watchJobs } from "./jobs.js";
import { beside, fillNetworks, known, openWord, setKind, showFirst, showNetwork } from "./network.js";
import { go, second, table } from "./steps.js";
import { lastTry, problem, showWord } from "./word.js";

function chooseState(name, raw = selection.raw) {
  Object.assign(selection, { state: name, raw });
  remember();
  light(selection.step);
  openDrawer("automaton");
}

function chooseNetwork(name) {
  openDrawer("", true);
  Object.assign(selection, { network: name, step: 1, state: null, raw: false });
  if (selection.other === name) selection.against = ""; // beside itself there is nothing to see
  remember(true);
  showNetwork().then(() => fillNetworks()).then(() => remember());
}

function introduce() {
  let seen = false;
  try { seen = Boolean(window.localStorage.getItem("introduced")); } catch (error) { /* then every visit is the first */ }
  part("intro").hidden = seen;
  part("intro-close").addEventListener("click", () => {
    part("intro").hidden = true;
    try { window.localStorage.setItem("introduced", "yes"); } catch (error) { /* see above */ }
  });
}

async function begin() {
  readAddress();
  const first = JSON.parse(part("at-first")?.textContent || "{}");
  introduce();
  setKind();
  if (first.network) showFirst(first);
  else await showNetwork();
  remember();
  openDrawer(selection.drawer, true);
  fillNetworks();
}

window.addEventListener("popstate", () => {
  const { network } = selection;
  readAddress();
  setKind();
  part("against").dataset.kind = "";
  openDrawer(selection.drawer, true);
  if (network !== selection.network || !known) showNetwork();
  else {
    showBefore();
    showWord();
  }
});

watchControls();
watchCompare({ table, second, go, current: lastTry });
watchDrawing(chooseState);
watchDrawers({ openWord, saveFile: (suffix) => saveFile(suffix, problem), opened, chooseState, network: chooseNetwork, before: () => known?.automaton?.before, lit: () => light(selection.step) });
watchJobs({ changed: showNetwork, problem, network: chooseNetwork, beside, made: (network) => remembered(network) && fillNetworks() });
begin();
