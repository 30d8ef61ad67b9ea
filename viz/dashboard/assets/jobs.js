// Jobs: one belongs to its network and what is asked; whoever looks at the network sees it and can cancel it.
//
// How far an extraction is stands beside the automaton. A repair is offered beside the claim that it is for, and how far
// it is, and what came of it, stand there.

import { say } from "./drawers.js";
import { ask, fill, part, selection, tried } from "./page.js";
import { fillNetworks, remembered, showNetwork } from "./network.js";
import { problem } from "./word.js";

const LOOK = 500; // milliseconds between two looks at a job that runs

let timer = null, watched = null;

const mend = part("mend"), repaired = part("repaired"); // they come and go with the claims

export function watchJobs() {
  document.addEventListener("click", ({ target }) => {
    const box = part("repair-seconds"); // a repair that only makes actions whole has none
    if (target.dataset.cancel) send("cancel", { key: target.dataset.cancel });
    if (target.id === "repair" && box?.reportValidity() !== false) send("repair", { seconds: box?.value ? Number(box.value) : null });
  });
  part("extraction").addEventListener("submit", (event) => {
    event.preventDefault();
    const given = [...event.target.elements].filter(({ name, value }) => name && value !== "");
    const settings = Object.fromEntries(given.map(({ name, type, value }) => [name, type === "number" ? Number(value) : value]));
    send("extract", { settings, again: true }, say);
  });
}

const send = (route, given, failed = problem) => {
  failed("");
  return tried(async () => shown(selection.network, await ask(route, {}, { post: { network: selection.network, ...given } })), failed);
};

export const startExtraction = (settings, again) => send("extract", { settings, again });

export function showJobs() {
  clearTimeout(timer);
  watched = null;
  part("job").hidden = true;
  fill(repaired);
  look();
}

function look() {
  const { network } = selection;
  return tried(async () => {
    const found = await ask("jobs", { network });
    if (network === selection.network) shown(network, found);
  }, () => {});
}

function shown(network, { jobs, html }) {
  clearTimeout(timer);
  const was = watched, runs = (kind) => jobs.some(({ running, what }) => running && (what === "extract") === kind), extracts = runs(true);
  const place = part("job"), repair = jobs.find(({ what }) => what !== "extract");
  watched = extracts || runs(false) ? { network, extracts } : null;
  if (watched) timer = setTimeout(look, LOOK);
  part("extract").disabled = extracts;
  fill(place, html.extraction);
  fill(repaired, html.repair);
  if (repair) mend.hidden = false;
  if (part("repair")) part("repair").disabled = Boolean(repair?.running);
  if (repair?.network && !repair.running && remembered(repair.network)) fillNetworks();
  const ended = was?.network === network && was.extracts && !extracts, wrong = place.querySelector(".bad");
  place.hidden = !extracts && !(ended && wrong);
  if (ended && !wrong) showNetwork();
}
