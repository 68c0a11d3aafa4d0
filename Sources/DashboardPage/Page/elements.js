// Making elements. Text is always set as text, never as markup.

import { because, brief, count, meanings, ms, outcomes, percent, source, stamp } from "./numbers.js";

/// An element: `h("a", { href, class: "x", on: { click } }, "text", child)`.
export function h(tag, properties = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (value === undefined || value === null || value === false) continue;
    if (name === "on") for (const [event, handler] of Object.entries(value)) node.addEventListener(event, handler);
    else if (name === "style") for (const [key, text] of Object.entries(value)) node.style.setProperty(key, text);
    else node.setAttribute(name, value === true ? "" : value);
  }
  node.append(...children.flat().filter((child) => child !== undefined && child !== null && child !== false));
  return node;
}

/// Puts children in the place of those before, and keeps the keyboard where it was.
export const fill = (node, ...children) => keepingFocus(node, () =>
  node.replaceChildren(...children.flat().filter((child) => child !== undefined && child !== null && child !== false)));

/// Changes an element's contents; the focus then is on the element of the same key.
function keepingFocus(node, change) {
  const active = document.activeElement;
  const key = node.contains(active) && active !== node ? active.dataset.key ?? active.getAttribute("href") : null;
  change();
  if (!key || node.contains(document.activeElement)) return;
  const again = [...node.querySelectorAll("a, button, input, select, summary")]
    .find((element) => (element.dataset.key ?? element.getAttribute("href")) === key);
  again?.focus({ preventScroll: true });
}

/// Puts rows in the place of those before. One that says the same stays, and so do a selection and a tooltip in it; one with buttons
/// is always new, since they act on the newest answer.
const fillRows = (body, rows) => keepingFocus(body, () => {
  const before = [...body.children];
  for (const [index, row] of rows.entries()) {
    const old = before[index];
    if (!old) body.append(row);
    else if (!old.isEqualNode(row) || row.querySelector("button")) old.replaceWith(row);
  }
  for (const old of before.slice(rows.length)) old.remove();
});

let ids = 0;
export const newID = (prefix) => `${prefix}-${++ids}`;

/// A card with a heading.
export function card(title, ...children) {
  const id = newID("card");
  const note = children[0]?.note ? children.shift().note : null;
  return h("section", { class: "card", "aria-labelledby": id },
    h("div", { class: "card-head" }, h("h2", { id }, title), note && h("div", { class: "soft" }, note)), children);
}

/// One number with its name. `set(value, level)` changes it.
export function tile(label, hint) {
  const value = h("dd", { class: "value" }, "–");
  const element = h("div", { class: "tile" }, h("dt", {}, label), value, hint && h("dd", { class: "hint" }, hint));
  return {
    element,
    set(text, level = "") {
      if (value.textContent !== text) value.textContent = text;
      element.dataset.level = level;
    },
    hint(text) { if (element.lastChild !== value) element.lastChild.textContent = text; },
  };
}

export const tiles = (...all) => h("dl", { class: "tiles" }, all.map((one) => one.element));

/// A table. Columns are `{ title, cell(row), number?, wide?, long? }`; a cell is text or an element, a long one is cut to its line.
export function table(caption, columns, empty) {
  const body = h("tbody", { role: "rowgroup" });
  const nothing = h("p", { class: "empty" }, empty ?? "Nothing yet.");
  const element = h("div", { class: "table" },
    h("table", { role: "table" },
      h("caption", { class: "hidden" }, caption),
      h("thead", { role: "rowgroup" }, h("tr", { role: "row" }, columns.map((column) =>
        h("th", { scope: "col", role: "columnheader", class: column.number ? "number" : null }, column.title)))),
      body),
    nothing);
  return {
    element,
    set(rows) {
      nothing.hidden = rows.length > 0;
      element.firstChild.hidden = rows.length === 0;
      fillRows(body, rows.map((row) => h("tr", { role: "row" }, columns.map((column) => {
        const content = column.cell(row);
        const names = [column.number && "number", column.wide && "wide", column.long && "long"].filter(Boolean).join(" ");
        return h("td", { role: "cell", "data-label": column.title, class: names || null },
          content === undefined || content === null || content === "" ? "–" : content);
      }))));
    },
  };
}

