// The automaton beside the table: its drawing, which can be zoomed, moved and rearranged, and where its run is.

import { colourOf, element, part, stateColour, tint } from "./page.js";

const SHOWN = 8; // cells of a stack beside the drawing

let drawn = null, run = null, base = null, view = null, arranged = new Map();

export function drawAutomaton(automaton) {
  drawn = automaton;
  arranged = new Map();
  const place = part("drawing");
  place.replaceChildren();
  part("rules").hidden = true;
  part("rule").textContent = "";
  part("stacks").replaceChildren();
  part("meanings").replaceChildren();
  if (!automaton) return;
  place.setAttribute("aria-label", `drawing of the automaton: ${automaton.says}`);
  tellMeanings(automaton);
  if (!automaton.svg) {
    place.append(element("p", automaton.says));
    return;
  }
  const read = new DOMParser().parseFromString(automaton.svg, "image/svg+xml"); // nothing in it is run
  const svg = document.importNode(read.documentElement, true);
  svg.removeAttribute("width");
  svg.removeAttribute("height");
  for (const state of svg.querySelectorAll(".state")) {
    state.setAttribute("tabindex", "0");
    state.setAttribute("role", "button");
    state.setAttribute("aria-label", `state ${state.dataset.name}: its words`);
    state.style.setProperty("--mark", stateColour(Number(state.dataset.state)));
  }
  place.append(svg);
  const [x, y, width, height] = svg.getAttribute("viewBox").split(/[ ,]+/).map(Number);
  base = { x, y, width, height };
  fit();
}

export function fit() {
  view = base && { ...base };
  look();
}

function look() {
  const svg = part("drawing").querySelector("svg");
  if (svg && view) svg.setAttribute("viewBox", `${view.x} ${view.y} ${view.width} ${view.height}`);
}

