// Apps and their kinds: the rest of the reload budgets, how long it lasts, which kinds starve, and the orders to give.

import { actions, holding } from "./actions.js";
import { behindLink, behindText, oldestText } from "./advice.js";
import { chart } from "./charts.js";
import { badge, card, facts, h, link, spent, table, tile, tiles, to } from "./elements.js";
import { gateway, path } from "./gateway.js";
import { byApp, byKind, filters } from "./lists.js";
import { count, moment, ms, percent } from "./numbers.js";

export const title = "Apps";

export function open(context) {
  const { app, kind } = context.query;
  const all = tile("Widgets with a budget", " ");
  const none = tile("Nothing left", "until their window ends");
  const waiting = tile("Waiting", "widgets with deferred pushes");
  const free = tile("Without a budget", "policy unlimited");
  const left = chart("Allowance left", { kind: "bar", height: 150, format: { x: band }, isTime: false, xTitle: "percent of the allowance left", legend: false });
  const ahead = chart("Widgets with used-up budgets, if the pace stays", { height: 150, xTitle: "", legend: false });
  const kinds = table("Kinds, most exhausted first", [
    { title: "Kind", wide: true, cell: (row) => h("span", {}, link(to("apps", [], { app: row.app, kind: row.kind }), row.kind), " ", row.paused ? badge("paused", "warn") : "", h("span", { class: "soft aside" }, row.app)) },
    { title: "Widgets", number: true, cell: (row) => link(to("instances", [], { app: row.app, kind: row.kind }), count(row.instances), { "aria-label": `${count(row.instances)} widgets of ${row.kind} of ${row.app}` }) },
    { title: "Behind", number: true, cell: (row) => (row.freshness?.behind > 0 ? link(behindLink(row.freshness, row.goalSeconds, row.app, row.kind), count(row.freshness.behind), { "aria-label": `${count(row.freshness.behind)} behind of ${row.kind} of ${row.app}` }) : "0") },
    { title: "Late", number: true, cell: (row) => (row.freshness?.late > 0 ? badge(count(row.freshness.late), row.freshness.isMet ? "warn" : "bad") : "0") },
    { title: "Oldest", number: true, cell: (row) => oldest(row.freshness) },
    { title: "Nothing left", number: true, cell: (row) => h("span", {}, count(row.exhausted), " ", row.instances && row.exhausted / row.instances >= 0.05 ? badge(percent(row.exhausted, row.instances), "warn") : "") },
    { title: "Waiting", number: true, cell: (row) => count(row.waiting) },
    { title: "Spent of budgets", cell: (row) => (row.allowance === undefined ? "" : spent(row.charged, row.allowance, `${count(row.charged)} of ${count(row.allowance)}`)) },
    { title: "Lasts until", cell: (row) => (row.exhaustedBy ? badge(moment(row.exhaustedBy), "warn") : row.allowance === undefined ? "" : "the window's end") },
    { title: "Timelines", wide: true, cell: (row) => (row.timelineProvider ? `provider: ${states[row.timelineProvider.health.state] ?? row.timelineProvider.health.state}` : "made by hosts") },
  ], "No app has a kind.");
  const when = h("span");
  const counting = h("p", { class: "card empty", role: "status", hidden: true });
  const appFacts = h("div");
  const change = h("div");
  const chosen = card(kind ? "The kind" : "The app", appFacts, change);
  chosen.hidden = !app;
  const element = h("div", { class: "view" }, counting,
    card("Apps and kinds", { note: "most exhausted first" }, filters(context, "apps", [byApp, byKind(context)]), kinds.element),
    chosen,
    tiles(all, none, waiting, free),
    h("div", { class: "columns" },
      card("Allowance left", { note: when }, left.element),
      card("If the pace stays", { note: "widgets with used-up budgets, the next 24 hours" }, ahead.element)));
  let offered = "";
  return {
    element,
    charts: [left, ahead],
    subtitle: app ? `${app}${kind ? ` · ${kind}` : ""}` : "Apps, their kinds, and how much of their widgets' budgets is left",
    async ask(signal) {
      const [stats, one, other, budget] = await Promise.all([context.whole("/v1/stats", signal, 9), gateway.get("/v1/apps", signal),
        gateway.get("/v1/kinds", signal), context.optional(path("/v1/budget", { app, kind }), signal)]);
      return { asOf: one.asOf, stats, apps: one.apps, kinds: other.kinds, budget };
    },
    show({ stats, apps, kinds: known, budget: data }) {
      const spending = new Map((data?.kinds ?? []).map((row) => [`${row.app}/${row.kind}`, row]));
      const share = (row) => (row.instances ? (row.exhausted ?? 0) / row.instances : -1);
      kinds.set(known.filter((row) => (!app || row.app === app) && (!kind || row.kind === kind))
        .map((row) => ({ ...row, ...spending.get(`${row.app}/${row.kind}`), goalSeconds: stats?.freshness?.goalSeconds }))
        .sort((one, other) => share(other) - share(one) || (other.instances ?? 0) - (one.instances ?? 0)));
      showChosen(apps.find((one) => one.app === app), known.find((one) => one.app === app && one.kind === kind));
      notCounted(counting, data ?? {});
      if (!data?.survey) return;
      when.textContent = `by tenths of the allowance, counted at ${moment(data.survey.until)}`;
      all.set(count(data.instances));
      none.set(count(data.exhausted), data.instances && data.exhausted / data.instances >= 0.05 ? "warn" : "");
      waiting.set(count(data.waiting));
      free.set(count(data.unlimited ?? 0));
      left.set({
        x: data.left.map((row) => row.from), min: -5, max: 95,
        summary: data.exhausted > 0 ? `${percent(data.exhausted, data.instances)} have used up their budgets.` : data.instances ? "No widget has used up its budget." : "No widget is registered yet.",
        series: [{ name: "Widgets", values: data.left.map((row) => row.instances), colour: "--accent", kind: "bar" }],
      });
      const forecast = data.forecast ?? [];
      const peak = forecast.reduce((top, row) => (row.instances > (top?.instances ?? -1) ? row : top), null);
      ahead.set({
        x: forecast.map((row) => ms(row.at)),
        summary: peak && peak.instances > 0 ? `At most ${count(peak.instances)}, at ${moment(peak.at)}.` : "At this pace, no widget uses up its budget.",
        series: [{ name: "Widgets with used-up budgets", values: forecast.map((row) => row.instances), colour: "--deferred", fill: true, stepped: true }],
      });
    },
  };

  /// Shows the chosen app or kind, and the orders about it.
  function showChosen(row, ofKind) {
    chosen.hidden = !row;
    if (!row) return;
    const paused = (ofKind ?? row).paused;
    appFacts.replaceChildren(facts([
      ["Team", row.team], ["Environment", row.environment], ["Delivery", row.deliveries.join(", ")], ["Hosts", count(row.hosts)],
      ["Widgets", count((ofKind ?? row).instances)], ["Policy", ofKind?.policy], ["Developer mode", row.developerMode ? badge("yes", "warn") : "no"],
      ["Paused", paused ? `since ${moment(paused.since)}` : "no"], ["Behind", behindFacts((ofKind ?? row).freshness), "wide"],
    ]));
    const key = JSON.stringify([Boolean(paused), (ofKind ?? row).instances]);
    if (key === offered) return;
    offered = key;
    change.replaceChildren(actions(context, "write", holding(kind ? { app, kind } : { app }, { isPaused: Boolean(paused), known: (ofKind ?? row).instances })));
  }
}

const states = { well: "well", failing: "failing", inTrouble: "in trouble", untried: "not asked yet" };

const oldest = (row) => (row?.oldestSeconds === undefined ? "" : oldestText(row));

const behindFacts = (row) => (row?.behind > 0 ? `${count(row.behind)}, ${count(row.late)} of them late, the oldest for ${oldest(row)}: ${behindText(row)}` : "none");

const band = (from) => `${from}–${from + 10}`;

/// Says that nothing is counted yet, as long as that is so.
export function notCounted(element, data) {
  element.hidden = Boolean(data.survey);
  element.textContent = data.survey ? "" : "The gateway is counting its widgets for the first time since its start. Please wait a moment.";
}

/// Says that the gateway has no such route.
export function missing(element, where) {
  element.replaceChildren(h("p", { class: "card empty" }, `This gateway does not answer ${where}.`));
}
