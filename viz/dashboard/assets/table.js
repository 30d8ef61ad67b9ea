// The step table: a column a symbol. Only the columns that can be seen are there, so that a word of 10,000 symbols is as
// quick as one of ten; where columns are narrower than a letter the rows are drawn.

import { MARKS, OPERATIONS, SIGNED, colourOf, dark, element, escaped, part, shade, tint } from "./page.js";

const LETTER = 14, WIDEST = 50, ROW = 19, CHARACTER = 7.3, SIGN = 11; // pixels

// Whether network and automaton say different things there, whoever is right.
const differ = (row, t) => row.differs?.[t] === "d";

export class StepTable {
  constructor(place, choose) {
    Object.assign(this, { place, choose, data: null, step: 1, begin: 0, width: WIDEST, open: new Set(), beside: null, different: null, changed: null });
    place.addEventListener("click", (event) => this.clicked(event));
    place.addEventListener("wheel", (event) => this.wheel(event), { passive: false });
    this.band = element("div", "", { class: "band" });
    this.mark = element("div", "", { class: "band different" });
    this.cut = element("div", "", { class: "band changed" });
  }

  get size() { return this.data ? this.data.letters.length : 0; }
  get names() { return parseInt(getComputedStyle(this.place).getPropertyValue("--names"), 10) || 140; }
  get room() { return Math.max(80, this.place.clientWidth - this.names - 2); }
  get shown() { return Math.max(1, Math.min(this.size, Math.floor(this.room / this.width))); }

  show(data, name = "") {
    this.data = data;
    this.name = name;
    this.different = null;
    const longest = Math.max(2, ...data.rows.flatMap((row) => row.short || (row.type === "category" ? row.names : [])).map((one) => one.length));
    const least = SIGN + CHARACTER * Math.min(5, longest); // of an answer, a state or a symbol so many characters can be read at first
    this.fit(Math.max(least, Math.min(WIDEST, this.room / Math.max(1, this.size))));
  }

  clear() {
    this.data = null;
    this.place.replaceChildren();
  }

  fit(width = this.room / Math.max(1, this.size)) {
    this.width = Math.min(WIDEST, width);
    if (this.width < LETTER * 1.7 && this.width >= LETTER) this.width = Math.max(this.width, LETTER);
    this.centre();
    this.draw();
  }

  zoom(factor) {
    this.width = Math.max(this.room / Math.max(1, this.size, 10), Math.min(WIDEST, this.width * factor));
    this.centre();
    this.draw();
  }

  centre() {
    this.begin = Math.max(0, Math.min(this.size - this.shown, this.step - 1 - Math.floor(this.shown / 2)));
  }

  go(step) {
    this.step = step;
    if (!this.data) return;
    const at = step - 1 - this.begin, edge = Math.min(2, Math.floor(this.shown / 4));
    const left = this.begin > 0, right = this.begin + this.shown < this.size;
    if ((at < edge && left) || (at >= this.shown - edge && right)) {
      this.centre();
      this.draw();
    } else this.place_band();
  }

  pan(columns) {
    const begin = Math.max(0, Math.min(this.size - this.shown, Math.round(this.begin + columns)));
    if (begin === this.begin) return;
    this.begin = begin;
    this.draw();
  }

  rows() {
    const groups = Object.groupBy(this.data.rows, ({ group }) => group ?? "");
    return this.data.rows.flatMap((row) => {
      if (!row.group) return [row];
      const some = groups[row.group], head = row === some[0] ? [{ fold: row.group, count: some.length }] : [];
      return this.open.has(row.group) ? [...head, row] : head;
    });
  }

  draw() {
    if (!this.data) return;
    if (!this.size) {
      this.place.replaceChildren(element("p", "The empty word has no steps."));
      return;
    }
    if (this.width >= LETTER) this.drawCells();
    else this.drawMap();
    this.place.append(this.band, this.mark, this.cut);
    this.place_band();
    if (this.place.id === "table-1") part("legend").innerHTML = this.legend();
  }

