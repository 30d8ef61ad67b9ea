// The automaton beside the table, before minimisation and after: drawings that can be zoomed and moved, each with where
// its run is. What was merged has one colour in both.

import { choose, colourOf, element, escaped, part, selection } from "./page.js";

const SHOWN = 8; // cells of a stack beside the drawings

class Drawing {
  constructor(raw) {
    const end = raw ? "-raw" : "";
    Object.assign(this, { raw, place: part(`drawing${end}`), line: part(`rule${end}`), run: null, scale: 1 });
  }

  draw(automaton) {
    this.drawn = automaton;
    this.line.textContent = "";
    this.place.innerHTML = automaton?.svg || escaped(automaton?.says ?? "");
    if (automaton) this.place.setAttribute("aria-label", `drawing of the automaton${this.raw ? " before minimisation" : ""}: ${automaton.says}`);
    this.zoom(0);
  }

  // Gives every state the colour of its group, and says what it is in the `other` drawing, too.
  name(other) {
    for (const state of this.place.querySelectorAll(".state")) {
      const number = state.dataset.group ?? (this.raw ? -1 : state.dataset.state); // before minimisation some belong to none
      if (number >= 0) state.style.setProperty("--hue", colourOf("state", number));
      const names = other.partners(state.dataset.group).map((one) => one.dataset.name).join(" and ");
      const also = names && `, ${names} ${this.raw ? "after" : "before"} minimisation`;
      state.setAttribute("tabindex", "0");
      state.setAttribute("role", "button");
      state.setAttribute("aria-label", `state ${state.dataset.name}${also}: its words`);
    }
  }

  partners(group) {
    return group === undefined ? [] : [...this.place.querySelectorAll(`.state[data-group="${group}"]`)];
  }

  // As large as its place, times the scale; larger it is scrolled. What is in the middle stays there; 0 fits it in.
  zoom(factor, x = this.place.clientWidth / 2, y = this.place.clientHeight / 2) {
    const { place } = this, before = this.scale;
    this.scale = Math.max(1, Math.min(20, before * factor));
    place.style.setProperty("--scale", this.scale);
    const share = this.scale / before;
    place.scrollTo((place.scrollLeft + x) * share - x, (place.scrollTop + y) * share - y);
  }

  mark(selector, name) {
    this.place.querySelectorAll(selector).forEach((found) => found.classList.add(name));
  }

  // Where the run is after `step` letters: how many moves it has made, the last of them, and whether it ended before.
  at(step) {
    const { run } = this, through = Math.min(step, run.taken.length), moves = through ? run.taken[through - 1] : 0;
    const ended = step > run.taken.length;
    return { moves, ended, state: through ? run.after[through - 1] : run.initial, taken: ended ? undefined : run.moves[moves - 1] };
  }

  light(step) {
    for (const lit of this.place.querySelectorAll(".lit, .stuck, .chosen")) lit.classList.remove("lit", "stuck", "chosen");
    if (selection.state && selection.raw === this.raw) this.mark(`.state[data-name="${CSS.escape(selection.state)}"]`, "chosen");
    const { run } = this;
    if (!run) return void (this.line.textContent = "");
    const { state, taken, ended } = this.at(step);
    this.mark(`.state[data-state="${state}"]`, ended && run.stuck ? "stuck" : "lit");
    if (taken !== undefined) {
      const [from, to] = run.rules[taken];
      this.mark(`.edge[data-from="${from}"][data-to="${to}"]`, "lit");
      for (const line of this.place.querySelectorAll(".rule")) {
        if (line.dataset.rules.split(" ").includes(String(taken))) line.classList.add("lit");
      }
    }
    this.line.textContent = ended && run.stuck ? run.stuck : taken === undefined ? "" : `${run.states[run.rules[taken][0]]}: ${run.rules[taken][3]}`;
    const lit = this.scale > 1 && this.place.querySelector(".state.lit, .state.stuck");
    if (!lit) return;
    const is = lit.getBoundingClientRect(), frame = this.place.getBoundingClientRect(); // brought into view
    if (is.left < frame.left || is.right > frame.right || is.top < frame.top || is.bottom > frame.bottom) {
      this.place.scrollBy((is.left + is.right - frame.left - frame.right) / 2, (is.top + is.bottom - frame.top - frame.bottom) / 2);
    }
  }

