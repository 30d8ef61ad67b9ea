// Dash, which shows figures and tables in the drawers. Its programs take the browser a tenth of a second to read: they
// come when somebody is about to open a drawer, or has left the page alone for a while; a step never waits for them.

import { Problem, ask, element, part, save } from "./page.js";

const ALONE = 2000; // milliseconds without a key or a click
const LARGEST = 2_000_000; // bytes of what is asked

let acts = null, ready = null, started = null, number = 0, last = null;
const there = new Promise((resolve) => (ready = resolve));

// What Dash calls in the browser, see app.py.
window.dash_clientside = Object.assign({}, window.dash_clientside, {
  bench: {
    ready: () => void ready(),
    answered: (which) => {
      if (which === number) say("");
      if (Math.abs(which) === number) show(true);
    },
    fill: async (asked) => {
      const late = () => asked.number !== number, nothing = window.dash_clientside.no_update;
      try {
        const found = await ask("drawer", {}, { post: asked, stop: late, wait: (why) => !late() && say(why) });
        return late() ? [nothing, nothing] : [found, asked.number];
      } catch (error) {
        if (!(error instanceof Problem)) throw error;
        if (late()) return [nothing, nothing];
        say(error.message);
        return [[], -asked.number];
      }
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
    if (one === null || one === undefined || other === null || other === undefined) return (one ?? null) === (other ?? null) ? 0 : (one ?? null) === null ? -1 : 1;
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
    const { shown, rounded, ...given } = data.open, mark = typeof rounded === "boolean" ? { rounded: rounded ? 1 : 0 } : {};
    const away = given.network ? { drawer: "" } : {}; // a network is looked at without the list that it is from
    const asked = Object.entries({ ...away, ...given, ...mark }).filter(([, one]) => one !== null);
    return window.React.createElement("a", { href: `?${new URLSearchParams(asked)}` }, shown);
  },
});

// Starts Dash's programs in their order; none of them runs before.
export function startDash() {
  started ??= new Promise((resolve) => {
    const programs = [...part("dash-programs").content.querySelectorAll("script[src]")].map((one) => {
      const made = element("script", "", { src: one.getAttribute("src") });
      made.async = false;
      return made;
    });
    programs.at(-1).addEventListener("load", resolve);
    document.head.append(...programs);
  }).then(() => {
    window.renderer = new window.DashRenderer();
    return there;
  });
  return started;
}

export function watchDash(given) {
  acts = given;
  let alone = setTimeout(startDash, ALONE);
  for (const event of ["keydown", "pointerdown", "input"]) {
    document.addEventListener(event, () => {
      clearTimeout(alone);
      if (!started) alone = setTimeout(startDash, ALONE);
    });
  }
  for (const event of ["pointerenter", "focusin"]) part("drawer-buttons").addEventListener(event, startDash, { once: true });
  document.addEventListener("click", (event) => {
    const kind = event.target.closest("[data-kind]"), state = event.target.closest("button[data-state]");
    if (kind && kind.closest(".figurepart")) savePicture(kind);
    if (state) acts.chooseState(state.dataset.state);
    const table = event.target.closest("[data-latex]");
    if (table) element("a", "", { href: `data:application/x-tex;charset=utf-8,${encodeURIComponent(table.dataset.latex)}`, download: table.dataset.name }).click();
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
  const place = parentNode.parentNode, figure = place.querySelector(".js-plotly-plot"), { kind, name } = dataset;
  if (!figure) return;
  const stands = figure.getBoundingClientRect(), layout = { ...figure.layout, ...JSON.parse(dataset.light) };
  const wide = Number(parentNode.querySelector("select").value), width = wide ? wide * PIXELS : stands.width;
  const inches = wide ? 96 / 25.4 / PIXELS : 1, scale = kind === "png" ? (wide ? 600 / 25.4 / PIXELS : 3) : inches;
  const size = { width, height: wide ? figure.layout.height || stands.height : stands.height, scale };
  if (kind !== "pdf") return void window.Plotly.downloadImage({ data: figure.data, layout }, { format: kind, filename: name, ...size });
  say("The PDF is on its way …");
  try {
    const figures = [...document.querySelectorAll("#drawer-dash .figurepart")];
    const { pdf } = await ask("picture", {}, { post: { ...last, place: figures.indexOf(place), width, scale } });
    say("");
    save(`${name}.pdf`, Uint8Array.from(atob(pdf), (one) => one.charCodeAt(0)), "application/pdf");
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    say(error.message);
  }
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
