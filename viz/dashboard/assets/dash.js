// Dash, which shows figures and tables in the drawers. Its programs take the browser a tenth of a second to read: they
// come when somebody is about to open a drawer, or has left the page alone for a while; a step never waits for them.

import { ask, part, save, tried } from "./page.js";

const ALONE = 2000; // milliseconds without a key or a click
const LARGEST = 2_000_000; // bytes of what is asked
const FIGURES = new Set(["accuracy", "causes", "figures", "papers"]); // drawers that have some

let ready = null, started = null, number = 0, last = null;
const there = new Promise((resolve) => (ready = resolve));

// What Dash calls in the browser, see app.py.
window.dash_clientside = Object.assign({}, window.dash_clientside, {
  bench: {
    ready: () => void ready(),
    answered: (which) => {
      if (which === number) say("");
      if (Math.abs(which) === number) show(true);
    },
    fill: (asked) => {
      const late = () => asked.number !== number, nothing = Array(2).fill(window.dash_clientside.no_update);
      return tried(async () => {
        if (FIGURES.has(asked.drawer)) startPlotly();
        const found = await ask("drawer", {}, { post: asked, stop: late, wait: (why) => !late() && say(why) });
        return late() ? nothing : [found, asked.number];
      }, (problem) => {
        if (late()) return nothing;
        say(problem);
        return [[], -asked.number];
      });
    },
    csv: () => {
      for (const { prop_id: which, value } of window.dash_clientside.callback_context.triggered) {
        if (value) window.dash_ag_grid.getApiAsync({ grid: JSON.parse(which.slice(0, which.lastIndexOf("."))).csv }).then((grid) => grid.exportDataAsCsv());
      }
    },
  },
});

const names = new Intl.Collator("en", { numeric: true });

window.dashAgGridFunctions = Object.assign({}, window.dashAgGridFunctions, {
  // what is not there comes first; numbers in names are sorted as numbers
  counted: (one, other) => {
    const [first, second] = [one, other].map((value) => value !== null && value !== undefined);
    if (!first || !second) return first - second;
    return typeof one === "number" && typeof other === "number" ? one - other : names.compare(String(one), String(other));
  },
  // ours is coloured by how far it lies from the paper's, of the larger one of both
  beside: ({ value, data, colDef }) => {
    const theirs = data[colDef.field.replace(/ours$/, "paper")];
    if (typeof value !== "number" || typeof theirs !== "number" || value === theirs) return { background: "none" };
    const share = Math.abs(value - theirs) / Math.max(Math.abs(value), Math.abs(theirs));
    return { background: `color-mix(in srgb, ${value > theirs ? "#0072b2" : "#d55e00"} ${Math.round(5 + 45 * share)}%, transparent)` };
  },
  written: (value) => (value === null || value === undefined ? "" : (Number.isInteger(value) ? value : Number(value.toPrecision(5))).toLocaleString("en", { maximumSignificantDigits: 15 })),
});

window.dashAgGridComponentFunctions = Object.assign({}, window.dashAgGridComponentFunctions, {
  // A word, or a network, in a table: a link that brings it onto the bench.
  WordLink: ({ data, value }) => {
    if (!data.open) return value ?? "";
    const { shown, ...given } = data.open, away = given.network ? { drawer: "" } : {}; // a network is looked at without its list
    const asked = Object.entries({ ...away, ...given }).filter(([, one]) => one !== null);
    const search = new URLSearchParams(asked.map(([name, one]) => [name, typeof one === "boolean" ? Number(one) : one]));
    return window.React.createElement("a", { href: `?${search}` }, shown);
  },
});

// Adds programs, which run in their order; none of them runs before.
const load = (sources) => new Promise((resolve, reject) => {
  const programs = sources.map((src) => Object.assign(document.createElement("script"), { src, async: false }));
  Object.assign(programs.at(-1), { onload: resolve, onerror: reject });
  document.head.append(...programs);
});

