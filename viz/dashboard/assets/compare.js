// Another run under the first: soft and rounded, two words or two networks, with the first difference marked.

import { Problem, ask, asked, element, part, remember, selection } from "./page.js";

let bench = null; // the two tables, how to go to a step, and which question was the last one

export function watchCompare(given) {
  bench = given;
}

export const nameOf = (found) =>
  `${found.network === selection.network ? "" : `${found.network} `}${found.rounded ? "rounded" : "network"}`.trim();

export async function showAgainst(mine) {
  const { table, second, go, current } = bench;
  const { against, other } = selection;
  part("compare").value = against;
  const place = part("table-2"), line = part("against");
  place.hidden = line.hidden = !against;
  part("bench").classList.toggle("comparing", Boolean(against));
  table.compact = second.compact = Boolean(against);
  if (!against) {
    table.different = null;
    second.clear();
    table.draw();
    return;
  }
  const given = {
    kind: { ...asked(), rounded: selection.rounded ? 0 : 1 },
    word: { ...asked(), word: other },
    network: { ...asked(), network: other },
  }[against];
  againstLine(line);
  if (against === "network" && !other) return;
  try {
    const found = await ask("word", given, { stop: () => mine !== current() });
    if (mine !== current() || !found) return;
    second.step = Math.min(found.letters.length || 1, selection.step);
    second.show(found, against === "word" ? found.word || "ε" : nameOf(found));
    if (against === "word") table.name = table.data.word || "ε";
    table.different = second.different = firstDifference(table.data, found);
    table.draw();
    second.draw();
    const at = table.different;
    part("against-says").replaceChildren(
      at ? element("button", `first difference at step ${at}`, { type: "button", onclick: () => go(at) }) : element("span", "no difference in what is said, done or read"));
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    second.clear();
    part("against-says").textContent = error.message;
  }
}

function againstLine(line) {
  if (line.dataset.kind === `${selection.against} ${selection.network}`) return;
  line.dataset.kind = `${selection.against} ${selection.network}`;
  line.replaceChildren();
  const choose = () => {
    selection.other = line.querySelector("input, select").value;
    remember(true);
    showAgainst(bench.current());
  };
  if (selection.against === "word") {
    const label = element("label", "the other word ", { class: "field" }), typed = element("input", "", { id: "other-word", value: selection.other });
    typed.addEventListener("change", choose);
    label.append(typed);
    line.append(label);
  } else if (selection.against === "network") {
    const label = element("label", "the other network ", { class: "field" }), list = element("select", "", { id: "other-network" });
    list.append(element("option", "", { value: "" }), ...[...part("network").querySelectorAll("option")].map((one) => one.cloneNode(true)));
    list.value = selection.other;
    list.addEventListener("change", choose);
    label.append(list);
    line.append(label);
  }
  line.append(element("span", "", { id: "against-says", role: "status" }));
}

// The first step at which two runs read, say or do something else; values that are only graded do not count.
function firstDifference(one, other) {
  const pairs = one.rows
    .filter((row) => row.at && !row.group && (row.id === "symbol" || row.id === "said" || row.type === "operation" || row.part === "automaton"))
    .map((row) => [row, other.rows.find((found) => found.name === row.name && found.type === row.type)])
    .filter(([, found]) => found);
  const steps = Math.min(one.letters.length, other.letters.length);
  for (let t = 0; t < steps; t += 1) {
    if (pairs.some(([a, b]) => a.names[a.at[t]] !== b.names[b.at[t]])) return t + 1;
  }
  return one.letters.length === other.letters.length ? null : steps + 1;
}