/// The outcomes of matched instances: a bar of parts, and each part with its number.
export function split(label) {
  const bar = h("div", { class: "split", role: "img" });
  const legend = h("dl", { class: "legend" });
  const element = h("div", {}, bar, legend);
  return {
    element,
    set(numbers, { all = false } = {}) {
      const total = outcomes.reduce((sum, [name]) => sum + (numbers[name] ?? 0), 0);
      const parts = outcomes.filter(([name]) => numbers[name] > 0);
      bar.setAttribute("aria-label", total === 0 ? `${label}: nothing yet`
        : `${label}: ${parts.map(([name, title]) => `${title} ${percent(numbers[name], total)}`).join(", ")}`);
      bar.replaceChildren(...parts.map(([name]) =>
        h("span", { style: { "flex-grow": String(numbers[name]), background: `var(--${name})` } })));
      bar.classList.toggle("none", total === 0);
      const shown = all ? outcomes.filter(([name]) => numbers[name] > 0 || !["removed", "cancelled"].includes(name)) : parts;
      legend.replaceChildren(...shown.map(([name, title]) =>
        h("div", { title: meanings[name], "data-outcome": name },
          h("dt", {}, h("i", { style: { background: `var(--${name})` } }), title),
          h("dd", {}, h("b", { "data-count": String(numbers[name] ?? 0) }, count(numbers[name] ?? 0)),
            h("span", { class: "soft" }, total ? percent(numbers[name] ?? 0, total) : "")))));
    },
  };
}

/// How much of something is used.
export function meter(part, all, level = "") {
  const share = all > 0 ? Math.min(1, part / all) : 0;
  return h("span", { class: "meter", "data-level": level },
    h("i", { style: { width: `${Math.round(share * 100)}%` } }));
}

/// The same with words beside it.
export const spent = (part, all, text, level) => h("span", { class: "spent" }, meter(part, all, level), h("span", {}, text));

/// A word in a coloured frame.
export const badge = (text, level = "") => h("span", { class: "badge", "data-level": level }, text);

/// An outcome's word. A decision to issue a reload stays the same, however the reload ended.
export const outcomeTitle = (name) => (name === "issued" ? "Issued" : outcomes.find(([known]) => known === name)?.[1] ?? name);

export const outcomeBadge = (name) =>
  h("span", { class: "outcome" }, h("i", { style: { background: `var(--${name}, var(--unchanged))` } }), outcomeTitle(name));

/// Facts as pairs, or as `[name, value, "wide"]` with a line of their own; those without a value are left out.
export function facts(pairs) {
  return h("dl", { class: "facts" }, pairs
    .filter(([, value]) => value !== undefined && value !== null && value !== "")
    .map(([name, value, width]) => h("div", { class: width }, h("dt", {}, name), h("dd", {}, value))));
}

/// A labelled field of a form.
export function field(label, control, hint) {
  control.id ||= newID("field");
  const hintID = `${control.id}-hint`;
  if (hint) control.setAttribute("aria-describedby", hintID);
  return h("div", { class: "field" }, h("label", { for: control.id }, label), control,
    hint && h("p", { class: "soft", id: hintID }, hint));
}

export function choice(options, value = "") {
  return h("select", {}, options.map(([name, title]) => h("option", { value: name, selected: name === value }, title)));
}

/// A time in a column: pointing at it shows its zone and year.
export const when = (instant) => (instant === undefined || instant === null ? ""
  : h("time", { datetime: new Date(ms(instant)).toISOString(), title: stamp(instant) }, brief(instant)));

/// The address of a view: of one thing, or of a list with its filters.
export function to(view, places = [], query = {}) {
  const items = Object.entries(query).filter(([, value]) => value !== undefined && value !== null && value !== "");
  const path = [view, ...places.map(encodeURIComponent)].join("/");
  return `#/${path}${items.length ? `?${new URLSearchParams(items)}` : ""}`;
}

/// A link that keeps the keyboard's place while the elements around it are drawn anew.
export const link = (href, text, more = {}) => h("a", { href, "data-key": href, ...more }, text);

/// The text for an unknown thing, in the place of a whole view.
export const gone = (text, back) => h("p", { class: "card empty" }, text, " ", back);

/// Why a decision was made, in words.
export function reason(row, write) {
  const words = [because[row.reason] ?? row.reason];
  if (row.exemption && row.exemption !== row.reason) words.push(`exempt: ${source(row.exemption)}`);
  if (row.until) words.push(`until ${write(row.until)}`);
  return words.join(", ");
}

/// The path of an instance's address, `<app>/<host>:<instance>`: the app is a segment of its own.
export const instancePath = (id) => {
  const slash = id.indexOf("/");
  return `${encodeURIComponent(id.slice(0, slash))}/${encodeURIComponent(id.slice(slash + 1))}`;
};
export const instanceLink = (id, text = id) => link(to("instances", [id]), text, { class: "id" });
export const hostLink = (app, host, text = host) => link(to("hosts", [app, host]), text, { class: "id" });
export const pushLink = (id) => (id ? link(to("pushes", [id]), `${id.slice(0, 8)}…`, { class: "id short", title: id }) : "");