export function startDash() {
  const sources = () => [...part("dash-programs").content.querySelectorAll("script[src]")].map((one) => one.getAttribute("src"));
  return (started ??= load(sources()).then(() => {
    window.renderer = new window.DashRenderer();
    there.then(() => (window.requestIdleCallback ?? setTimeout)(startPlotly));
    return there;
  }));
}

// What draws figures takes half a second to read, too: it comes when Dash is there and nothing else is to be done. Dash
// waits for what stands in window.Plotly, and asks for it itself where it did not come.
const startPlotly = () => void (window.Plotly ??= load([window._dashPlotlyJSURL]).catch(() => (window.Plotly = null)));

export function watchDash() {
  let alone = setTimeout(startDash, ALONE);
  for (const event of ["keydown", "pointerdown", "input"]) {
    document.addEventListener(event, () => {
      clearTimeout(alone);
      if (!started) alone = setTimeout(startDash, ALONE);
    });
  }
  for (const event of ["pointerenter", "focusin"]) part("drawer-buttons").addEventListener(event, startDash, { once: true });
  document.addEventListener("click", (event) => {
    const { kind, latex, name } = event.target.closest("button")?.dataset ?? {};
    if (kind) savePicture(event.target.closest("button"));
    if (latex) save(name, latex, "application/x-tex");
  });
  // the arrow keys walk through a table; Enter does what the link in its cell does
  part("drawer-dash").addEventListener("keydown", (event) => {
    const link = event.key === "Enter" && event.target.closest(".ag-cell")?.querySelector("a");
    if (link && event.target !== link) link.click();
  });
}

const PIXELS = 480 / 85; // of a millimetre, in which a figure for a paper is laid out: so its letters have 6.5 points

// A figure as a file, as large as it stands or as wide as a paper's column or page: 600 points an inch where it has points.
async function savePicture({ dataset, parentNode }) {
  const figurepart = parentNode.parentNode, figure = figurepart.querySelector(".js-plotly-plot"), { kind, name } = dataset;
  if (!figure) return;
  const stands = figure.getBoundingClientRect(), layout = { ...figure.layout, ...JSON.parse(dataset.light) };
  const wide = Number(parentNode.querySelector("select").value), width = wide ? wide * PIXELS : stands.width;
  const inches = wide ? 96 / 25.4 / PIXELS : 1, scale = kind === "png" ? (wide ? 600 / 25.4 / PIXELS : 3) : inches;
  const size = { width, height: wide ? figure.layout.height || stands.height : stands.height, scale };
  if (kind !== "pdf") return void window.Plotly.downloadImage({ data: figure.data, layout }, { format: kind, filename: name, ...size });
  say("The PDF is on its way …");
  await tried(async () => {
    const place = [...document.querySelectorAll("#drawer-dash .figurepart")].indexOf(figurepart);
    const { pdf } = await ask("picture", {}, { post: { ...last, place, width, scale } });
    say("");
    save(`${name}.pdf`, Uint8Array.from(atob(pdf), (one) => one.charCodeAt(0)), "application/pdf");
  }, say);
}

const show = (there_) => part("drawer-dash").classList.toggle("waiting", !there_);

const say = (text) => void (part("drawer-says").textContent = text);

// Has Dash show something in the drawer; what stands there of another drawer is hidden until it is there.
export async function showInDash(asked, fresh) {
  const mine = (number += 1), data = { ...asked, number: mine };
  last = data;
  say("");
  if (fresh) show(false);
  part("drawer-dash").hidden = false;
  if (new Blob([JSON.stringify(data)]).size > LARGEST) return say("These words are more than 2,000,000 bytes, which is more than is judged at once.");
  await startDash();
  if (mine === number) window.dash_clientside.set_props("asked", { data });
}

// Nothing of Dash is in the drawer that is open.
export function hideDash() {
  number += 1;
  say("");
  part("drawer-dash").hidden = true;
}
