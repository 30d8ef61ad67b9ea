// The workbench: what is chosen is asked for, shown in every part at once, and kept in the address.
//
// page.js      the selection, its address, questions to the server, colours, elements
// steps.js     one step in every part; table.js draws a word's table, automaton.js the automaton
// word.js      the word on the bench; compare.js another run under it; change.js what is changed there
// network.js   the network, its list, its claims and the words that they name; what follows a choice
// controls.js  buttons, boxes and keys; files.js, jobs.js
// drawers.js   the drawers; dash.js what Dash shows in them

import { kept, part, readAddress, remember, selection, showChosen, whenChosen } from "./page.js";
import { watchDrawing } from "./automaton.js";
import { watchChange } from "./change.js";
import { watchControls } from "./controls.js";
import { watchDash } from "./dash.js";
import { showDrawer, watchDrawers } from "./drawers.js";
import { remembered } from "./files.js";
import { watchJobs } from "./jobs.js";
import { fillNetworks, follow, showFirst, showNetwork } from "./network.js";
import { table, watchOverview } from "./steps.js";
import { problem } from "./word.js";

async function begin() {
  const first = JSON.parse(part("at-first")?.textContent || "{}");
  readAddress();
  showChosen();
  part("intro").hidden = Boolean(kept("introduced"));
  part("intro-close").addEventListener("click", () => {
    part("intro").hidden = true;
    kept("introduced", "yes");
  });
  if (first.network) showFirst(first);
  else await showNetwork();
  remember();
  showDrawer("", true);
  fillNetworks();
}

window.addEventListener("popstate", () => {
  const before = { ...selection };
  readAddress();
  follow(before, true);
});
whenChosen(follow);
watchControls();
watchOverview();
watchChange(table);
watchDrawing();
watchDrawers();
watchDash();
watchJobs({ changed: showNetwork, problem, made: (network) => remembered(network) && fillNetworks() });
begin();
