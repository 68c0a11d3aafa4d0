// Lists that are searched page after page: their filters stand in the address.

import { choice, field, h, table, to } from "./elements.js";
import { gateway } from "./gateway.js";
import { count } from "./numbers.js";

const pageRows = 50;
/// A search of more pages is not repeated every few seconds.
const pagesOften = 4;

/// A list, searched until it has so many rows or has ended; `More` looks for as many again.
///
/// - `where(cursor, limit)`: the address of a page; `member`: where its rows are.
/// - `nothing`: the text of an empty list, once all of it was looked through.
/// - `isNewestFirst`: new rows move the others. They wait while the pointer or the keyboard is in the list; `held` says so.
export function searched(context, { caption, columns, member, where, nothing, isNewestFirst = false }) {
  const found = table(caption, columns, nothing);
  const note = h("p", { class: "soft listed", role: "status" });
  const more = h("button", { type: "button", class: "small", hidden: true, on: { click: () => {
    wanted += pageRows;
    context.again();
  } } }, "More");
  let wanted = pageRows;
  let isShown = false;
  let pages = 0;
  const held = h("span", { role: "status" });
  let waiting = null;
  const isInUse = () => isNewestFirst && found.element.matches(matchMedia("(hover: hover)").matches ? ":hover, :focus-within" : ":focus-within");
  for (const event of ["pointerleave", "focusout"]) {
    found.element.addEventListener(event, () => setTimeout(() => { if (waiting && !isInUse()) put(waiting); }));
  }
  function put({ rows, next }) {
    waiting = null;
    held.textContent = "";
    found.element.hidden = false;
    found.set(rows);
    more.hidden = !next;
    note.textContent = next ? `The first ${count(rows.length)} are shown; there are more.` : rows.length > 0 ? `${count(rows.length)} in all.` : "";
  }
  return {
    held,
    element: h("div", { class: "list" }, found.element, h("div", { class: "list-end" }, note, more)),
    get interval() { return pages > pagesOften ? 60_000 : undefined; },
    async ask(signal) {
      let rows = [];
      let next = null;
      let asOf;
      pages = 0;
      do {
        const page = await gateway.get(where(next, Math.min(1000, wanted - rows.length)), signal);
        rows = [...rows, ...page[member]];
        [next, asOf] = [page.next, page.asOf];
        pages += 1;
        if (next && rows.length < wanted && !isShown) {
          // Shows the rows that are found so far, and says that there may be more.
          if (rows.length > 0) found.set(rows);
          else found.element.hidden = true;
          note.textContent = `Still searching: ${count(rows.length)} found so far.`;
        }
      } while (next && rows.length < wanted);
      return { rows, next, asOf };
    },
    show(answer) {
      if (isShown && isInUse()) {
        waiting = answer;
        held.textContent = "new ones wait while you are in the list";
      } else put(answer);
      isShown = true;
    },
  };
}

/// Choices that a list is filtered by: `{ name, label, options, known }`. Each takes effect at once; `known(answer)` gives more options
/// from the gateway's answer.
export function filters(context, view, all) {
  const inputs = all.map(({ name, label, options = [["", "Any"]], known }) => {
    const value = context.query[name] ?? "";
    const choose = choice(options, value);
    if (value && !options.some(([option]) => option === value)) choose.append(h("option", { value, selected: true }, value));
    choose.dataset.key = `filter-${name}`;
    choose.addEventListener("change", () => {
      location.hash = to(view, [], { ...context.query, [name]: choose.value });
    });
    if (known) context.known().then((answer) => {
      const there = new Set([...choose.options].map((option) => option.value));
      for (const option of new Set(known(answer))) if (!there.has(option)) choose.append(h("option", { value: option }, option));
    }, () => { /* The view says that the gateway is away. */ });
    return field(label, choose);
  });
  const isFiltered = all.some(({ name }) => context.query[name]);
  return h("div", { class: "filters", role: "group", "aria-label": "Filters" }, inputs,
    isFiltered && h("a", { href: to(view), class: "clear", "data-key": "clear" }, "Clear"));
}

export const byApp = { name: "app", label: "App", known: ({ apps }) => apps.map((one) => one.app) };
export const bySender = { name: "sender", label: "Sender", options: [["", "Any"]], known: ({ senders }) => senders.map((one) => one.team) };
export const byKind = (context) => ({ name: "kind", label: "Kind",
  known: ({ apps }) => apps.filter((one) => !context.query.app || one.app === context.query.app).flatMap((one) => one.kinds) });
