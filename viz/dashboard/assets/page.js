// What all parts of the page share: what is selected, its address, questions to the server, colours, elements.

const AGAIN = 500; // milliseconds between two questions for what is worked on
const FORMER = { trust: "checks", papers: "papers" }; // pages of earlier links

// One selection, which every part follows and the address holds: texts, marks that are 1 where they hold, and a change of
// a step, of which nothing is chosen where it is "".
const TEXTS = { network: "marnn-stack-rnn-dyck-2", word: null, state: "", chip: "", sweep: "", drawer: "", against: "", figure: "paper", table: "", rows: "", other: "" };
const MARKED = ["rounded", "raw", "alone"];
export const CHANGE = ["change", "set", "stack", "cell", "unit", "to", "from", "after", "from-cell"];
export const selection = { step: 1 };

export const part = (id) => document.getElementById(id);
TEXTS.table = part("paper").options[0].value;

// An element with what stands in it, one thing or several, of which some may be missing; a function does what it is called by.
export function element(tag, content = "", attributes = {}) {
  const made = document.createElement(tag);
  made.append(...[content].flat().filter((one) => one || one === 0));
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") made[name] = value;
    else if (value !== null && value !== undefined && value !== false) made.setAttribute(name, value === true ? "" : value);
  }
  return made;
}

// A part of the page as the server made it, left alone where it is the same.
const made = new WeakMap();
export function fill(place, html = "") {
  if (made.get(place) === html) return;
  const at = [...place.querySelectorAll("button")].indexOf(document.activeElement); // the button that has the focus keeps it
  place.innerHTML = html;
  place.querySelectorAll("button")[at]?.focus();
  made.set(place, html);
}

// What a browser keeps between visits, where it keeps anything.
export function kept(name, value) {
  try {
    return value === undefined ? window.localStorage.getItem(name) : window.localStorage.setItem(name, value);
  } catch {
    return null;
  }
}

export const escaped = (text) =>
  String(text).replace(/[&<>"]/g, (one) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" })[one]);

let typed = null; // the box in which somebody types
document.addEventListener("input", ({ target }) => void (typed = target));

export function readAddress(search = window.location.search) {
  typed = null;
  const asked = new URLSearchParams(search), step = asked.get("step") || "";
  for (const [name, otherwise] of Object.entries(TEXTS)) selection[name] = asked.get(name) ?? otherwise;
  for (const name of MARKED) selection[name] = asked.get(name) === "1";
  selection.step = /^\d{1,6}$/.test(step) ? Math.max(1, Number(step)) : 1;
  const there = (found, name) => (document.querySelector(found.replace("?", CSS.escape(name))) ? name : "");
  selection.drawer = there('[data-drawer="?"]', asked.get("drawer") ?? String(FORMER[asked.get("page")]));
  selection.against = there('#compare [value="?"]', selection.against);
  for (const name of CHANGE) selection[name] = (selection.against === "change" && asked.get(name)) || "";
}

export function address() {
  const { network, word, step, against } = selection, view = new URLSearchParams({ network, word: word ?? "", step });
  const set = (name, value) => value && value !== TEXTS[name] && view.set(name, value);
  for (const name of MARKED) set(name, selection[name] ? "1" : "");
  for (const name of Object.keys(TEXTS)) if (!view.has(name)) set(name, selection[name]);
  if (against === "change") for (const name of CHANGE) set(name, selection[name]);
  return `?${view}`;
}

let writing = null;

// Walking through a word is no step in the browser's history: it is written down when it rests.
export function remember() {
  clearTimeout(writing);
  writing = setTimeout(() => window.history.replaceState(null, "", address()), 150);
}

let follow = null;

// What is to be done once something else is selected; it is given what was selected before.
export const whenChosen = (act) => void (follow = act);

