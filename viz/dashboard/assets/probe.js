// What the Probe page does without asking the server: moving through a word, keys, the address, light and dark.
"use strict";

const AROUND = 30; // symbols of the tape on either side of the current one

const counted = {}; // clicks that have moved something already, by button

let word = { letters: [], notes: [] }; // what the server said last of the word that is shown

// The tape and the line under it are written here and not by Dash, whose way around takes several times as long.
function show(step) {
  const { letters, notes } = word;
  const tape = document.getElementById("tape"), note = document.getElementById("now");
  if (!letters.length) {
    tape.replaceChildren();
    note.textContent = "";
    return;
  }
  const now = Math.max(1, Math.min(step || 1, letters.length));
  const begin = Math.max(0, now - 1 - AROUND), end = Math.min(letters.length, now + AROUND);
  const cells = letters.slice(begin, end).map((letter, i) => {
    const cell = document.createElement("span");
    cell.textContent = letter;
    if (begin + i + 1 === now) cell.className = "current";
    return cell;
  });
  tape.replaceChildren(begin > 0 ? "… " : "", ...cells, end < letters.length ? " …" : "");
  note.textContent = notes[now - 1];
  window.requestAnimationFrame(() => moveBand(now));
}

function moveBand(step) {
  const graph = document.querySelector("#picture .js-plotly-plot");
  const band = graph && window.Plotly && graph.layout && (graph.layout.shapes || [])[0];
  if (band && band.x0 !== step - 0.5) {
    window.Plotly.relayout(graph, { "shapes[0].x0": step - 0.5, "shapes[0].x1": step + 0.5 });
  }
}

window.dash_clientside = Object.assign({}, window.dash_clientside, {
  probe: {
    // Quick keys arrive together: each button's clicks since the last time count, whichever button was named first.
    move: function (first, back, play, forward, last, ticks, step, max, stopped) {
      const clicks = { first, back, play, forward, last, clock: ticks };
      let now = step, still = stopped;
      for (const trigger of window.dash_clientside.callback_context.triggered) {
        const name = trigger.prop_id.split(".")[0];
        const times = (clicks[name] || 0) - (counted[name] || 0);
        counted[name] = clicks[name] || 0;
        if (name === "play" && times % 2) {
          now = now >= max && still ? 1 : now;
          still = !still;
        } else if (name !== "play") {
          now = { first: 1, last: max, back: now - times, forward: now + times, clock: now + 1 }[name];
          still = name === "clock" ? now >= max : true;
        }
        now = Math.max(1, Math.min(max, now));
      }
      show(now);
      return [now, still];
    },

    // A click on a figure over steps goes to that step; a bar spans several, so that it cannot say which.
    jump: function (clicked) {
      const graph = document.querySelector("#picture .js-plotly-plot"), place = clicked && clicked.points[0];
      const overSteps = place && (graph.layout.shapes || []).length && graph.data[place.curveNumber].type !== "bar";
      return overSteps ? Math.round(place.x) : window.dash_clientside.no_update;
    },

    mark: function (step, letters, notes) {
      word = { letters: letters || [], notes: notes || [] };
      show(step);
      return step;
    },

    remember: function (network, word, kind, figure, step) {
      if (!network) return window.dash_clientside.no_update;
      const view = new URLSearchParams({ network: network, word: word || "", figure: figure, step: step || 1 });
      if (kind === "rounded") view.set("rounded", "1");
      const before = new URLSearchParams(window.location.search);
      const same = ["network", "word", "figure", "rounded"].every((name) => before.get(name) === view.get(name));
      const change = same || !window.location.search ? "replaceState" : "pushState";
      if (view.toString() !== before.toString()) window.history[change](null, "", "?" + view.toString());
      return view.toString();
    },

    shade: function (clicks, theme) {
      const dark = window.matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
      let next = theme || dark;
      if (clicks) next = next === "dark" ? "light" : "dark";
      document.documentElement.dataset.theme = next;
      return next;
    },
  },
});

const KEYS = { ArrowLeft: "back", ArrowRight: "forward", Home: "first", End: "last", " ": "play" };

document.addEventListener("keydown", function (event) {
  const inside = event.target.closest("input, textarea, button, select, [role=slider], [role=combobox], .dash-dropdown");
  const button = document.getElementById(KEYS[event.key]);
  if (!button || inside || event.ctrlKey || event.altKey || event.metaKey) return;
  event.preventDefault();
  button.click();
});
