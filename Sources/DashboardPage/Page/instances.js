// Widgets: those that match the filters, and the actions on a kind or an app of them.

import { behindReasons } from "./advice.js";
import { badge, card, h, hostLink, instanceLink, spent, when } from "./elements.js";
import { path } from "./gateway.js";
import { one } from "./instance.js";
import { byApp, byKind, filters, searched } from "./lists.js";
import { count, duration, ms, now } from "./numbers.js";

export const title = "Widgets";

const states = [["", "Any"], ["behind", "Behind"], ["waiting", "Waiting"], ["outstanding", "Reload on its way"], ["exhausted", "Nothing left"], ["visible", "Visible"], ["orphaned", "Does not fit its kind"]];
const ages = [["", "Any time"], ["5m", "5 minutes"], ["15m", "15 minutes"], ["1h", "1 hour"], ["6h", "6 hours"], ["1d", "1 day"]];

export function open(context) {
  const [id] = context.place;
  return id ? one(context, id) : list(context);
}

const split = (id) => {
  const [app, rest] = [id.slice(0, id.indexOf("/")), id.slice(id.indexOf("/") + 1)];
  return { app, rest };
};

/// The columns of lists of widgets.
export const columns = [
  { title: "Widget", wide: true, cell: (row) => h("span", {}, instanceLink(row.id, split(row.id).rest), h("span", { class: "soft aside" }, split(row.id).app)) },
  { title: "Kind", cell: (row) => h("span", {}, row.kind, h("span", { class: "soft aside" }, row.family)) },
  { title: "Spent of its budget", cell: (row) => (row.allowance ? spent(row.charged, row.allowance, `${count(row.charged)} of ${count(row.allowance)}`, row.charged >= row.allowance ? "warn" : "") : "no limit") },
  { title: "Waiting", number: true, cell: (row) => count(row.waiting) },
  { title: "On its way", number: true, cell: (row) => count(row.outstanding) },
  { title: "Last reload", cell: (row) => when(row.lastReload) },
  { title: "Behind", wide: true, cell: (row) => (row.behind ? h("span", {}, behindReasons[row.behind]?.[0] ?? row.behind,
    h("span", { class: "soft aside" }, `for ${duration(Math.max(0, now() - ms(row.behindSince)))}`)) : "no") },
  { title: "State", cell: (row) => {
    const all = [row.isVisible ? badge("visible", "good") : "", row.pushEnabled === false ? badge("takes no pushes") : "", row.isOrphaned ? badge("does not fit its kind", "warn") : ""].filter(Boolean);
    return all.length ? h("span", { class: "badges" }, all) : "";
  } },
];

function list(context) {
  const { app, kind, host, olderThan } = context.query;
  // Only widgets that are behind have an age.
  const state = olderThan ? "behind" : context.query.state;
  const found = searched(context, {
    caption: "Widgets", columns, member: "instances", nothing: "No widget matches.",
    where: (cursor, limit) => path("/v1/instances", { app, kind, host, state, olderThan, cursor, limit }),
  });
  const bar = filters(context, "instances", [byApp, byKind(context), { name: "state", label: "State", options: states }, { name: "olderThan", label: "Behind for", options: ages }]);
  return {
    ...found,
    get interval() { return found.interval; },
    element: h("div", { class: "view" }, card("Widgets", bar, host && h("p", {}, "On ", hostLink(app, host)), found.element)),
    subtitle: "Widgets on hosts, and their budgets",
  };
}