export function zoom(factor, at = null) {
  if (!view) return;
  const x = at ? at.x : view.x + view.width / 2, y = at ? at.y : view.y + view.height / 2;
  const width = Math.max(base.width / 20, Math.min(base.width * 4, view.width / factor)), share = width / view.width;
  view = { x: x - (x - view.x) * share, y: y - (y - view.y) * share, width, height: view.height * share };
  look();
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

export function setRun(found) {
  run = found;
}

// Where the run is after `step` letters.
export function light(step, chosen) {
  const drawing = part("drawing");
  for (const lit of drawing.querySelectorAll(".lit, .stuck, .chosen")) lit.classList.remove("lit", "stuck", "chosen");
  const mark = (selector, name) => drawing.querySelectorAll(selector).forEach((found) => found.classList.add(name));
  if (chosen) mark(`.state[data-name="${CSS.escape(chosen)}"]`, "chosen");
  if (!run) return;
  const through = Math.min(step, run.taken.length), moves = through ? run.taken[through - 1] : 0;
  const ended = step > run.taken.length, state = through ? run.after[through - 1] : run.initial;
  const taken = ended ? undefined : run.moves[moves - 1];
  mark(`.state[data-state="${state}"]`, ended && run.stuck ? "stuck" : "lit");
  if (taken !== undefined) {
    const [from, to] = run.rules[taken];
    mark(`.edge[data-from="${from}"][data-to="${to}"]`, "lit");
    for (const line of drawing.querySelectorAll(".rule")) {
      if (line.dataset.rules.split(" ").includes(String(taken))) line.classList.add("lit");
    }
    showFolded(from, to, run.rules[taken][3]);
  } else part("rules").hidden = true;
  part("rule").textContent = ended && run.stuck ? run.stuck : taken === undefined ? "" : `${run.states[run.rules[taken][0]]}: ${run.rules[taken][3]}`;
  showStacks(moves);
  follow();
}

// Rules that have no room at their edge stand below the drawing.
function showFolded(from, to, rule) {
  const place = part("rules"), edge = drawn && drawn.edges.find((one) => one.from === from && one.to === to);
  place.hidden = !edge || !edge.folded;
  if (place.hidden) return;
  place.replaceChildren(...edge.rules.map((line) => element("div", line, { class: line === rule ? "lit" : null })));
  const lit = place.querySelector(".lit");
  if (lit) place.scrollTop = lit.offsetTop - place.offsetTop - place.clientHeight / 2;
}

export function showRules(from, to) {
  const edge = drawn && drawn.edges.find((one) => one.from === from && one.to === to), place = part("rules");
  place.hidden = !edge;
  if (edge) place.replaceChildren(...edge.rules.map((line) => element("div", line)));
}

function showStacks(moves) {
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

// Where the drawing is closer than its place is large, the state that is lit is brought into view.
function follow() {
  const svg = part("drawing").querySelector("svg"), state = svg && svg.querySelector(".state.lit, .state.stuck");
  if (!state || view.width >= base.width * 0.99) return;
  const { x, y } = centre(state), move = svg.querySelector(".graph").transform.baseVal.consolidate().matrix;
  const here = { x: move.a * x + move.e, y: move.d * y + move.f };
  if (here.x < view.x || here.x > view.x + view.width || here.y < view.y || here.y > view.y + view.height) {
    view = { ...view, x: here.x - view.width / 2, y: here.y - view.height / 2 };
    look();
  }
}

// A state that is dragged takes its edges along: these become plain curves.
function centre(state) {
  const box = state.querySelector("ellipse"), moved = arranged.get(state.dataset.state) || { x: 0, y: 0 };
  const largest = [...state.querySelectorAll("ellipse")].reduce((most, one) => Math.max(most, one.rx.baseVal.value), 0);
  return { x: box.cx.baseVal.value + moved.x, y: box.cy.baseVal.value + moved.y, r: largest };
}

function moveState(state, x, y) {
  arranged.set(state.dataset.state, { x, y });
  state.setAttribute("transform", `translate(${x} ${y})`);
  for (const edge of part("drawing").querySelectorAll(".edge")) {
    const { from, to } = edge.dataset;
    if (from !== state.dataset.state && to !== state.dataset.state) continue;
    if (from === to || from === "") edge.setAttribute("transform", `translate(${x} ${y})`);
    else bend(edge, from, to);
  }
}

function bend(edge, from, to) {
  const find = (number) => centre(part("drawing").querySelector(`.state[data-state="${number}"]`));
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

export function watchDrawing(choose) {
  const place = part("drawing");
  let held = null;
  const scale = () => view.width / Math.max(1, Math.min(place.clientWidth, (place.clientHeight * view.width) / view.height));
  place.addEventListener("pointerdown", (event) => {
    if (!view || event.button) return;
    const state = event.target.closest(".state"), from = state && (arranged.get(state.dataset.state) || { x: 0, y: 0 });
    held = { state, from, x: event.clientX, y: event.clientY, view: { ...view }, moved: false, target: event.target };
    place.setPointerCapture(event.pointerId);
  });
  place.addEventListener("pointermove", (event) => {
    if (!held) return;
    const dx = event.clientX - held.x, dy = event.clientY - held.y;
    if (!held.moved && Math.hypot(dx, dy) < 4) return;
    held.moved = true;
    const k = scale();
    if (held.state) moveState(held.state, held.from.x + dx * k, held.from.y + dy * k);
    else {
      view = { ...held.view, x: held.view.x - dx * k, y: held.view.y - dy * k };
      look();
    }
  });
  place.addEventListener("pointerup", () => {
    const was = held;
    held = null;
    if (!was || was.moved) return;
    const edge = was.target.closest(".edge");
    if (was.state) choose(was.state.dataset.name);
    else if (edge && edge.dataset.from !== "") showRules(Number(edge.dataset.from), Number(edge.dataset.to));
  });
  place.addEventListener("pointercancel", () => (held = null));
  place.addEventListener("wheel", (event) => {
    if (!view) return;
    event.preventDefault();
    const frame = place.getBoundingClientRect();
    zoom(event.deltaY < 0 ? 1.2 : 1 / 1.2, {
      x: view.x + ((event.clientX - frame.left) / frame.width) * view.width,
      y: view.y + ((event.clientY - frame.top) / frame.height) * view.height,
    });
  }, { passive: false });
  place.addEventListener("keydown", (event) => {
    const state = event.target.closest(".state");
    if (state && (event.key === "Enter" || event.key === " ")) {
      event.preventDefault();
      event.stopPropagation(); // a space would play
      choose(state.dataset.name);
    }
  });
  part("fit").addEventListener("click", fit);
  part("closer").addEventListener("click", () => zoom(1.3));
  part("farther").addEventListener("click", () => zoom(1 / 1.3));
}
