// What all parts of the page share: what is selected, its address, questions to the server, colours, elements.

export const DEFAULT = "marnn-stack-rnn-dyck-2";
const FORMER = { trust: "checks", papers: "papers" }; // pages of earlier links

// One selection, which every part follows and the address holds.
export const selection = {
  network: DEFAULT, word: "", rounded: false, step: 1, state: null, drawer: "", figure: "paper", table: "",
  against: "", other: "", raw: false, alone: false, sweep: "", change: null,
};

const CHANGE = ["change", "set", "stack", "cell", "unit", "to", "from", "after"]; // of a change, as an address has them

export const part = (id) => document.getElementById(id);

export function element(tag, text = "", attributes = {}) {
  const made = document.createElement(tag);
  if (text) made.textContent = text;
  for (const [name, value] of Object.entries(attributes)) {
    if (name === "onclick") made.addEventListener("click", value);
    else if (value !== null && value !== undefined && value !== false) made.setAttribute(name, value === true ? "" : value);
  }
  return made;
}

export const escaped = (text) =>
  String(text).replace(/[&<>"]/g, (one) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" })[one]);

const known = (drawer) => ([...document.querySelectorAll("[data-drawer]")].some((one) => one.dataset.drawer === drawer) ? drawer : "");

export function readAddress() {
  const asked = new URLSearchParams(window.location.search);
  const step = asked.get("step") || "";
  Object.assign(selection, {
    network: asked.get("network") ?? DEFAULT,
    word: asked.get("word"),
    rounded: asked.get("rounded") === "1",
    step: /^\d{1,6}$/.test(step) ? Math.max(1, Number(step)) : 1,
    state: asked.get("state"),
    drawer: known(asked.get("drawer") ?? FORMER[asked.get("page")]),
    figure: asked.get("figure") ?? "paper",
    table: asked.get("table") ?? "",
    against: ["kind", "word", "network", "change"].find((one) => one === asked.get("against")) ?? "",
    other: asked.get("other") ?? "",
    raw: asked.get("raw") === "1",
    alone: asked.get("alone") === "1",
    sweep: asked.get("sweep") ?? "",
    change: asked.has("change") ? Object.fromEntries([["network", asked.get("network") ?? DEFAULT], ...[...asked].filter(([name]) => CHANGE.includes(name))]) : null,
  });
}

export function address() {
  const { network, word, rounded, step, state, drawer, figure, table, against, other, raw, alone, sweep, change } = selection;
  const view = new URLSearchParams({ network, word: word ?? "", step });
  if (rounded) view.set("rounded", "1");
  if (raw) view.set("raw", "1");
  if (alone) view.set("alone", "1");
  if (state) view.set("state", state);
  if (drawer) view.set("drawer", drawer);
  if (drawer === "figures" && figure !== "paper") view.set("figure", figure);
  if (drawer === "papers" && table) view.set("table", table);
  if (sweep) view.set("sweep", sweep);
  if (against) view.set("against", against);
  if (against === "word" || against === "network") view.set("other", other);
  if (against === "change" && change) for (const name of CHANGE) if (change[name] !== undefined) view.set(name, change[name]);
  return `?${view}`;
}

let writing = null;

// What was chosen is a step in the browser's history; walking through a word is none, and is written down when it rests.
export function remember(chosen = false) {
  clearTimeout(writing);
  const write = () => window.history[chosen ? "pushState" : "replaceState"](null, "", address());
  if (window.location.search === address()) return;
  if (chosen) write();
  else writing = setTimeout(write, 150);
}

export class Problem extends Error {}

// Asks the server; what it works on in its turn is asked for again until it is there, or `stop` says that nobody waits.
export async function ask(route, given = {}, { post = null, stop = () => false, wait = () => {} } = {}) {
  const search = new URLSearchParams(Object.entries(given).filter(([, value]) => value !== null && value !== undefined));
  for (;;) {
    let answer;
    try {
      const options = post === null ? {} : { method: "POST", body: post instanceof Blob ? post : JSON.stringify(post) };
      answer = await fetch(`/api/${route}?${search}`, options);
    } catch (error) {
      throw new Problem("The server does not answer.");
    }
    if (!(answer.headers.get("Content-Type") || "").includes("json")) {
      throw new Problem((await answer.text()).trim() || `The server answers ${answer.status}.`);
    }
    const found = await answer.json();
    if (answer.status === 202) {
      wait(found.wait);
      await new Promise((resolve) => setTimeout(resolve, 1000));
      if (stop()) return null;
      continue;
    }
    if (found.problem) throw new Problem(found.problem);
    return found;
  }
}

export const asked = () => ({ network: selection.network, word: selection.word ?? "", rounded: selection.rounded ? 1 : 0 });

// Colours: stack symbols and states have palettes that share none.
export const STACK = ["#0072B2", "#E69F00", "#009E73", "#D55E00", "#CC79A7", "#56B4E9", "#F0E442"];
export const STATES = ["#332288", "#882255", "#117733", "#999933", "#AA4499", "#661100", "#6699CC", "#44AA99"];
export const OPERATIONS = { push: "#009E73", pop: "#D55E00", none: "#8C8C8C", replace: "#56B4E9" };
export const MARKS = { push: "▲", pop: "▼", none: "·", replace: "◆", "no-op": "·" };
export const SIGNED = ["#B35806", "#0072B2"]; // below and above 0
const OTHER = "#8C8C8C";

export const dark = () => document.documentElement.dataset.theme === "dark";

export function tint(hex, share) {
  const [r, g, b] = [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16));
  return `rgba(${r},${g},${b},${(Math.max(0, Math.min(1, share)) * (dark() ? 0.55 : 0.72)).toFixed(3)})`;
}

export const colourOf = (palette, number) => {
  const colours = palette === "state" ? STATES : STACK;
  return number < 0 ? null : colours[number] || OTHER;
};

// What is read and said is grey, the darker the later it comes among all that there is: colours are the automaton's.
export const shade = (number, of) =>
  `rgba(${dark() ? "230,232,235" : "27,31,36"},${(0.12 + (0.6 * Math.max(0, number)) / Math.max(1, of - 1)).toFixed(3)})`;

// A state's name is written in its colour: lighter where the page is dark.
export function stateColour(number) {
  const hex = colourOf("state", number);
  if (!dark()) return hex;
  const parts = [1, 3, 5].map((at) => Math.round(parseInt(hex.slice(at, at + 2), 16) * 0.45 + 255 * 0.55));
  return `rgb(${parts.join(",")})`;
}

export function save(name, content, type = "text/plain") {
  const link = element("a", "", { download: name, href: URL.createObjectURL(new Blob([content], { type })) });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}
