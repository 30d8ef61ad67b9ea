// What the Automaton page does without asking the server: following a run, lighting up where it is, choosing a state.
"use strict";

(function () {
  const SHOWN = 12; // cells of a stack beside the drawing

  const part = (name) => document.getElementById(`automaton-${name}`);

  const element = (tag, text, className) => Object.assign(document.createElement(tag), { textContent: text, className });

  // The stacks after so many steps: the operations from the start, since a run may be entered anywhere.
  function stacksAfter(run, steps) {
    const stacks = Array.from({ length: run.stacks }, () => []);
    for (const taken of run.steps.slice(0, steps)) {
      run.rules[taken][2].forEach(([pop, push], number) => {
        if (pop) stacks[number].pop();
        if (push !== null) stacks[number].push(push);
      });
    }
    return stacks;
  }

  function lightUp(run, step, chosen) {
    const drawing = part("drawing");
    for (const lit of drawing.querySelectorAll(".lit, .stuck, .chosen")) lit.classList.remove("lit", "stuck", "chosen");
    const mark = (selector, name) => drawing.querySelectorAll(selector).forEach((found) => found.classList.add(name));
    if (run) {
      const through = Math.min(step, run.steps.length), taken = run.steps[step - 1];
      const state = through ? run.rules[run.steps[through - 1]][1] : run.initial;
      mark(`.state[data-state="${state}"]`, step > run.steps.length && run.stuck ? "stuck" : "lit");
      if (taken !== undefined) {
        const [from, to] = run.rules[taken];
        mark(`.edge[data-from="${from}"][data-to="${to}"]`, "lit");
        mark(`.rule[data-rule="${taken}"]`, "lit");
      }
    }
    if (chosen) mark(`.state[data-name="${CSS.escape(chosen)}"]`, "chosen");
  }

  // Where the drawing is larger than its place, the state that is lit is brought into view.
  function follow() {
    const drawing = part("drawing"), state = drawing.querySelector(".state.lit, .state.stuck");
    if (!state) return;
    const here = state.getBoundingClientRect(), frame = drawing.getBoundingClientRect();
    if (here.left < frame.left || here.right > frame.right) {
      drawing.scrollLeft += (here.left + here.right - frame.left - frame.right) / 2;
    }
    if (here.top < frame.top || here.bottom > frame.bottom) {
      drawing.scrollTop += (here.top + here.bottom - frame.top - frame.bottom) / 2;
    }
  }

  function tell(run, step) {
    const now = part("now");
    now.replaceChildren();
    if (!run) return;
    const taken = run.steps[step - 1], through = Math.min(step, run.steps.length);
    const state = through ? run.rules[run.steps[through - 1]][1] : run.initial;
    const ended = step > run.steps.length;
    now.append(element("p", taken !== undefined ? run.rules[taken][3] : ended && run.stuck ? run.stuck : "", "taken"));
    now.append(element("p", `state ${run.states[state]}`, "in"));
    stacksAfter(run, through).forEach((stack, number) => {
      const list = element("ol", "", "stack"), top = stack.slice(-SHOWN).reverse();
      list.setAttribute("aria-label", run.stacks > 1 ? `stack ${number + 1}, the top first` : "stack, the top first");
      if (run.stacks > 1) list.append(element("li", `stack ${number + 1}`, "name"));
      list.append(...top.map((symbol) => element("li", symbol, "cell")));
      if (stack.length > SHOWN) list.append(element("li", `… ${stack.length - SHOWN} more`, "more"));
      list.append(element("li", run.bottom, "bottom"));
      now.append(list);
    });
  }

  // On the map, the vectors of the chosen state stand out.
  function pick(chosen) {
    const graph = document.querySelector("#automaton-map .js-plotly-plot");
    if (!graph || !window.Plotly || !graph.data || !graph.data.length) return;
    const names = graph.data.map((points) => points.name), there = names.includes(chosen);
    const wanted = names.map((name) => (there && name !== chosen ? 0.15 : 1)); // a factor of the points' own
    if (graph.data.some((points, i) => (points.opacity === undefined ? 1 : points.opacity) !== wanted[i])) {
      window.Plotly.restyle(graph, { opacity: wanted });
    }
  }

  window.dash_clientside = Object.assign({}, window.dash_clientside, {
    automaton: {
      draw: function (drawing) {
        const place = part("drawing");
        if (!place || !drawing) return window.dash_clientside.no_update;
        if (drawing.says) {
          place.replaceChildren(element("p", drawing.says, ""));
          return drawing.says;
        }
        const read = new DOMParser().parseFromString(drawing.svg, "image/svg+xml"); // nothing in it is run
        const svg = document.importNode(read.documentElement, true);
        for (const state of svg.querySelectorAll(".state")) {
          state.setAttribute("tabindex", "0");
          state.setAttribute("role", "button");
          state.setAttribute("aria-label", `state ${state.dataset.name}`);
        }
        place.replaceChildren(svg);
        return drawing.svg.length;
      },

      light: function (step, run, drawn, chosen) {
        if (!part("drawing")) return window.dash_clientside.no_update;
        lightUp(run, step || 1, chosen);
        follow();
        tell(run, step || 1);
        pick(chosen);
        return step;
      },

      open: function (cell, rows) {
        const row = cell && rows && rows[cell.rowIndex], { no_update } = window.dash_clientside;
        return row ? [row.word, Math.max(1, row.step)] : [no_update, no_update];
      },
    },
  });

  function choose(event) {
    const state = event.target.closest && event.target.closest("#automaton-drawing .state");
    if (state) window.dash_clientside.set_props("automaton-state", { data: state.dataset.name });
    return state;
  }

  document.addEventListener("click", choose);
  document.addEventListener(
    "keydown",
    function (event) {
      if ((event.key === "Enter" || event.key === " ") && choose(event)) {
        event.preventDefault();
        event.stopPropagation(); // a space would play
      }
    },
    true
  );
})();
