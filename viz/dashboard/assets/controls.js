// What buttons, boxes and keys do. A control that has "data-choose" chooses what it is called by: see `choose`.

import { choose, dark, kept, part, selection } from "./page.js";
import { drawAutomaton } from "./automaton.js";
import { changeStep } from "./compare.js";
import { drawerChanged } from "./drawers.js";
import { receive, saveFile } from "./files.js";
import { startExtraction } from "./jobs.js";
import { known, nextDisagreement, visit } from "./network.js";
import { both, go, table } from "./steps.js";
import { anotherWord, chooseWord, nextWrong, problem } from "./word.js";

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

function shade() {
  kept("theme", document.documentElement.dataset.theme = dark() ? "light" : "dark");
  if (known) drawAutomaton(known.automaton || null);
  both((one) => one.draw());
  go(selection.step);
  drawerChanged();
}

const CLICKS = { // by the button's id
  random: anotherWord, play, change: changeStep, shade, "next-wrong": nextWrong, "next-disagreement": nextDisagreement,
  first: () => go(1), back: () => go(selection.step - 1), forward: () => go(selection.step + 1), last: () => go(table.size),
  "zoom-in": () => both((one) => one.zoom(1.4)), "zoom-out": () => both((one) => one.zoom(1 / 1.4)), "zoom-fit": () => both((one) => one.fit()),
  extract: () => startExtraction({}, Boolean(known?.extracted)), keys: () => part("sheet").showModal(), "card-button": showCard, "open-file": () => part("upload").click(),
};

function showCard() {
  part("card").hidden = !part("card").hidden;
  part("card-button").setAttribute("aria-expanded", String(!part("card").hidden));
}

function clicked(event) {
  const link = event.target.closest('a[href^="?"]'), button = event.target.closest("button"), file = button?.dataset.save;
  if (link && !event.ctrlKey && !event.metaKey && !event.shiftKey) {
    event.preventDefault();
    visit(link.getAttribute("href"));
  }
  CLICKS[button?.id]?.();
  if (file) saveFile(file, problem);
  // what is chosen already is chosen no longer
  if (button?.dataset.choose) choose({ [button.dataset.choose]: button.getAttribute("aria-pressed") === "true" ? "" : button.value });
}

function changed({ target }) {
  const { choose: name } = target.dataset;
  if (name) choose({ [name]: target.value });
  // what is to be compared with is asked for next
  if (target.id === "compare") document.querySelector("#against label:not([hidden]) > :is(input, select)")?.focus();
}

// Keys walk wherever the focus is, but where they already mean something: in a box, a list, an open sheet. Each does what
// the button does that names it; Escape closes a drawer.
function pressed(event) {
  const { key, target } = event;
  if (key === "Escape" && !part("sheet").open && selection.drawer && !target.closest("input, textarea, [popover]")) choose({ drawer: "" });
  // a sheet that was just closed holds the focus until the next frame
  const typed = target.closest("textarea, select, dialog[open], .ag-root-wrapper, input:not([type=radio]):not([type=checkbox])");
  const does = key === " " && target.closest("button, summary, input, [role=button]");
  const radio = key.startsWith("Arrow") && target.closest("input[type=radio]");
  const button = document.querySelector(`[data-key="${CSS.escape(key)}"]:not([hidden])`);
  if (!button || typed || does || radio || event.ctrlKey || event.altKey || event.metaKey) return;
  event.preventDefault();
  if (button.matches("input")) button.select();
  else button.click();
}

export function watchControls() {
  const on = (id, event, act) => part(id).addEventListener(event, act);
  document.addEventListener("click", clicked);
  document.addEventListener("change", changed);
  document.addEventListener("keydown", pressed);
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
  on("step", "change", () => go(Number(part("step").value)));
  on("raw", "change", () => choose({ alone: part("raw").checked ? "" : "1" }));
  on("upload", "change", async () => {
    await receive(part("upload").files[0], problem);
    part("upload").value = "";
  });
  document.addEventListener("dragover", (event) => event.preventDefault());
  document.addEventListener("drop", (event) => {
    event.preventDefault();
    receive(event.dataTransfer.files[0], problem);
  });
}
