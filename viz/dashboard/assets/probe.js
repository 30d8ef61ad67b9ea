// What all pages do without asking the server: moving through a word, keys, the address, light and dark, dropped files.
"use strict";

const AROUND = 30; // symbols of the tape on either side of the current one

const WAIT = 1500; // milliseconds until the server is asked again

let waiting = null, times = 0;

const counted = {}; // clicks that have moved something already, by button

let word = { letters: [], notes: [], step: 1 }; // what the server said last of the word that is shown, and where we are

// The tape and the line under it are written here and not by Dash, whose way around takes several times as long.
function show(step) {
  const { letters, notes } = word;
  const tape = document.getElementById("tape"), note = document.getElementById("now");
  if (!letters.length) {
    tape.replaceChildren();
    note.textContent = "";
    placeBand();
    return;
  }
  const now = Math.max(1, Math.min(step || 1, letters.length));
  word.step = now;
  const begin = Math.max(0, now - 1 - AROUND), end = Math.min(letters.length, now + AROUND);
  const cells = letters.slice(begin, end).map((letter, i) => {
    const cell = document.createElement("span");
    cell.textContent = letter;
    if (begin + i + 1 === now) cell.className = "current";
    return cell;
  });
  tape.replaceChildren(begin > 0 ? "… " : "", ...cells, end < letters.length ? " …" : "");
  note.textContent = notes[now - 1];
  placeBand();
}

// The band over the current step is a part of the page and not of the figure: drawing a figure anew takes too long.
function placeBand() {
  for (const place of document.querySelectorAll(".dash-graph")) {
    const graph = place.querySelector(".js-plotly-plot");
    const layout = graph && graph._fullLayout;
    let band = place.querySelector(".band");
    if (!layout || !(layout.meta && layout.meta.over_steps) || !word.letters.length || !layout.xaxis) {
      if (band) band.remove();
      continue;
    }
    if (!band) {
      band = document.createElement("div");
      band.className = "band";
      graph.append(band);
    }
    const { l, t, w, h } = layout._size, [low, high] = layout.xaxis.range;
    const at = (step) => l + Math.max(0, Math.min(1, (step - low) / (high - low))) * w;
    const left = at(word.step - 0.5), right = at(word.step + 0.5);
    band.hidden = right <= left;
    band.dataset.step = word.step;
    Object.assign(band.style, { left: `${left}px`, width: `${right - left}px`, top: `${t}px`, height: `${h}px` });
  }
}

// A figure is drawn some time after the page has it, and again when it is resized or zoomed.
new MutationObserver(function () {
  for (const graph of document.querySelectorAll(".dash-graph .js-plotly-plot:not([data-followed])")) {
    if (!graph.on) continue;
    graph.dataset.followed = "yes";
    graph.on("plotly_afterplot", placeBand);
    placeBand();
  }
}).observe(document, { childList: true, subtree: true });

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
      const overSteps = place && (graph.layout.meta || {}).over_steps && graph.data[place.curveNumber].type !== "bar";
      return overSteps ? Math.round(place.x) : window.dash_clientside.no_update;
    },

    mark: function (step, letters, notes) {
      word = { letters: letters || [], notes: notes || [], step: 1 };
      show(step);
      return step;
    },

    remember: function (network, word, kind, figure, step, page) {
      if (!network) return window.dash_clientside.no_update;
      document.documentElement.dataset.page = page;
      for (const link of document.querySelectorAll("nav button")) {
        if (link.id === `go-${page}`) link.setAttribute("aria-current", "page");
        else link.removeAttribute("aria-current");
      }
      const view = new URLSearchParams({ network: network, word: word || "", figure: figure, step: step || 1 });
      if (kind === "rounded") view.set("rounded", "1");
      if (page !== "probe") view.set("page", page);
      const before = new URLSearchParams(window.location.search);
      if (page === "papers" && before.has("table")) view.set("table", before.get("table")); // that page's own
      const parts = ["network", "word", "figure", "rounded", "page"];
      // an address that leaves something out is completed, not left: Back would lead to it again and again
      const given = (name) => before.has(name) || name === "rounded" || name === "page";
      const same = parts.every((name) => !given(name) || before.get(name) === view.get(name));
      const change = same || !window.location.search ? "replaceState" : "pushState";
      if (view.toString() !== before.toString()) window.history[change](null, "", "?" + view.toString());
      return view.toString();
    },

    // Which page was asked for: of the buttons between pages the one that was clicked.
    turn: function () {
      const clicked = window.dash_clientside.callback_context.triggered.find((one) => one.value);
      return clicked ? clicked.prop_id.split(".")[0].replace("go-", "") : window.dash_clientside.no_update;
    },

    // What the server works on in its turn is asked for again after a while, once for all panels that wait for it.
    later: function () {
      if (waiting) return;
      waiting = setTimeout(function () {
        waiting = null;
        times += 1;
        window.dash_clientside.set_props("again", { data: times });
      }, WAIT);
    },

    shade: function (clicks, theme) {
      const dark = window.matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
      let next = theme || dark;
      if (clicks) next = next === "dark" ? "light" : "dark";
      document.documentElement.dataset.theme = next;
      document.documentElement.dataset.agThemeMode = next;
      return next;
    },
  },
});

const KEYS = { ArrowLeft: "back", ArrowRight: "forward", Home: "first", End: "last", " ": "play" };

document.addEventListener("keydown", function (event) {
  const inside = event.target.closest(
    "input, textarea, button, select, summary, a, [role=slider], [role=combobox], .dash-dropdown, .ag-root",
  );
  const button = document.getElementById(KEYS[event.key]);
  if (!button || inside || event.ctrlKey || event.altKey || event.metaKey || !button.offsetParent) return;
  event.preventDefault();
  button.click();
});

// A file is looked at before it is read: one that is too large would only fill the memory of the browser.
function refuseLarge(event, files) {
  const place = document.getElementById("upload-place"), limit = place ? Number(place.dataset.limit) : 0;
  const large = [...(files || [])].find((file) => file.size > limit);
  if (!large) return;
  event.preventDefault();
  event.stopImmediatePropagation();
  const size = (large.size / 1e6).toFixed(0);
  const said = `${large.name}: ${size} MB; expected a trained network of at most ${limit / 1e6} MB.`;
  window.dash_clientside.set_props("problem", { children: said });
}

document.addEventListener("change", (event) => {
  if (event.target.closest("#upload")) refuseLarge(event, event.target.files);
}, true);

// A file may be dropped anywhere on the page.
document.addEventListener("dragover", (event) => event.preventDefault());
document.addEventListener("drop", function (event) {
  refuseLarge(event, event.dataTransfer.files);
  if (event.defaultPrevented || event.target.closest("#upload")) return;
  event.preventDefault();
  const chosen = document.querySelector("#upload input[type=file]");
  if (!chosen || !event.dataTransfer.files.length) return;
  chosen.files = event.dataTransfer.files;
  chosen.dispatchEvent(new Event("change", { bubbles: true }));
}, true);
