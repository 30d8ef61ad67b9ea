// Unit tests of the page's JavaScript, run in the page: each is given what loads a module and what holds two values
// against each other. What comes back is how many there are, and what is wrong.
export default async () => {
  const load = (name) => import(`/assets/${name}.js`), wrong = [];
  const run = { // a word's table of two rows
    letters: ["(", ")", "["], wrong: [3], parts: null,
    rows: [
      { type: "text", id: "symbol", name: "symbol", names: ["(", ")", "["], at: [0, 1, 2] },
      { type: "text", id: "said", name: "predicted", names: ["a", "abcdefgh"], short: ["a", "abcdefgh"], at: [0, 1, 0], marks: "r.w" },
      { type: "heat", name: "probability", values: [0.5, -0.25, null], low: -1, high: 1 },
      { type: "heat", name: "p(a)", values: [1, 1, 1], low: 0, high: 1, group: "p of each symbol" },
    ],
  };
  const tests = {
    "text is no HTML": async (same) => same((await load("page")).escaped('<a href="&">'), "&lt;a href=&quot;&amp;&quot;&gt;"),

    "an element leaves out what is missing, and calls what it is given": async (same) => {
      const { element } = await load("page"), clicks = [];
      const made = element("p", [null, "a", element("b", 0), false], { title: null, hidden: true, onclick: () => clicks.push(1) });
      made.click();
      same([made.outerHTML, clicks], ['<p hidden="">a<b>0</b></p>', [1]]);
    },

    "what is chosen takes with it what belongs to another network or word, and no two steps in the history are the same": async (same) => {
      const { address, choose, readAddress, selection, whenChosen } = await load("page"), { follow } = await load("network"), seen = [];
      const before = { ...selection }, here = window.location.search, { length } = window.history;
      whenChosen((was) => seen.push(was.network));
      readAddress("?network=n&word=ab&step=2&state=q0&against=network&other=m&rounded=1");
      choose({ word: "ab" });
      same([window.history.length - length, address()], [0, "?network=n&word=ab&step=2&rounded=1&state=q0&against=network&other=m"]);
      choose({ network: "m" });
      same([seen, address()], [["n", "n"], "?network=m&word=ab&step=1&rounded=1"]);
      choose({ against: "change", change: "4", set: "cells", from: "a", after: "1" });
      choose({ from: "b" });
      same(address(), "?network=m&word=ab&step=1&rounded=1&against=change&change=4&set=cells&from=b");
      choose({ against: "" });
      same(address(), "?network=m&word=ab&step=1&rounded=1");
      window.history.replaceState(null, "", here);
      Object.assign(selection, before);
      whenChosen(follow);
    },

    "an address holds what is selected, and a garbled one is read as far as it can be": async (same) => {
      const { address, readAddress, selection } = await load("page"), before = { ...selection }, here = window.location.search;
      const read = (search) => {
        window.history.replaceState(null, "", search);
        readAddress();
        return address();
      };
      const whole = "?network=n&word=%28&step=2&rounded=1&state=q0&drawer=figures&against=word&figure=map&other=x";
      same(read(whole), whole);
      same(read("?network=n&step=-3&drawer=none&against=nobody&word="), "?network=n&word=&step=1");
      window.history.replaceState(null, "", here);
      Object.assign(selection, before);
    },

    "a problem is told, and anything else is thrown": async (same) => {
      const { Problem, tried } = await load("page");
      same(await tried(() => { throw new Problem("no"); }, (said) => `told: ${said}`), "told: no");
      same(await tried(() => { throw new TypeError("bug"); }, () => "told").catch((error) => error.name), "TypeError");
    },

    "two runs part where something else is read, said or done": async (same) => {
      const { firstDifference } = await load("compare"), other = (at, letters = run.letters) => ({ letters, rows: [run.rows[0], { ...run.rows[1], at }] });
      same(firstDifference(run, other([0, 1, 0])), null);
      same(firstDifference(run, other([0, 0, 0])), 2);
      same(firstDifference(run, other([0, 1], ["(", ")"])), 3);
    },

    "what is sorted: nothing before something, numbers as numbers, names by the numbers in them": async (same) => {
      const { counted } = window.dashAgGridFunctions, sorted = (...values) => values.sort(counted);
      same(sorted(10, null, 9), [null, 9, 10]);
      same(sorted("net-10", "net-9", "net-1"), ["net-1", "net-9", "net-10"]);
    },

    "numbers are written with five digits, whole ones in full": async (same) => {
      const { written } = window.dashAgGridFunctions;
      same([1234567, 0.1234567, null, 0].map(written), ["1,234,567", "0.12346", "", "0"]);
    },

    "ours is coloured where both are numbers, blue above the paper's": async (same) => {
      const { beside } = window.dashAgGridFunctions, colour = (value, paper) => beside({ value, data: { "x: paper": paper }, colDef: { field: "x: ours" } }).background;
      same([colour(1, 1), colour(1, null)], ["none", "none"]);
      same([colour(2, 1).includes("#0072b2 28%"), colour(1, 2).includes("#d55e00 28%")], [true, true]);
    },

    "cells hold what has room, a change of sign and all; rows that are folded are counted": async (same) => {
      const { StepTable } = await load("table"), place = document.createElement("div"), chosen = [];
      Object.defineProperty(place, "clientWidth", { value: 400 });
      document.body.append(place);
      const table = new StepTable(place, (step) => chosen.push(step));
      table.show(run);
      const row = (name) => [...place.querySelector(`tr:has([title="${name}"])`).querySelectorAll("td[data-step]")];
      same(row("probability").map((one) => one.textContent), [".50", "-.25", ""]);
      same(row("predicted").map((one) => one.textContent), ["a", "abcdef", "a"]);
      same(row("predicted").map((one) => one.className), ["r", "", "w"]);
      same(place.querySelector(".fold button").textContent, "▸ p of each symbol (1)");
      row("symbol")[1].click();
      same(chosen, [2]);
      same(table.told(3), "step 3 reads [; predicted a, wrong");
      place.remove();
    },
  };
  for (const [name, test] of Object.entries(tests)) {
    await test((found, expected) => {
      const [one, other] = [found, expected].map((value) => JSON.stringify(value));
      if (one !== other) wrong.push(`${name}: ${one}, expected ${other}`);
    }).catch((error) => wrong.push(`${name}: ${error}`));
  }
  return [Object.keys(tests).length, wrong];
};
