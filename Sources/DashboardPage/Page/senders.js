// What each sender costs, and what it brings.

import { badge, card, h, spent, table, tile, tiles } from "./elements.js";
import { gateway } from "./gateway.js";
import { count, percent } from "./numbers.js";

export const title = "Senders";
export const interval = 5000;

export function open() {
  const all = tile("Reloads charged", "by all senders");
  const exempt = tile("Without a charge", "the app was open, music played, …");
  const unchanged = tile("Unchanged", "matched, and shown already");
  const along = tile("Along with others", "reloads of widgets a push was not about");
  let charged = 0;
  const senders = table("Senders, the most expensive first", [
    { title: "Sender", wide: true, cell: (row) => h("b", {}, row.team) },
    { title: "Share", cell: (row) => spent(row.reloadsCharged, charged, percent(row.reloadsCharged, charged)) },
    { title: "Charged", number: true, cell: (row) => count(row.reloadsCharged) },
    { title: "Exempt", number: true, cell: (row) => count(row.reloadsExempt) },
    { title: "Pushes", number: true, cell: (row) => count(row.pushes) },
    { title: "Repeated", number: true, cell: (row) => count(row.repeats) },
    { title: "Matched", number: true, cell: (row) => count(row.matched) },
    { title: "Unchanged", number: true, cell: (row) => h("span", {}, percent(row.unchanged, row.matched), " ", row.unchangedShare >= 0.5 ? badge("high", "warn") : "") },
    { title: "Ended at once", number: true, cell: (row) => count(row.endedAtOnce) },
    { title: "Along", number: true, cell: (row) => h("span", { title: "charged, and over their budget" }, `${count(row.collateral)} + ${count(row.collateralOver)}`) },
  ], "No sender has pushed yet.");
  return {
    element: h("div", { class: "view" }, tiles(all, exempt, unchanged, along), card("Senders", { note: "the most expensive first" }, senders.element,
      h("p", { class: "soft note" }, "Along: reloads that a push to a device token brings to the token's other widgets; the second number were over their budget."))),
    subtitle: "What their pushes cost, and what they bring",
    ask: (signal) => gateway.get("/v1/senders", signal),
    show(data) {
      const sum = (name) => data.senders.reduce((total, one) => total + one[name], 0);
      charged = sum("reloadsCharged");
      all.set(count(charged));
      exempt.set(count(sum("reloadsExempt")));
      unchanged.set(percent(sum("unchanged"), sum("matched")));
      along.set(count(sum("collateral") + sum("collateralOver")));
      senders.set([...data.senders].sort((left, right) => right.reloadsCharged - left.reloadsCharged));
    },
  };
}
