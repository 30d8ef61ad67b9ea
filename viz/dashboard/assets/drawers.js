// The drawers under the bench: networks, a sweep, checks, many words, accuracy, rules and states, causes, figures,
// papers, extraction. What is chosen in them stands in the page; figures and tables are Dash's.

import { ask, choose, dark, kept, part, selection, tried } from "./page.js";
import { hideDash, showInDash } from "./dash.js";

const ALONE = new Set(["networks", "words", "extract", "sweep"]); // these follow neither word nor network
const PLAIN = new Set(["networks", "extract"]); // nothing in these is Dash's

let before = "", drawn = "", seed = 0; // what Dash shows; of which network there are words

const openers = () => [...document.querySelectorAll("[data-drawer]")];

export function watchDrawers() {
  for (const one of openers()) one.addEventListener("click", () => choose({ drawer: selection.drawer === one.dataset.drawer ? "" : one.dataset.drawer }));
  part("drawer-close").addEventListener("click", () => choose({ drawer: "" }));
  part("grip").addEventListener("input", () => dock(part("grip").value));
  part("judge").addEventListener("click", fillDrawer);
  part("only").addEventListener("change", fillDrawer);
  part("other-words").addEventListener("click", () => otherWords().then(fillDrawer));
  dock(kept("dock") || 40);
}

// How high the drawers are, in percent of the page: so they stay.
function dock(percent) {
  part("grip").value = percent;
  document.documentElement.style.setProperty("--dock", `${part("grip").value}vh`);
  kept("dock", part("grip").value);
}

// Shows the drawer that is selected, or none; there was another one `before`.
export function showDrawer(closed, silent = false) {
  const named = (name) => openers().find((one) => one.dataset.drawer === name), opener = named(selection.drawer);
  named("sweep").hidden = !selection.sweep;
  for (const one of openers()) one.setAttribute("aria-expanded", String(one === opener));
  for (const one of part("drawer-body").children) one.hidden = one.dataset.of !== selection.drawer;
  part("drawer").hidden = !opener;
  if (!opener) {
    hideDash();
    before = "";
    if (!silent) named(closed)?.focus();
    return;
  }
  part("drawer-title").textContent = opener.dataset.title ?? opener.textContent;
  if (!silent) {
    part("drawer").scrollIntoView({ block: "start" });
    part("drawer-title").focus({ preventScroll: true });
  }
  fillDrawer();
}

// Another word, network, step's state or theme: what is open follows.
export function drawerChanged() {
  if (selection.drawer && !ALONE.has(selection.drawer)) fillDrawer();
}

async function otherWords() {
  const { network } = selection;
  await tried(async () => {
    part("many").value = (await ask("words", { network, seed })).words;
  }, () => {});
  drawn = network;
  seed += 1;
}

async function fillDrawer() {
  const { drawer, network, word, rounded, raw, state, sweep } = selection, now = `${drawer} ${network}`;
  if (PLAIN.has(drawer)) return hideDash();
  part("figure").value ||= "paper"; // an address may ask for anything
  if (drawer === "words" && drawn !== network) await otherWords();
  if (drawer !== selection.drawer) return;
  const table = drawer === "papers" ? selection.table || part("paper").options[0].value : selection.rows;
  const words = drawer === "words" ? part("many").value : "", different = part("only").checked;
  showInDash({ drawer, network, word: word ?? "", rounded, raw, state, figure: part("figure").value, table, sweep, words, different, theme: dark() ? "dark" : "light" }, now !== before);
  before = now;
}
