// The automaton beside the table, before minimisation and after: drawings that can be zoomed, moved and rearranged, each
// with where its run is. What was merged has one colour in both.

import { colourOf, element, part, selection, stateColour, tint } from "./page.js";

const SHOWN = 8; // cells of a stack beside the drawings

class Drawing {
  constructor(raw) {
    const end = raw ? "-raw" : "";
    Object.assign(this, { raw, place: part(`drawing${end}`), line: part(`rule${end}`), run: null });
  }

  draw(automaton) {
    Object.assign(this, { drawn: automaton, arranged: new Map(), base: null, view: null });
    this.place.replaceChildren();
    this.line.textContent = "";
    if (!automaton) return;
    this.place.setAttribute("aria-label", `drawing of the automaton${this.raw ? " before minimisation" : ""}: ${automaton.says}`);
    if (!automaton.svg) {
      this.place.append(element("p", automaton.says));
      return;
    }
    const read = new DOMParser().parseFromString(automaton.svg, "image/svg+xml"); // nothing in it is run
    const svg = document.importNode(read.documentElement, true);
    svg.removeAttribute("width");
    svg.removeAttribute("height");
    for (const one of svg.querySelectorAll(".state")) {
      const number = one.dataset.group ?? (this.raw ? -1 : one.dataset.state); // before minimisation some belong to none
      if (number >= 0) one.style.setProperty("--mark", stateColour(Number(number)));
    }
    this.place.append(svg);
    const [x, y, width, height] = svg.getAttribute("viewBox").split(/[ ,]+/).map(Number);
    this.base = { x, y, width, height };
    this.fit();
  }