  // What the colours stand for: of every scale its two ends, and the rows that have it; of operations those that are there.
  legend() {
    const rows = this.rows(), [below, above] = SIGNED.map((colour) => tint(colour, 1));
    const scales = Object.groupBy(rows.filter(({ type }) => type === "heat"), (row) => {
      const { low, high } = this.scale(row), most = Number(Math.max(Math.abs(low), Math.abs(high)).toFixed(2));
      return `${low < 0 ? -most : 0} ${most}`;
    });
    const bars = Object.entries(scales).map(([ends, some]) => {
      const [low, high] = ends.split(" "), names = some.slice(0, 3).map(({ name }) => escaped(name)).join(", ");
      return `<span>${low} <i style="background:linear-gradient(90deg,${low < 0 ? `${below},` : ""}transparent,${above})"></i> ${high}: ${names}${some.length > 3 ? " …" : ""}</span>`;
    });
    const done = new Set(rows.filter(({ type }) => type === "operation").flatMap(({ names }) => names));
    const signs = [...done].map((name) => `<span><i style="background:${tint(OPERATIONS[name] || "#CC79A7", 1)}">${MARKS[name] || ""}</i> ${escaped(name)}</span>`);
    return [...bars, ...signs, ...(rows.some(({ marks }) => marks?.includes("e")) ? ['<span><i class="hatched"></i> never pushed</span>'] : [])].join("");
  }

  drawCells() {
    const end = Math.min(this.size, this.begin + this.shown);
    const steps = `<span class="unseen">: steps ${this.begin + 1} to ${end} of ${this.size}</span>`;
    let html = `<table style="width:${this.names + this.width * (end - this.begin)}px"><caption class="${this.name ? "tablename" : "unseen"}">${escaped(this.name || "the word")}${steps}</caption>` +
      `<colgroup><col style="width:${this.names}px"><col span="${end - this.begin}" style="width:${this.width}px"></colgroup>`;
    html += `<tr class="steps"><th scope="row">step</th>`;
    for (let t = this.begin; t < end; t += 1) html += `<th scope="col" data-step="${t + 1}">${t + 1}</th>`;
    html += "</tr>";
    for (const row of this.rows()) html += row.fold ? this.fold(row, end) : this.row(row, end);
    this.place.innerHTML = `${html}</table>`;
  }

  fold({ fold, count }, end) {
    const open = this.open.has(fold);
    return `<tr class="fold"><th scope="row"><button type="button" data-fold="${escaped(fold)}" aria-expanded="${open}" title="${escaped(fold)}">` +
      `${open ? "▾" : "▸"} ${escaped(fold)} (${count})</button></th><td colspan="${end - this.begin}"></td></tr>`;
  }

  row(row, end) {
    const kind = `${row.id === "symbol" ? "symbol" : ""}${row.part ? ` part-${row.part}` : ""}${row.type === "segments" ? " segments" : ""}`;
    const scale = this.scale(row);
    let html = `<tr class="${kind}"><th scope="row" title="${escaped(row.name)}">${escaped(row.name)}</th>`;
    if (row.type === "segments") return `${html}<td colspan="${end - this.begin}">${this.segments(row, end)}</td></tr>`;
    for (let t = this.begin; t < end; t += 1) {
      const mark = row.marks && row.marks[t] !== "." ? row.marks[t] || "" : "";
      const colour = row.type === "text" ? null : this.colour(row, t, scale), signs = `${mark}${differ(row, t) ? " d" : ""}`;
      html += `<td data-step="${t + 1}" title="${escaped(`step ${t + 1}, reads ${this.data.letters[t]}: ${this.full(row, t)}`)}"${signs ? ` class="${signs}"` : ""}${colour && mark !== "e" ? ` style="background:${colour}"` : ""}>${escaped(this.text(row, t))}</td>`;
    }
    return `${html}</tr>`;
  }

