// The common parts of all reports' pages.

import { chart } from "./charts.js";
import { badge, card, facts, h, table, tile, tiles } from "./elements.js";
import { count, percent, unknown } from "./numbers.js";

/// The head of a report: its title, a verdict, and three figures.
///
/// `verdict` is `{ level, text, notes }`, `figures` are `{ name, value, hint, level }`.
export function top(kicker, title, about, verdict, figures) {
  const three = figures.map(({ name, value, hint, level }) => {
    const one = tile(name, hint);
    one.set(value, level);
    return one;
  });
  return [
    h("div", { class: "head" }, h("p", { class: "soft" }, kicker), h("h1", {}, title), about && h("p", { class: "soft about" }, about)),
    h("section", { class: "card health", "data-level": verdict.level, "aria-label": "Verdict" },
      h("p", { class: "verdict", id: "verdict" }, verdict.text),
      verdict.notes.length > 0 && h("ul", { class: "list" }, verdict.notes.map((note) => h("li", {}, note))),
      tiles(...three)),
  ];
}

/// A card with a chart.
export function charted(title, caption, options, data) {
  const one = chart(title, options);
  const element = card(title, h("p", { class: "soft summary" }, caption), one.element);
  one.set(data);
  return element;
}

/// A card with a table. Columns are `[title, cell, isText]`.
export function tabled(title, caption, columns, rows, empty) {
  const one = table(title, columns.map(([name, cell, isText]) => ({ title: name, cell, number: !isText })), empty);
  one.set(rows);
  return card(title, caption && h("p", { class: "soft summary" }, caption), one.element);
}

export const listed = (title, texts) => card(title, h("ul", { class: "list" }, texts.map((text) => h("li", {}, text))));

export const factual = (title, pairs) => card(title, facts(pairs));

export const yesNo = (isGood, good, bad) => badge(isGood ? good : bad, isGood ? "good" : "bad");

/// A length of time in seconds: `45 s`, `12 min`, `3 h 20 min`.
export function wait(seconds) {
  if (seconds === null || seconds === undefined) return unknown;
  if (seconds < 120) return `${count(Math.round(seconds))} s`;
  if (seconds < 7200) return `${Math.round(seconds / 60)} min`;
  if (seconds >= 172_800) return `${Math.round(seconds / 86_400)} d`;
  const minutes = Math.round(seconds / 60) % 60;
  return `${Math.floor(seconds / 3600)} h${minutes ? ` ${minutes} min` : ""}`;
}

/// Shares of waits that were at most so long, as a chart's series: the positions are the bounds' places.
export const shareSeries = (name, shares, colour) => ({ name, colour, values: shares.map(([, share]) => 100 * share) });

/// A chart of such series, all with the same bounds.
export function sharesChart(title, caption, bounds, series) {
  return charted(title, caption, { isTime: false, xTitle: "Within", format: { x: (place) => wait(bounds[place]), y: (value) => percent(value, 100) } },
    { x: bounds.map((_, place) => place), series, max: bounds.length - 1, top: 100 });
}
