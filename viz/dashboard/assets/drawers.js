// The drawers under the bench: networks, a sweep, checks, many words, accuracy, rules and states, causes, figures,
// papers, extraction. What is chosen in them stands in the page; figures and tables are Dash's.

import { ask, choose, dark, kept, part, save, selection, tried } from "./page.js";

const ALONE = new Set(["networks", "words", "extract", "sweep"]); // these follow neither word nor network
const PLAIN = new Set(["networks", "extract"]); // nothing in these is Dash's
const PLOTTED = new Set(["accuracy", "causes", "figures", "papers"]); // these have figures
const ALONE_FOR = 2000; // milliseconds
let drawn = "", seed = 0; // of which network there are words
let last = { number: 0 }; // what was last asked of Dash

const openers = () => [...document.querySelectorAll("[data-drawer]")];

export function watchDrawers() {
  const on = (id, event, act) => part(id).addEventListener(event, act);
  for (const one of openers()) one.addEventListener("click", () => choose({ drawer: selection.drawer === one.dataset.drawer ? "" : one.dataset.drawer }));
  on("drawer-close", "click", () => choose({ drawer: "" }));
  on("grip", "input", () => dock(part("grip").value));
  on("judge", "click", fillDrawer);
  on("only", "change", fillDrawer);
  on("other-words", "click", () => otherWords().then(fillDrawer));
  on("drawer-buttons", "pointerenter", startDash);
  on("drawer-buttons", "focusin", startDash);
  setTimeout(() => rest(startDash), ALONE_FOR);
  on("drawer-dash", "click", ({ target: { dataset, parentNode } }) => {
    if (dataset.kind) savePicture(dataset, parentNode);
  });
  // the arrow keys walk through a table; Enter does what the link in its cell does
  on("drawer-dash", "keydown", ({ key, target }) => {
    const link = key === "Enter" && target.closest(".ag-cell")?.querySelector("a");
    if (link && target !== link) link.click();
  });
  dock(kept("dock") || 40);
}

// How high the drawers are, in percent of the page: so they stay.
function dock(percent) {
  part("grip").value = percent;
  document.documentElement.style.setProperty("--dock", `${part("grip").value}vh`);
  kept("dock", part("grip").value);
}

// Shows the drawer that is selected, or none; there was another one `before`.
export function showDrawer(before, silent = false) {
  const named = (name) => openers().find((one) => one.dataset.drawer === name), opener = named(selection.drawer);
  named("sweep").hidden = !selection.sweep;
  for (const one of openers()) one.setAttribute("aria-expanded", String(one === opener));
  for (const one of part("drawer-body").children) one.hidden = one.dataset.of !== selection.drawer;
  part("drawer").hidden = !opener;
  fillDrawer();
  if (silent) return;
  if (!opener) named(before)?.focus();
  else {
    part("drawer").scrollIntoView({ block: "start" });
    part("drawer-title").focus({ preventScroll: true });
  }
}

// Another word, network, step's state or theme: what is open follows.
export function drawerChanged() {
  if (!ALONE.has(selection.drawer)) fillDrawer();
}

const otherWords = () => tried(async () => {
  drawn = selection.network;
  part("many").value = (await ask("words", { network: drawn, seed })).words;
  seed += 1;
}, say);

// Asks for what stands in the drawer; what stands there of another one is hidden until it is there.
async function fillDrawer() {
  const { drawer, network, word, rounded, raw, state, sweep } = selection, before = last, number = before.number + 1;
  const data = { drawer, network, rounded, raw, state, sweep, word: word ?? "", theme: dark() ? "dark" : "light", number };
  last = data; // what comes now of an earlier question is late
  say("");
  const opener = openers().find((one) => one.dataset.drawer === drawer);
  part("drawer-title").textContent = opener?.dataset.title ?? opener?.textContent;
  part("drawer-dash").hidden = !drawer || PLAIN.has(drawer);
  if (part("drawer-dash").hidden) return;
  if (drawer !== before.drawer || network !== before.network) show(false);
  if (drawer === "words" && drawn !== network) await otherWords();
  part("figure").value ||= "paper"; // an address may ask for anything
  data.figure = part("figure").value;
  data.table = drawer === "papers" ? selection.table : selection.rows;
  if (drawer === "words") Object.assign(data, { words: part("many").value, different: part("only").checked });
  if (PLOTTED.has(drawer) && document.readyState === "complete") startPlotly(); // the page waits for what comes while it loads
  await startDash();
  if (last === data) window.dash_clientside.set_props("asked", { data });
}