  // A mouse that is held moves what is larger than its place; a finger, a wheel and keys do that by themselves.
  watch() {
    const { place } = this;
    let moved = 0;
    place.addEventListener("pointerdown", () => (moved = 0));
    place.addEventListener("pointermove", ({ buttons, pointerType, movementX, movementY }) => {
      if (!buttons || pointerType !== "mouse") return;
      moved += Math.hypot(movementX, movementY);
      place.scrollBy(-movementX, -movementY);
    });
    place.addEventListener("click", ({ target, detail }) => {
      const state = target.closest(".state"), edge = target.closest(".edge");
      if (moved > 4 && detail) return; // not of a key
      if (state) choose({ raw: this.raw ? "1" : "", state: state.dataset.name, drawer: "automaton" });
      else if (edge && edge.dataset.from !== "") showRules(this.drawn, Number(edge.dataset.from), Number(edge.dataset.to));
    });
    place.addEventListener("wheel", (event) => {
      if (!event.ctrlKey) return;
      event.preventDefault();
      const frame = place.getBoundingClientRect();
      this.zoom(event.deltaY < 0 ? 1.2 : 1 / 1.2, event.clientX - frame.left, event.clientY - frame.top);
    }, { passive: false });
    for (const event of ["pointerover", "focusin"]) place.addEventListener(event, ({ target }) => showPartners(target.closest(".state")));
    for (const event of ["pointerleave", "focusout"]) place.addEventListener(event, () => showPartners(null));
  }
}

const minimised = new Drawing(false), before = new Drawing(true), drawings = [minimised, before];

export function drawAutomaton(automaton) {
  part("rules").hidden = true;
  part("stacks").replaceChildren();
  part("merged").textContent = automaton ? automaton.merged : "";
  part("raw-choice").hidden = !automaton?.before;
  minimised.draw(automaton);
  before.draw(automaton?.before);
  minimised.name(before);
  before.name(minimised);
  showBefore();
  for (const chip of document.querySelectorAll("#meanings .chip")) chip.style.setProperty("--hue", colourOf("stack", chip.dataset.symbol));
}

// Before minimisation or not: beside the automaton, or hidden.
export function showBefore() {
  const both = Boolean(before.drawn) && !selection.alone;
  part("raw").checked = !selection.alone;
  part("before").hidden = !both;
  part("drawings").classList.toggle("both", both);
}

// The same states in the other drawing: those of the state under the mouse or in focus, else of the one that is chosen.
function showPartners(state) {
  for (const one of document.querySelectorAll("#drawings .partner")) one.classList.remove("partner");
  const from = state || document.querySelector("#drawings .state.chosen");
  if (!from) return;
  const other = minimised.place.contains(from) ? before : minimised;
  for (const one of other.partners(from.dataset.group)) one.classList.add("partner");
}

// The runs on the word: of the automaton, and of the one before minimisation, null for none.
export const setRun = (...runs) => drawings.forEach((one, number) => (one.run = runs[number]));

// Where the runs are after `step` letters.
export function light(step) {
  drawings.forEach((one) => one.light(step));
  showPartners(null);
  if (!minimised.run) return;
  const { moves, taken } = minimised.at(step);
  if (taken === undefined || !part("before").hidden) part("rules").hidden = true; // beside another the line has to do
  else {
    const [from, to, , rule] = minimised.run.rules[taken];
    showRules(minimised.drawn, from, to, rule);
  }
  showStacks(minimised.run, moves);
}

// Rules of an edge stand below the drawing: of the `rule` that is taken where they have no room at their edge.
function showRules(drawn, from, to, rule = null) {
  const place = part("rules"), edge = drawn && drawn.edges.find((one) => one.from === from && one.to === to);
  place.hidden = !edge || (rule !== null && !edge.folded);
  if (place.hidden) return;
  place.replaceChildren(...edge.rules.map((line) => element("div", line, { class: line === rule ? "lit" : null })));
  const lit = place.querySelector(".lit");
  if (lit) place.scrollTop = lit.offsetTop - place.offsetTop - place.clientHeight / 2;
}

function showStacks(run, moves) {
  const stacks = Array.from({ length: run.stacks }, () => []);
  for (let i = 0; i < moves; i += 1) {
    const operations = run.rules[run.moves[i]][2];
    for (let number = 0; number < operations.length; number += 1) {
      if (operations[number][0]) stacks[number].pop();
      if (operations[number][1] !== null) stacks[number].push(operations[number][1]);
    }
  }
  part("stacks").replaceChildren(...stacks.map((stack, number) => {
    const name = run.stacks > 1 ? `stack ${number + 1}` : "stack", list = element("ol", "", { "aria-label": `${name}, the top first` });
    list.append(element("li", name, { class: "name" }));
    for (const symbol of stack.slice(-SHOWN).reverse()) {
      list.append(element("li", symbol, { class: "cell", style: `--hue: ${colourOf("stack", run.symbols.indexOf(symbol))}` }));
    }
    if (stack.length > SHOWN) list.append(element("li", `… ${stack.length - SHOWN} more`, { class: "more" }));
    list.append(element("li", run.bottom, { class: "bottom" }));
    return list;
  }));
}

export function watchDrawing() {
  drawings.forEach((one) => one.watch());
  for (const [id, factor] of Object.entries({ fit: 0, closer: 1.3, farther: 1 / 1.3 })) {
    part(id).addEventListener("click", () => drawings.forEach((one) => one.zoom(factor)));
  }
}
