// What is left of the reload budgets: how many widgets have how much, which kinds starve, and until when it lasts.

import { chart } from "./charts.js";
import { badge, card, h, spent, table, tile, tiles } from "./elements.js";
import { path } from "./gateway.js";
import { count, minute, moment, ms, percent, time } from "./numbers.js";

export const title = "Budget";
export const interval = 5000;

export function open(context) {
  const [app = "", kind = ""] = context.place;
  const all = tile("Widgets with a budget");
  const none = tile("Nothing left", "until their window ends");
  const waiting = tile("Waiting", "widgets with something deferred");
  const free = tile("Without a budget", "policy unlimited");
  const left = chart("What is left of the allowance", { kind: "bar", format: { x: band }, isTime: false, xTitle: "percent of the allowance left", legend: false });
  const ahead = chart("Widgets with nothing left, if the pace stays", { format: { x: minute }, xTitle: "", legend: false });
  const kinds = table("Kinds, most exhausted first", [
    { title: "Kind", wide: true, cell: (row) => h("a", { href: `#/instances/-/${encodeURIComponent(row.app)}/${encodeURIComponent(row.kind)}/exhausted`, "data-key": `${row.app}/${row.kind}` }, row.kind, h("span", { class: "soft block" }, row.app)) },
    { title: "Widgets", number: true, cell: (row) => count(row.instances) },
    { title: "Nothing left", number: true, cell: (row) => h("span", {}, count(row.exhausted), " ", row.instances && row.exhausted / row.instances >= 0.05 ? badge(percent(row.exhausted, row.instances), "warn") : "") },
    { title: "Waiting", number: true, cell: (row) => count(row.waiting) },
    { title: "Spent", cell: (row) => spent(row.charged, row.allowance, `${count(row.charged)} of ${count(row.allowance)}`) },
    { title: "Lasts until", cell: (row) => (row.exhaustedBy ? badge(moment(row.exhaustedBy), "warn") : "the window's end") },
  ], "No kind has a widget yet.");
  const when = h("span");
  const counting = h("p", { class: "card empty", role: "status", hidden: true });
  const element = h("div", { class: "view" }, counting,
    tiles(all, none, waiting, free),
    h("div", { class: "columns" },
      card("What is left", { note: when }, left.element),
      card("Forecast", { note: "the next 24 hours" }, ahead.element)),
    card("Kinds", { note: "most exhausted first" }, kinds.element));
  return {
    element,
    charts: [left, ahead],
    subtitle: app ? `${app}${kind ? ` · ${kind}` : ""}` : "What is left of each widget's reloads",
    ask: (signal) => context.optional(path("/v1/budget", { app, kind }), signal),
    show(data) {
      if (!data) return missing(element, "/v1/budget");
      notCounted(counting, data);
      if (!data.survey) return;
      when.textContent = `by tenths of the allowance, counted at ${time(data.survey.until)}`;
      all.set(count(data.instances));
      none.set(count(data.exhausted), data.instances && data.exhausted / data.instances >= 0.05 ? "warn" : "");
      waiting.set(count(data.waiting));
      free.set(count(data.unlimited ?? 0));
      left.set({
        x: data.left.map((row) => row.from), min: -5, max: 95,
        summary: data.exhausted > 0 ? `${percent(data.exhausted, data.instances)} have nothing left.` : data.instances ? "Every widget has something left." : "No widget is registered yet.",
        series: [{ name: "Widgets", values: data.left.map((row) => row.instances), colour: "--accent", kind: "bar" }],
      });
      const forecast = data.forecast ?? [];
      const peak = forecast.reduce((top, row) => (row.instances > (top?.instances ?? -1) ? row : top), null);
      ahead.set({
        x: forecast.map((row) => ms(row.at)),
        summary: peak && peak.instances > 0 ? `At most ${count(peak.instances)}, at ${minute(peak.at)}.` : "At this pace nobody runs out.",
        series: [{ name: "Widgets with nothing left", values: forecast.map((row) => row.instances), colour: "--deferred", fill: true, stepped: true }],
      });
      kinds.set(data.kinds);
    },
  };
}

const band = (from) => `${from}–${from + 10}`;

/// Says that nothing is counted yet, as long as that is so.
export function notCounted(element, data) {
  element.hidden = Boolean(data.survey);
  element.textContent = data.survey ? "" : "The gateway counts its widgets for the first time since its start. A moment.";
}

/// Says that the gateway has no such route.
export function missing(element, where) {
  element.replaceChildren(h("p", { class: "card empty" }, `This gateway does not answer ${where}.`));
}
