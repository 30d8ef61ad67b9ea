// The workbench: what is chosen is asked for, shown in every part at once, and kept in the address. Here is what buttons,
// boxes and keys do; a control that has "data-choose" chooses what it is called by, see `choose`.
//
// page.js: the selection, its address, questions to the server. word.js: the word on the bench, step by step; table.js draws
// its table, automaton.js the automaton. compare.js: another run under it, and what is changed in it. network.js: the network,
// its claims, files, what follows a choice. drawers.js: the drawers, and what Dash shows in them. jobs.js: extractions, repairs.

import { choose, dark, kept, part, readAddress, selection, whenChosen } from "./page.js";
import { watchDrawing } from "./automaton.js";
import { changeStep, watchChange } from "./compare.js";
import { drawerChanged, showDrawer, watchDrawers } from "./drawers.js";
import { startExtraction, watchJobs } from "./jobs.js";
import { follow, known, nextDisagreement, receive, saveFile, showNetwork, visit } from "./network.js";
import { anotherWord, both, go, nextWrong, table, watchOverview } from "./word.js";

const PLAY = 600; // milliseconds a step
let playing = null, typing = null;

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
  document.documentElement.dataset.theme = dark() ? "light" : "dark";
  document.cookie = `theme=${document.documentElement.dataset.theme}; path=/; max-age=31536000; samesite=lax`;
  both((one) => one.draw());
  go(selection.step);
  drawerChanged();
}

const CLICKS = { // by the button's id
  random: anotherWord, play, change: changeStep, shade, "next-wrong": nextWrong, "next-disagreement": nextDisagreement,
  first: () => go(1), back: () => go(selection.step - 1), forward: () => go(selection.step + 1), last: () => go(table.size),
  "zoom-in": () => both((one) => one.zoom(1.4)), "zoom-out": () => both((one) => one.zoom(1 / 1.4)), "zoom-fit": () => both((one) => one.fit()),
  extract: () => startExtraction({}, Boolean(known?.extracted)), keys: () => part("sheet").showModal(),
  "card-button": () => part("card-button").setAttribute("aria-expanded", String(!part("card").toggleAttribute("hidden"))),
  "intro-close": () => kept("introduced", part("intro").hidden = true), "open-file": () => part("upload").click(),
};

function clicked(event) {
  const link = event.target.closest('a[href^="?"]'), button = event.target.closest("button"), file = button?.dataset.save;
  if (link && !event.ctrlKey && !event.metaKey && !event.shiftKey) {
    event.preventDefault();
    visit(link.getAttribute("href"));
  }
  CLICKS[button?.id]?.();
  if (file) saveFile(file);
  // what is chosen already is chosen no longer
  if (button?.dataset.choose) choose({ [button.dataset.choose]: button.getAttribute("aria-pressed") === "true" ? "" : button.value });
}

function changed({ target }) {
  const { choose: name } = target.dataset;
  clearTimeout(typing); // it is meant now
  if (name) choose({ [name]: target.value });
  // what is to be compared with is asked for next
  if (target.id === "compare") document.querySelector("#against label:not([hidden]) > :is(input, select)")?.focus();
}

// Keys walk wherever the focus is, but where they already mean something: in a box, a list, an open sheet. Each does what
// the button does that names it; Escape closes a drawer.
function pressed(event) {
  const { key, target } = event;
  if (key === "Escape" && !part("sheet").open && selection.drawer && !target.closest("input, textarea, [popover]")) choose({ drawer: "" });
  const made = target.closest("[role=button]"); // a state of a drawing
  if (made && (key === "Enter" || key === " ")) {
    event.preventDefault();
    return void made.dispatchEvent(new MouseEvent("click", { bubbles: true }));
  }
  // a sheet that was just closed holds the focus until the next frame
  const typed = target.closest("textarea, select, dialog[open], .ag-root-wrapper, input:not([type=radio]):not([type=checkbox])");
  const does = key === " " && target.closest("button, summary, input");
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
  on("word", "input", () => {
    clearTimeout(typing);
    typing = setTimeout(() => choose({ word: part("word").value }), 500);
  });
  on("word", "keydown", ({ key }) => (key === "Enter" || key === "Escape") && part("word").blur()); // the arrow keys walk again
  on("step", "change", () => go(Math.round(Number(part("step").value))));
  on("raw", "change", () => choose({ alone: part("raw").checked ? "" : "1" }));
  on("upload", "change", ({ target }) => {
    receive(target.files[0]);
    target.value = ""; // so that the same file can be opened again
  });
  document.addEventListener("dragover", (event) => event.preventDefault());
  document.addEventListener("drop", (event) => {
    event.preventDefault();
    receive(event.dataTransfer.files[0]);
  });
}

function begin() {
  const first = JSON.parse(part("at-first")?.textContent || "{}");
  readAddress();
  selection.word ??= first.chosen ?? null;
  part("intro").hidden = Boolean(kept("introduced"));
  showNetwork(first.network ? first : null);
  showDrawer("", true);
}

window.addEventListener("popstate", () => {
  const before = { ...selection };
  readAddress();
  follow(before, true);
});
whenChosen(follow);
watchControls();
watchOverview();
watchChange();
watchDrawing();
watchDrawers();
watchJobs();
begin();