// Selects what is `given`, by name, null for what is otherwise, and has the page follow; what belongs to another network,
// word or comparison goes.
export function choose(given) {
  const before = { ...selection }, was = address(), now = new URLSearchParams(was);
  const other = (name) => name in given && given[name] !== (now.get(name) ?? "");
  const gone = [
    ...(other("network") ? ["state", "raw", "chip", "step", ...CHANGE] : other("word") ? ["step"] : []),
    ...(other("against") ? ["other", ...CHANGE] : []),
    ...(other("raw") ? ["state"] : []),
    ...(other("from") ? ["after"] : []),
    ...(given.network && given.network === now.get("other") ? ["against", "other"] : []), // beside itself is nothing to see
  ];
  for (const name of gone) now.delete(name);
  for (const [name, value] of Object.entries(given)) {
    if (value === null) now.delete(name);
    else now.set(name, value);
  }
  readAddress(`?${now}`);
  clearTimeout(writing);
  if (address() !== was) window.history.pushState(null, "", address());
  return follow(before);
}

// Every control is at what is selected, but for the box in which somebody types: a late answer erases nothing.
export function showChosen() {
  for (const one of document.querySelectorAll("[data-choose]")) {
    if (one === typed) continue;
    const now = selection[one.dataset.choose], chosen = now === true ? "1" : now || "";
    if (one.type === "button") one.setAttribute("aria-pressed", String(one.value === chosen));
    else if (one.type === "radio") one.checked = one.value === chosen;
    else one.value = chosen;
  }
}

export class Problem extends Error {}

// What comes of `act`; where it meets a problem `failed` is told, in a sentence.
export async function tried(act, failed) {
  try {
    return await act();
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    return failed(error.message);
  }
}

let gone = null;

// A server that was ended may come back: then all is asked for anew, which the address holds; one with another token says
// that a new link is needed.
function comeBack() {
  gone ??= setInterval(() => fetch("/api/papers").then(({ ok, status }) => (ok || status === 403) && window.location.reload(), () => {}), 2000);
  throw new Problem("The server does not answer. Once it does, this page comes back.");
}

// Asks the server; what it works on in its turn is asked for again until it is there, or `stop` says that nobody waits.
export async function ask(route, given = {}, { post = null, stop = () => false, wait = () => {} } = {}) {
  const search = new URLSearchParams(Object.entries(given).filter(([, value]) => value !== null && value !== undefined));
  const sent = post === null ? {} : { method: "POST", body: post instanceof Blob ? post : JSON.stringify(post) };
  for (;;) {
    const answer = await fetch(`/api/${route}?${search}`, sent).catch(comeBack);
    if (!(answer.headers.get("Content-Type") || "").includes("json")) {
      const text = await answer.text(); // of a file, or of a proxy
      if (answer.ok) return text;
      throw new Problem(text.trim() || `The server answers ${answer.status}.`);
    }
    const found = await answer.json();
    if (found.problem) throw new Problem(found.problem);
    if (answer.status !== 202) return found;
    wait(found.wait);
    await new Promise((resolve) => setTimeout(resolve, AGAIN));
    if (stop()) return null;
  }
}

export const asked = () => ({ network: selection.network, word: selection.word ?? "", rounded: selection.rounded ? 1 : 0 });

// Colours: stack symbols and states have palettes that share none.
export const STACK = ("#0072B2 #E69F00 #009E73 #D55E00 #CC79A7 #56B4E9 #F0E442 " +
  "#6A66CC #CC8866 #66CCA6 #C466CC #B7CC66 #B0A48A #CC667B #66CC6F #8C66CC").split(" ");
export const STATES = ("#332288 #882255 #117733 #999933 #AA4499 #661100 #6699CC #44AA99 " +
  "#864A2D #2D8665 #7F2D86 #73862D #2D5986 #862D3F #2D8634 #4E2D86").split(" ");
const OTHER = "#8C8C8C";
export const OPERATIONS = { push: "#009E73", pop: "#D55E00", none: "#8C8C8C", replace: "#56B4E9" };
export const MARKS = { push: "▲", pop: "▼", none: "·", replace: "◆", "no-op": "·" };
export const SIGNED = ["#B35806", "#0072B2"]; // below and above 0
const system = window.matchMedia("(prefers-color-scheme: dark)");
export const dark = () => (document.documentElement.dataset.theme || (system.matches ? "dark" : "light")) === "dark";

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

export function save(name, content, type = "text/plain") {
  const href = URL.createObjectURL(new Blob([content], { type }));
  element("a", "", { download: name, href }).click();
  setTimeout(() => URL.revokeObjectURL(href), 10_000);
}
