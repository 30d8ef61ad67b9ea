// Files in and out: networks of one's own and saved results that are opened or dropped, traces and automata that are saved.

import { Problem, ask, asked, choose, save, selection, tried } from "./page.js";

const LARGEST = 20_000_000; // bytes of a file

export const opened = () => {
  const names = JSON.parse(window.sessionStorage.getItem("opened") || "[]");
  return /^(upload|result)-/.test(selection.network) ? [...new Set([...names, selection.network])] : names;
};

// A network that was opened, or made here, is listed from now on; returns whether it was not before.
export function remembered(network) {
  const names = opened();
  window.sessionStorage.setItem("opened", JSON.stringify([...new Set([network, ...names])]));
  return !names.includes(network);
}

// Shows the network, or the result, in a file, or says what is wrong with it.
export const receive = (file, problem) => file && tried(async () => {
  if (file.size > LARGEST) {
    const size = `${(file.size / 1e6).toFixed(0)} MB; expected a trained network, or a saved result, of at most ${LARGEST / 1e6} MB`;
    throw new Problem(`${file.name}: ${size}.`);
  }
  const { network } = await ask("upload", { title: encodeURIComponent(file.name) }, { post: file });
  remembered(network);
  await choose({ network, word: null });
}, problem);

export async function saveFile(suffix, problem) {
  const search = new URLSearchParams({ ...asked(), suffix, raw: selection.raw ? 1 : 0 });
  const answer = await fetch(`/api/file?${search}`), text = await answer.text();
  const kind = answer.headers.get("Content-Type") || "";
  if (answer.status === 200 && !kind.includes("application/json")) {
    return save(`${selection.network}.${suffix === "trace" ? "trace.json" : suffix}`, text);
  }
  const said = kind.includes("json") ? JSON.parse(text) : { problem: text };
  problem(said.problem || `${said.wait.split(":")[0]}: ask for the file again in a minute.`);
}