  // Says of every state what it is in the `other` drawing, too.
  name(other) {
    for (const state of this.place.querySelectorAll(".state")) {
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

  fit() {
    this.view = this.base && { ...this.base };
    this.look();
  }

  look() {
    const svg = this.place.querySelector("svg");
    if (svg && this.view) svg.setAttribute("viewBox", `${this.view.x} ${this.view.y} ${this.view.width} ${this.view.height}`);
  }

  zoom(factor, at = null) {
    if (!this.view) return;
    const { base, view } = this, x = at ? at.x : view.x + view.width / 2, y = at ? at.y : view.y + view.height / 2;
    const width = Math.max(base.width / 20, Math.min(base.width * 4, view.width / factor)), share = width / view.width;
    this.view = { x: x - (x - view.x) * share, y: y - (y - view.y) * share, width, height: view.height * share };
    this.look();
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
    this.follow();
  }

  // Where the drawing is closer than its place is large, the state that is lit is brought into view.
  follow() {
    const { view, base } = this, svg = this.place.querySelector("svg"), state = svg && svg.querySelector(".state.lit, .state.stuck");
    if (!state || view.width >= base.width * 0.99) return;
    const { x, y } = this.centre(state), move = svg.querySelector(".graph").transform.baseVal.consolidate().matrix;
    const here = { x: move.a * x + move.e, y: move.d * y + move.f };
    if (here.x < view.x || here.x > view.x + view.width || here.y < view.y || here.y > view.y + view.height) {
      this.view = { ...view, x: here.x - view.width / 2, y: here.y - view.height / 2 };
      this.look();
    }
  }

  // A state that is dragged takes its edges along: these become plain curves.
  centre(state) {
    const box = state.querySelector("ellipse"), moved = this.arranged.get(state.dataset.state) || { x: 0, y: 0 };
    const largest = [...state.querySelectorAll("ellipse")].reduce((most, one) => Math.max(most, one.rx.baseVal.value), 0);
    return { x: box.cx.baseVal.value + moved.x, y: box.cy.baseVal.value + moved.y, r: largest };
  }

  moveState(state, x, y) {
    this.arranged.set(state.dataset.state, { x, y });
    state.setAttribute("transform", `translate(${x} ${y})`);
    for (const edge of this.place.querySelectorAll(".edge")) {
      const { from, to } = edge.dataset;
      if (from !== state.dataset.state && to !== state.dataset.state) continue;
      if (from === to || from === "") edge.setAttribute("transform", `translate(${x} ${y})`);
      else this.bend(edge, from, to);
    }
  }

  bend(edge, from, to) {
    const find = (number) => this.centre(this.place.querySelector(`.state[data-state="${number}"]`));
    const a = find(from), b = find(to), long = Math.hypot(b.x - a.x, b.y - a.y) || 1;
    const along = { x: (b.x - a.x) / long, y: (b.y - a.y) / long }, aside = { x: -along.y, y: along.x };
    const middle = { x: (a.x + b.x) / 2 + aside.x * 22, y: (a.y + b.y) / 2 + aside.y * 22 };
    const tip = { x: b.x - along.x * b.r, y: b.y - along.y * b.r };
    edge.querySelector("path").setAttribute("d", `M${a.x + along.x * a.r},${a.y + along.y * a.r}Q${middle.x},${middle.y} ${tip.x},${tip.y}`);
    const wing = (side) => `${tip.x - along.x * 9 + aside.x * side},${tip.y - along.y * 9 + aside.y * side}`;
    edge.querySelector("polygon").setAttribute("points", `${tip.x},${tip.y} ${wing(4)} ${wing(-4)}`);
    edge.querySelectorAll("text").forEach((text, number) => {
      text.setAttribute("x", middle.x);
      text.setAttribute("y", middle.y + 12 * number);
    });
  }

  watch(choose) {
    const { place } = this;
    let held = null;
    const scale = () => this.view.width / Math.max(1, Math.min(place.clientWidth, (place.clientHeight * this.view.width) / this.view.height));
    place.addEventListener("pointerdown", (event) => {
      if (!this.view || event.button) return;
      const state = event.target.closest(".state"), from = state && (this.arranged.get(state.dataset.state) || { x: 0, y: 0 });
      held = { state, from, x: event.clientX, y: event.clientY, view: { ...this.view }, moved: false, target: event.target };
      place.setPointerCapture(event.pointerId);
    });
    place.addEventListener("pointermove", (event) => {
      if (!held) return;
      const dx = event.clientX - held.x, dy = event.clientY - held.y;
      if (!held.moved && Math.hypot(dx, dy) < 4) return;
      held.moved = true;
      const k = scale();
      if (held.state) this.moveState(held.state, held.from.x + dx * k, held.from.y + dy * k);
      else {
        this.view = { ...held.view, x: held.view.x - dx * k, y: held.view.y - dy * k };
        this.look();
      }
    });
    place.addEventListener("pointerup", () => {
      const was = held;
      held = null;
      if (!was || was.moved) return;
      const edge = was.target.closest(".edge");
      if (was.state) choose(was.state.dataset.name, this.raw);
      else if (edge && edge.dataset.from !== "") showRules(this.drawn, Number(edge.dataset.from), Number(edge.dataset.to));
    });
    place.addEventListener("pointercancel", () => (held = null));
    place.addEventListener("wheel", (event) => {
      if (!this.view) return;
      event.preventDefault();
      const frame = place.getBoundingClientRect(), { view } = this;
      this.zoom(event.deltaY < 0 ? 1.2 : 1 / 1.2, {
        x: view.x + ((event.clientX - frame.left) / frame.width) * view.width,
        y: view.y + ((event.clientY - frame.top) / frame.height) * view.height,
      });
    }, { passive: false });
    place.addEventListener("keydown", (event) => {
      const state = event.target.closest(".state");
      if (state && (event.key === "Enter" || event.key === " ")) {
        event.preventDefault();
        event.stopPropagation(); // a space would play
        choose(state.dataset.name, this.raw);
      }
    });
    for (const event of ["pointerover", "focusin"]) place.addEventListener(event, ({ target }) => showPartners(target.closest(".state")));
    for (const event of ["pointerleave", "focusout"]) place.addEventListener(event, () => showPartners(null));
  }
}

const minimised = new Drawing(false), before = new Drawing(true), drawings = [minimised, before];

export function drawAutomaton(automaton) {
  part("rules").hidden = true;
  part("stacks").replaceChildren();
  part("meanings").replaceChildren();
  part("merged").textContent = automaton ? automaton.merged : "";
  part("raw-choice").hidden = !automaton?.before;
  minimised.draw(automaton);
  before.draw(automaton && automaton.before);
  minimised.name(before);
  before.name(minimised);
  showBefore();
  if (automaton) tellMeanings(automaton);
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

function tellMeanings(automaton) {
  const range = (low, high) => low.map((least, i) => (least === high[i] ? `${least}` : `${least} to ${high[i]}`)).join(", ");
  part("meanings").replaceChildren(...automaton.meanings.map((one, number) => {
    const line = element("span");
    const values = one.low ? ` = ${range(one.low, one.high)}` : "";
    const pushers = one["pushed by"].length ? `, pushed by ${one["pushed by"].join(" ")}` : "";
    const chip = element("span", one.symbol, { class: "chip" });
    chip.style.background = tint(colourOf("stack", number), 0.7);
    line.append(chip, `${values}${pushers}`);
    return line;
  }));
}

// The runs on the word: of the automaton, and of the one before minimisation, null for none.
export function setRun(run, runBefore) {
  minimised.run = run;
  before.run = runBefore;
}

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
      const cell = element("li", symbol, { class: "cell" });
      cell.style.background = tint(colourOf("stack", run.symbols.indexOf(symbol)), 0.7);
      list.append(cell);
    }
    if (stack.length > SHOWN) list.append(element("li", `… ${stack.length - SHOWN} more`, { class: "more" }));
    list.append(element("li", run.bottom, { class: "bottom" }));
    return list;
  }));
}

export function watchDrawing(choose) {
  drawings.forEach((one) => one.watch(choose));
  part("fit").addEventListener("click", () => drawings.forEach((one) => one.fit()));
  part("closer").addEventListener("click", () => drawings.forEach((one) => one.zoom(1.3)));
  part("farther").addEventListener("click", () => drawings.forEach((one) => one.zoom(1 / 1.3)));
}
