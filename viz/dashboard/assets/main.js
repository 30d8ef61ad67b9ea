// The workbench: what is chosen is asked for, shown in every part at once, and kept in the address.
//
// page.js      the selection, its address, questions to the server, colours, elements
// steps.js     one step in every part; table.js draws a word's table, automaton.js the automaton
// word.js      the word on the bench; compare.js another run under it
// network.js   the network, its list, its claims and the words that they name
// controls.js  buttons, boxes and keys; keys.js, files.js, jobs.js
// drawers.js   the drawers; dash.js what Dash shows in them

import { kept, part, readAddress, remember, selection } from "./page.js";
import { light, watchDrawing } from "./automaton.js";
import { watchCompare } from "./compare.js";
import { watchControls } from "./controls.js";
import { openDrawer, watchDrawers } from "./drawers.js";
import { opened, remembered, saveFile } from "./files.js";
import { watchJobs } from "./jobs.js";
import { fillNetworks, follow, known, setKind, showFirst, showNetwork, visit } from "./network.js";
import { go, second, table } from "./steps.js";
import { lastTry, problem } from "./word.js";

function chooseState(name, raw = selection.raw) {
  Object.assign(selection, { state: name, raw });
  remember();
  light(selection.step);
  openDrawer("automaton");
}

function introduce() {
  part("intro").hidden = Boolean(kept("introduced"));
  part("intro-close").addEventListener("click", () => {
    part("intro").hidden = true;
    kept("introduced", "yes");
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
  const before = { ...selection };
  readAddress();
  follow(before);
});
document.addEventListener("click", (event) => {
  const link = event.target.closest('a[href^="?"]');
  if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  visit(link.getAttribute("href"));
});

watchControls();
watchCompare({ table, second, go, current: lastTry });
watchDrawing(chooseState);
watchDrawers({ saveFile: (suffix) => saveFile(suffix, problem), opened, chooseState, before: () => known?.automaton?.before, lit: () => light(selection.step) });
watchJobs({ changed: showNetwork, problem, made: (network) => remembered(network) && fillNetworks() });
begin();
