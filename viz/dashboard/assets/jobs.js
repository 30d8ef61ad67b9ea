// Jobs: one belongs to its network and what is asked; whoever looks at the network sees it and can cancel it.
//
// How far an extraction is stands beside the automaton. A repair is offered beside the claim that it is for, and how far
// it is, and what came of it, stand there.

import { Problem, ask, element, part, selection } from "./page.js";

const LOOK = 500; // milliseconds between two looks at a job that runs
const SECONDS = 60; // of a repair

const mend = element("div", "", { id: "mend", class: "mend", hidden: true }), offer = element("div"), repaired = element("div", "", { id: "repaired" });
mend.append(offer, repaired);

let acts = null, timer = null, watched = null;

export function watchJobs(given) {
  acts = given;
}

const send = async (route, given) => {
  try {
    told(selection.network, await ask(route, {}, { post: { network: selection.network, ...given } }));
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    acts.problem(error.message);
  }
};

export const startExtraction = (settings, again) => send("extract", { settings, again });

export async function showJobs(network) {
  clearTimeout(timer);
  watched = null;
  part("job").hidden = true;
  repaired.replaceChildren();
  if (network.network === selection.network) look();
}

async function look() {
  const network = selection.network;
  try {
    const found = await ask("jobs", { network });
    if (network === selection.network) told(network, found);
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
  }
}

function told(network, { jobs }) {
  clearTimeout(timer);
  const runs = (one) => one.running, extractions = jobs.filter((one) => one.what === "extract"), repairs = jobs.filter((one) => one.what !== "extract");
  const place = part("job"), was = watched, running = extractions.filter(runs), problem = extractions[0]?.problem;
  watched = jobs.some(runs) ? { network, extracts: running.length > 0 } : null;
  part("extract").disabled = running.length > 0;
  place.hidden = !running.length && !(was?.extracts && problem);
  place.replaceChildren(...running.flatMap((one) => progress(one, "progress of the extraction")));
  showRepair(repairs[0]);
  if (watched) timer = setTimeout(look, LOOK);
  if (was?.network !== network || !was.extracts || running.length) return;
  if (problem) place.append(element("p", problem, { role: "alert", class: "bad" }));
  else acts.changed();
}

const link = (given) => `?${new URLSearchParams(given)}`;

const progress = ({ key, stage, done, of }, label) => [
  element("progress", "", { max: of, value: done, "aria-label": label }),
  element("span", stage, { role: "status", class: "stage" }),
  element("button", "cancel", { type: "button", class: "cancel", onclick: () => send("cancel", { key }) }),
];

// ---- repairs ---------------------------------------------------------------------------------------------------------

// Returns what stands beside the first claim with a word against it, or the certificate; null where nothing is offered.
export function repairOffered(found) {
  mend.hidden = !found;
  offer.replaceChildren();
  if (!found) return null;
  if (found.problem) {
    offer.append(element("p", `This network cannot be repaired: ${found.problem}.`));
    return mend;
  }
  const line = element("p"), seconds = element("input", "", { id: "repair-seconds", type: "number", min: 1, max: 600, value: SECONDS });
  const label = element("label", "at most ", { class: "field" }), tools = element("div", "", { class: "tools" });
  const say = () => void (line.textContent = `${found.says}${found.what === "repair" ? `, for at most ${seconds.value || SECONDS} seconds of computing` : ""}; your file is not changed.`.replace(/^./, (one) => one.toUpperCase()));
  seconds.addEventListener("input", say);
  say();
  label.append(seconds, " seconds");
  label.hidden = found.what !== "repair";
  tools.append(element("button", found.what, { type: "button", id: "repair", "aria-describedby": "repair-says", onclick: () => send("repair", { seconds: seconds.value === "" ? null : Number(seconds.value) }) }), label);
  line.id = "repair-says";
  offer.append(tools, line);
  if (found.command) {
    const shell = element("details");
    shell.append(element("summary", "in a shell"), element("pre", found.command, { tabindex: 0 }));
    offer.append(shell);
  }
  return mend;
}

// How far the last repair of the network is, or what came of it.
function showRepair(job) {
  const start = part("repair");
  if (start) start.disabled = Boolean(job?.running);
  if (!job) return void repaired.replaceChildren();
  mend.hidden = false;
  const { running, lines = [], network, title, word, rounded, problem } = job, made = [];
  if (running) {
    const place = element("div", "", { class: "job" });
    place.append(...progress(job, "progress of the repair"));
    made.push(place);
  }
  if (problem) made.push(element("p", problem, { role: "alert", class: "bad" }));
  if (lines.length) {
    const list = element("pre", "", { tabindex: 0, id: "repair-lines" });
    list.append(...lines.map((line) => element("span", `${line}\n`)));
    made.push(list);
  }
  if (network && !running) {
    const tools = element("div", "", { class: "tools" });
    tools.append(
      element("a", "before and after", { href: link({ against: "network", other: network, word: word ?? selection.word, rounded: rounded ? 1 : 0 }), id: "side-by-side", title: "both networks side by side on the word that broke the one before" }),
      element("a", `open ${title}`, { href: link({ network, drawer: "" }), id: "open-repaired" }),
      element("a", "save as .pt", { href: `/api/file?${new URLSearchParams({ network, suffix: "pt" })}`, download: true }));
    made.push(tools);
    acts.made(network);
  } else if (!running && !problem && lines.length) made.push(element("p", "Nothing was better than the network as it is."));
  // what has been read of it stays where it is while it is looked at again
  const now = JSON.stringify([running && job.stage, running && job.done, lines, network, problem]);
  if (repaired.dataset.now !== now || !repaired.childElementCount) repaired.replaceChildren(...made);
  repaired.dataset.now = now;
}
