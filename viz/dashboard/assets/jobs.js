// Extractions: a job belongs to its network and its settings; whoever looks at the network sees it and can cancel it.

import { Problem, ask, element, part, selection } from "./page.js";

const LOOK = 500; // milliseconds between two looks at a job that runs

let acts = null, timer = null, watched = null;

export function watchJobs(given) {
  acts = given;
}

export async function startExtraction(settings, again) {
  try {
    told(selection.network, await ask("extract", {}, { post: { network: selection.network, settings, again } }));
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    acts.problem(error.message);
  }
}

async function cancel(settings) {
  told(selection.network, await ask("cancel", {}, { post: { network: selection.network, settings } }));
}

export async function showJobs(network) {
  clearTimeout(timer);
  watched = null;
  part("job").hidden = true;
  if (network.network !== selection.network) return;
  look();
}

async function look() {
  const network = selection.network;
  try {
    const found = await ask("extractions", { network });
    if (network === selection.network) told(network, found);
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
  }
}

function told(network, { extractions, stages }) {
  clearTimeout(timer);
  const running = extractions.filter((one) => one.running), last = extractions[0];
  const place = part("job"), was = watched;
  watched = running.length ? network : null;
  part("extract").disabled = running.length > 0;
  place.hidden = !running.length && !(was && last && last.problem);
  place.replaceChildren(...running.flatMap((one) => [
    element("progress", "", { max: stages.length, value: one.done, "aria-label": "progress of the extraction" }),
    element("span", one.stage, { role: "status", class: "stage" }),
    element("button", "cancel", { type: "button", class: "cancel", onclick: () => cancel(one.settings) }),
  ]));
  if (running.length) timer = setTimeout(look, LOOK);
  else if (was === network) {
    if (last && last.problem) place.append(element("p", last.problem, { role: "alert", class: "bad" }));
    else acts.changed();
  }
}
