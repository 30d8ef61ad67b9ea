// The word: asked for and shown in every part, what is said of it, and what stands there while it is not.

import { ask, asked, choose, element, part, selection, tried } from "./page.js";
import { light, setRun } from "./automaton.js";
import { nameOf, showAgainst } from "./compare.js";
import { drawerChanged } from "./drawers.js";
import { go, second, table } from "./steps.js";

const LONG = 500; // symbols of a word, as in requests.py

let tries = 0; // questions for a word, of which only the last one is shown
let slow = null, others = 0;

export const lastTry = () => tries;

// What is on its way is not shown any more.
export const dropWord = () => void (tries += 1);

export const problem = (text) => void (part("problem").textContent = text || "");

// Nothing of an earlier network or word stays under a new name.
export function clearWord(busy) {
  table.clear();
  second.clear();
  part("table-2").hidden = true;
  for (const id of ["sentence", "steps", "word-python", "stacks"]) part(id).replaceChildren();
  part("overview").getContext("2d").clearRect(0, 0, 10_000, 100);
  setRun(null, null);
  light(1);
  busyWith(busy);
}

function busyWith(text) {
  part("busy").textContent = text || "";
  part("busy").hidden = !text;
  part("bench").setAttribute("aria-busy", text ? "true" : "false");
}

// Shows the selected word; `first` is what the server put into the page, all of the word or its beginning.
export async function showWord(first = null) {
  const mine = (tries += 1), last = () => mine === tries;
  part("word").value = selection.word ?? "";
  if (!first) clearTimeout(slow);
  slow = setTimeout(() => last() && clearWord("reading the word …"), 150);
  const shown = (found) => {
    clearTimeout(slow);
    busyWith(found.of ? "reading the rest of the word …" : "");
    problem("");
    wordShown(found);
  };
  await tried(async () => {
    const begun = first ? (first.of ? first : null) : await beginning();
    if (!last()) return;
    if (begun) shown(begun);
    const wait = (said) => last() && (begun ? busyWith(said) : clearWord(said));
    const found = (first && !first.of && first) || (await ask("word", asked(), { stop: () => !last(), wait }));
    if (!last() || !found) return;
    shown(found);
    await showAgainst(mine);
  }, (said) => {
    if (!last()) return;
    clearTimeout(slow);
    clearWord("");
    problem(said);
  });
}

// What is near the step comes first where the word is long and the step an early one.
async function beginning() {
  if ((selection.word ?? "").length <= LONG || selection.against) return null;
  return (await ask("word", { ...asked(), step: selection.step, beginning: 1 })).beginning;
}

function wordShown(found) {
  setRun(found.run, found.before);
  table.step = Math.max(1, Math.min(found.letters.length || 1, selection.step));
  table.show(found, selection.against ? nameOf(found) : "");
  const steps = found.of || found.letters.length;
  part("steps").textContent = `of ${steps.toLocaleString("en")}`;
  part("step").max = Math.max(1, steps);
  part("word-python").textContent = found.python;
  part("next-wrong").disabled = !found.wrong.length && !found.parts;
  part("sentence").replaceChildren(...told(found.sentence));
  go(table.step);
  if (!found.of) drawerChanged();
  requestAnimationFrame(() => performance.mark("word shown"));
}

// A sentence whose steps are links and whose verdicts have a mark.
export const told = (parts) => parts.map(({ step, text, good }) => {
  if (step) return element("button", text, { type: "button", onclick: () => go(step) });
  return good === undefined ? element("span", text) : element("span", `${good ? "✓" : "✗"} ${text}`, { class: good ? "good" : "bad" });
});

export function nextWrong() {
  const places = [...(table.data?.wrong || []), table.data?.parts].filter(Boolean).sort((a, b) => a - b);
  if (places.length) go(places.find((step) => step > selection.step) || places[0]);
}

export const chooseWord = (word) => (word === selection.word && table.data ? null : choose({ word }));

export const anotherWord = () => tried(async () => {
  others += 1;
  chooseWord((await ask("other-word", { network: selection.network, seed: others })).word);
}, problem);
