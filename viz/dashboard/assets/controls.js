// What buttons, boxes and keys do.

import { dark, kept, part, remember, selection } from "./page.js";
import { drawAutomaton, showBefore } from "./automaton.js";
import { changeStep, showAgainst } from "./compare.js";
import { drawerChanged, openDrawer } from "./drawers.js";
import { receive, saveFile } from "./files.js";
import { startExtraction } from "./jobs.js";
import { watchKeys } from "./keys.js";
import { chooseChip, fillNetworks, known, nextDisagreement, showNetwork } from "./network.js";
import { both, go, table, watchOverview } from "./steps.js";
import { anotherWord, chooseWord, lastTry, nextWrong, problem, showWord } from "./word.js";

const PLAY = 600; // milliseconds a step
let playing = null;

// A step every so often, from the start once the end is reached, until the end or until it is stopped.
function play() {
  const stop = () => {
    playing = clearInterval(playing);
    part("play").setAttribute("aria-label", "play");
  };
  if (playing) return stop();
  if (selection.step >= table.size) go(1);
  part("play").setAttribute("aria-label", "stop");
  playing = setInterval(() => {
    go(selection.step + 1);
    if (selection.step >= table.size) stop();
  }, PLAY);
}

const bench = { problem, showNetwork, fillNetworks };
const on = (id, event, act) => part(id).addEventListener(event, act);

export function watchControls() {
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
  on("random", "click", anotherWord);
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
    showAgainst(lastTry());
    document.querySelector("#against input, #against select")?.focus();
  });
  on("change", "click", changeStep);
  on("raw", "change", () => {
    selection.alone = !part("raw").checked;
    remember(true);
    showBefore();
  });
  on("shade", "click", () => {
    kept("theme", document.documentElement.dataset.theme = dark() ? "light" : "dark");
    if (known) drawAutomaton(known.automaton || null);
    both((one) => one.draw());
    go(selection.step);
    drawerChanged();
  });
  on("card-button", "click", () => {
    part("card").hidden = !part("card").hidden;
    part("card-button").setAttribute("aria-expanded", String(!part("card").hidden));
  });
  on("zoom-in", "click", () => both((one) => one.zoom(1.4)));
  on("zoom-out", "click", () => both((one) => one.zoom(1 / 1.4)));
  on("zoom-fit", "click", () => both((one) => one.fit()));
  on("next-wrong", "click", nextWrong);
  on("next-disagreement", "click", nextDisagreement);
  on("extract", "click", () => startExtraction({}, Boolean(known && known.extracted)));
  on("keys", "click", () => part("sheet").showModal());
  on("chips", "click", ({ target }) => target.dataset.chip && chooseChip(target.dataset.chip));
  on("open-file", "click", () => part("upload").click());
  on("upload", "change", async () => {
    await receive(part("upload").files[0], bench);
    part("upload").value = "";
  });
  document.querySelectorAll("[data-file]").forEach((button) => button.addEventListener("click", () => saveFile(button.dataset.file, problem)));
  document.addEventListener("dragover", (event) => event.preventDefault());
  document.addEventListener("drop", (event) => {
    event.preventDefault();
    receive(event.dataTransfer.files[0], bench);
  });
  watchOverview();
  watchKeys(() => openDrawer(""));
}