  text(row, t) {
    if (row.type === "heat") {
      const value = row.values[t];
      return value === null || value === undefined || this.width < 30 ? "" : value.toFixed(2).replace(/^(-?)0\./, "$1.");
    }
    const name = row.at[t] === undefined || row.at[t] < 0 ? "" : (row.short || row.names)[row.at[t]];
    if (row.type === "operation") return MARKS[name] || name.split(/[ -]/).map((word) => word[0]).join("");
    const room = this.width - (row.marks?.[t] === "w" || differ(row, t) ? SIGN : 0);
    return name.length * CHARACTER > room ? name.slice(0, Math.max(1, Math.floor(room / CHARACTER))) : name;
  }

  full(row, t) {
    const name = row.type === "heat" ? row.values[t] : row.at && row.at[t] >= 0 ? row.names[row.at[t]] : null;
    const marks = { w: ", wrong", r: ", right", e: ", empty: less than half of it was pushed" };
    const strength = row.strength ? ` ${row.strength[t]}` : "", differs = differ(row, t) ? ", not what the network says" : "";
    return `${row.name} ${name ?? "–"}${strength}${(row.marks && marks[row.marks[t]]) || ""}${differs}`;
  }

  // A row of two tables that are compared has one scale in both.
  scale(row) {
    const other = this.beside?.data?.rows.find((one) => one.name === row.name && one.type === row.type);
    return other ? { low: Math.min(row.low, other.low), high: Math.max(row.high, other.high), names: [...new Set([...row.names || [], ...other.names || []])] } : row;
  }

  colour(row, t, scale) {
    if (row.type === "heat") {
      const value = row.values[t];
      if (value === null || value === undefined) return null;
      const most = Math.max(Math.abs(scale.low), Math.abs(scale.high));
      return tint(SIGNED[value < 0 ? 0 : 1], Math.abs(value) / most);
    }
    if (row.type === "count") return row.at[t] >= 0 ? tint(SIGNED[1], Number(row.names[row.at[t]]) / scale.high) : null;
    if (row.type === "text") return row.at[t] >= 0 ? shade(scale.names.indexOf(row.names[row.at[t]]), scale.names.length) : null;
    if (row.type === "operation") return tint(OPERATIONS[row.names[row.at[t]]] || "#CC79A7", 0.25 + 0.75 * row.strength[t]);
    if (row.type === "category") return row.at[t] >= 0 ? tint(colourOf(row.palette, row.at[t]), 0.7) : null;
    return null;
  }

  // The pieces of a stack that has lengths, as in Sun et al. 1993, figures 4-6: from step to step, from height to height.
  segments(row, end) {
    const high = this.compact ? 64 : 130, scale = high / this.scale(row).high, known = this.data.run?.symbols || [];
    const seen = row.pieces.filter(([, first, last]) => last >= this.begin && first < end);
    const boxes = seen.map(([pushed, first, last, bottom, top]) => {
      const x = (Math.max(first, this.begin) - this.begin) * this.width, to = (Math.min(last + 1, end) - this.begin) * this.width;
      const y = high - top * scale, tall = (top - bottom) * scale, letter = row.read[pushed];
      const symbol = known.indexOf(row.names[letter]), number = symbol < 0 ? known.length + letter : symbol; // as in the automaton
      const name = tall > 11 && to - x > 9 ? `<text x="${(x + to) / 2}" y="${y + tall / 2 + 4}" text-anchor="middle">${escaped(row.names[letter])}</text>` : "";
      return `<rect x="${x}" y="${y}" width="${to - x}" height="${tall}" fill="${colourOf("stack", number)}" fill-opacity="0.6" stroke="var(--ground)">` +
        `<title>${pushed < row.read.length - row.put ? `pushed at step ${pushed + 1} reading` : "put there:"} ${escaped(row.names[letter])}, length ${(top - bottom).toFixed(3)}</title></rect>${name}`;
    });
    const says = `${seen.length} pieces on the stack, up to height ${row.high.toFixed(2)}`;
    return `<svg role="img" aria-label="${says}" width="${(end - this.begin) * this.width}" height="${high}">${boxes.join("")}</svg>`;
  }