const show = (there) => part("drawer-dash").classList.toggle("waiting", !there);
export const say = (text) => void (part("drawer-says").textContent = text);

// ---- Dash, which shows figures and tables. Its programs take the browser a tenth of a second to read: they come when
// somebody is about to open a drawer, or when the page has rested; a step never waits for them.

const { promise: ready, resolve: dashReady } = Promise.withResolvers();
const rest = window.requestIdleCallback ?? setTimeout;
let started = null;

// What Dash calls in the browser, see app.py.
window.dash_clientside = Object.assign({}, window.dash_clientside, {
  bench: {
    ready: () => void dashReady(),
    answered: (which) => {
      if (Math.abs(which) === last.number) show(true);
    },
    fill: (data) => {
      const late = () => data.number !== last.number, nothing = Array(2).fill(window.dash_clientside.no_update);
      return tried(async () => {
        const found = await ask("drawer", {}, { post: data, stop: late, wait: (why) => !late() && say(why) });
        if (!late()) say("");
        return late() ? nothing : [found, data.number];
      }, (problem) => {
        if (late()) return nothing;
        say(problem);
        return [[], -data.number];
      });
    },
    csv: (clicks) => Boolean(clicks),
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
  WordLink: ({ data, value }) => (data.open ? window.React.createElement("a", { href: data.open.href }, data.open.text) : (value ?? "")),
});

// Adds programs, which run in their order; none of them runs before.
const load = (sources) => new Promise((resolve, reject) => {
  const programs = sources.map((src) => Object.assign(document.createElement("script"), { src, async: false }));
  Object.assign(programs.at(-1), { onload: resolve, onerror: reject });
  document.head.append(...programs);
});

function startDash() {
  const sources = () => [...part("dash-programs").content.querySelectorAll("script[src]")].map((one) => one.getAttribute("src"));
  return (started ??= load(sources()).then(() => {
    window.renderer = new window.DashRenderer();
    ready.then(() => (PLOTTED.has(last.drawer) ? startPlotly() : rest(() => startPlotly())));
    return ready;
  }));
}

// What draws figures takes half a second to read, too: it comes along with Dash where a figure is asked for, and else when
// Dash is there and nothing else is to be done. Dash waits for what stands in window.Plotly, and asks for it itself where
// it did not come.
const startPlotly = () => void (window.Plotly ??= load(["/_dash-component-suites/plotly/package_data/plotly.min.js"]).catch(() => (window.Plotly = null)));
const PIXELS = 480 / 85; // of a millimetre, in which a figure for a paper is laid out: so its letters have 6.5 points

// A figure as a file, as large as it stands or as wide as a paper's column or page: 600 points an inch where it has points.
async function savePicture(dataset, parentNode) {
  const figurepart = parentNode.parentNode, figure = figurepart.querySelector(".js-plotly-plot"), { kind, name } = dataset;
  if (!figure) return;
  const stands = figure.getBoundingClientRect(), layout = { ...figure.layout, ...JSON.parse(dataset.light) };
  const wide = Number(parentNode.querySelector("select").value), least = parseFloat(figure.closest("[id^=figure]").style.minWidth);
  const width = wide ? Math.max(wide * PIXELS, least) : stands.width; // numbers in cells do not touch
  const inches = wide / 25.4 / width, scale = kind === "png" ? 600 * inches || 3 : 96 * inches || 1;
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

