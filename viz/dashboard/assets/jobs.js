// Jobs: one belongs to its network and what is asked; whoever looks at the network sees it and can cancel it.
//
// How far an extraction is stands beside the automaton. A repair is offered beside the claim that it is for, and how far
// it is, and what came of it, stand there.

import { ask, copyOf, element, part, selection, tried } from "./page.js";

const LOOK = 500; // milliseconds between two looks at a job that runs

const offer = element("div"), repaired = element("div", "", { id: "repaired" });
const mend = element("div", [offer, repaired], { id: "mend", class: "mend", hidden: true });

let acts = null, timer = null, watched = null;

export function watchJobs(given) {
  acts = given;
}

const send = (route, given) => tried(
  async () => told(selection.network, await ask(route, {}, { post: { network: selection.network, ...given } })), acts.problem);

export const startExtraction = (settings, again) => send("extract", { settings, again });

export function showJobs({ network }) {
  clearTimeout(timer);
  watched = null;
  part("job").hidden = true;
  repaired.replaceChildren();
  if (network === selection.network) look();
}

function look() {
  const { network } = selection;
  return tried(async () => {
    const found = await ask("jobs", { network });
    if (network === selection.network) told(network, found);
  }, () => {});
}

function told(network, { jobs }) {
  clearTimeout(timer);
  const runs = (one) => one.running, extractions = jobs.filter((one) => one.what === "extract");
  const place = part("job"), was = watched, running = extractions.filter(runs), problem = extractions[0]?.problem;
  watched = jobs.some(runs) ? { network, extracts: running.length > 0 } : null;
  part("extract").disabled = running.length > 0;
  place.hidden = !running.length && !(was?.extracts && problem);
  place.replaceChildren(...running.flatMap((one) => progress(one, "progress of the extraction")));
  showRepair(jobs.find((one) => one.what !== "extract"));
  if (watched) timer = setTimeout(look, LOOK);
  if (was?.network !== network || !was.extracts || running.length) return;
  if (problem) place.append(wrong(problem));
  else acts.changed();
}

const wrong = (problem) => element("p", problem, { role: "alert", class: "bad" });

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
  const form = copyOf("repair-form"), [start, seconds] = form.querySelectorAll("button, input"), timed = found.what === "repair";
  const within = () => (timed ? `, for at most ${seconds.value || seconds.defaultValue} seconds of computing` : "");
  const says = `${found.says[0].toUpperCase()}${found.says.slice(1)}`;
  seconds.oninput = () => (form.querySelector("p").textContent = `${says}${within()}; your file is not changed.`);
  seconds.oninput();
  seconds.parentNode.hidden = !timed;
  start.textContent = found.what;
  start.onclick = () => send("repair", { seconds: seconds.value === "" ? null : Number(seconds.value) });
  form.querySelector("details").hidden = !found.command;
  form.querySelector("pre").textContent = found.command;
  offer.append(form);
  return mend;
}

// How far the last repair of the network is, or what came of it.
function showRepair(job) {
  if (part("repair")) part("repair").disabled = Boolean(job?.running);
  if (!job) return void repaired.replaceChildren();
  mend.hidden = false;
  const { running, lines = [], network, title, word, rounded, problem } = job, nothing = !running && !network && !problem && lines.length;
  const beside = { against: "network", other: network, word: word ?? selection.word, rounded: rounded ? 1 : 0 };
  const link = (text, given, more = {}) => element("a", text, { href: `?${new URLSearchParams(given)}`, ...more });
  const made = [
    running && element("div", progress(job, "progress of the repair"), { class: "job" }),
    problem && wrong(problem),
    lines.length && element("pre", lines.map((line) => element("span", `${line}\n`)), { tabindex: 0, id: "repair-lines" }),
    network && !running && element("div", [
      link("before and after", beside, { id: "side-by-side", title: "both networks side by side on the word that broke the one before" }),
      link(`open ${title}`, { network, drawer: "" }, { id: "open-repaired" }),
      element("a", "save as .pt", { href: `/api/file?${new URLSearchParams({ network, suffix: "pt" })}`, download: true }),
    ], { class: "tools" }),
    nothing && element("p", "Nothing was better than the network as it is."),
  ].filter(Boolean);
  if (network && !running) acts.made(network);
  // what has been read of it stays where it is while it is looked at again
  const now = JSON.stringify([running && job.stage, running && job.done, lines, network, problem]);
  if (repaired.dataset.now !== now || !repaired.childElementCount) repaired.replaceChildren(...made);
  repaired.dataset.now = now;
}