  // Rows of colour alone, a canvas for all: of steps that share a pixel the worst is seen.
  drawMap() {
    const rows = this.rows().filter((row) => !row.fold && row.type !== "segments");
    const canvas = element("canvas", "", { role: "img", "aria-label": `${this.size} steps as ${rows.length} rows of colour` });
    const wide = Math.floor(this.room), context = canvas.getContext("2d");
    canvas.width = wide;
    canvas.height = rows.length * ROW;
    const end = Math.min(this.size, this.begin + this.shown + 1), signs = { w: dark() ? "#ff9a5c" : "#b04300", d: dark() ? "#7cc6f2" : "#00568a" };
    rows.forEach((row, number) => {
      const y = number * ROW, scale = this.scale(row);
      for (let x = 0, t = this.begin; t < end && x < wide;) {
        const next = Math.max(t + 1, this.begin + Math.floor((x + 1) / this.width));
        const here = (row.marks || "").slice(t, next) + (row.differs || "").slice(t, next), sign = ["w", "d"].find((one) => here.includes(one));
        const colour = signs[sign] || (row.marks?.[t] === "e" ? null : this.colour(row, t, scale));
        const width = Math.max(1, (next - t) * this.width);
        if (colour) {
          context.fillStyle = colour;
          context.fillRect(x, y, Math.ceil(width), ROW - 2);
        }
        t = next;
        x = (t - this.begin) * this.width;
      }
    });
    const names = element("div", "", { class: "names" });
    names.append(...rows.map((row) => element("div", row.name, { title: row.name })));
    this.place.replaceChildren(names, canvas);
  }

  place_band() {
    for (const [place, step] of [[this.band, this.step], [this.mark, this.different], [this.cut, this.changed]]) {
      place.hidden = !step || step <= this.begin || step > this.begin + this.shown;
      place.style.left = `${this.names + (step - 1 - this.begin) * this.width}px`;
      place.style.width = `${Math.max(3, this.width)}px`;
    }
    this.band.dataset.step = this.step;
  }

  stepAt(event) {
    const cell = event.target.closest("[data-step]");
    if (cell) return Number(cell.dataset.step);
    if (!event.target.closest("canvas, svg")) return null;
    const x = event.clientX - this.place.getBoundingClientRect().left - this.names;
    return Math.max(1, Math.min(this.size, this.begin + 1 + Math.floor(x / this.width)));
  }

  clicked(event) {
    const fold = event.target.closest("[data-fold]");
    if (fold) {
      const name = fold.dataset.fold;
      this.open[this.open.has(name) ? "delete" : "add"](name);
      this.draw();
      this.place.querySelector(`[data-fold="${CSS.escape(name)}"]`)?.focus();
      return;
    }
    const step = this.stepAt(event);
    if (step) this.choose(step);
  }

  wheel(event) {
    if (event.ctrlKey) {
      event.preventDefault();
      this.zoom(event.deltaY < 0 ? 1.25 : 0.8);
    } else if (Math.abs(event.deltaX) > Math.abs(event.deltaY)) {
      event.preventDefault();
      this.pan(event.deltaX / this.width);
    }
  }

  // What happens at a step, for those who do not see the table.
  told(step) {
    if (!this.size) return "";
    const t = step - 1, rows = this.data.rows.filter((row) => row.at && !row.group && row.id !== "symbol");
    return `step ${step} reads ${this.data.letters[t]}; ${rows.filter((row) => row.at[t] >= 0).map((row) => this.full(row, t)).join("; ")}`;
  }
}
