// The cost and the benefit of each sender's pushes.

import { actions, actionsCard, holding } from "./actions.js";
import { badge, card, choice, field, h, link, spent, table, tile, tiles, to } from "./elements.js";
import { gateway } from "./gateway.js";
import { count, percent } from "./numbers.js";

export const title = "Senders";

export function open(context) {
  const all = tile("Reloads charged", "by all senders");
  const exempt = tile("Without a charge", "the app was open, music played, …");
  const unchanged = tile("Unchanged", "matched, but already shown");
  const along = tile("Brought along", "reloads of other widgets of a token");
  let charged = 0;
  let named = "";
  const team = choice([]);
  team.dataset.key = "team";
  const change = h("div");
  const offer = () => {
    const isPaused = paused.has(team.value);
    change.replaceChildren(team.value ? actions(context, "write", holding({ sender: team.value }, { isPaused })) : "");
  };
  let paused = new Set();
  team.addEventListener("change", offer);
  const senders = table("Senders, the most expensive first", [
    { title: "Sender", wide: true, cell: (row) => h("span", {}, link(to("pushes", [], { sender: row.team }), row.team), " ", row.paused ? badge("paused", "warn") : "") },
    { title: "Share", cell: (row) => spent(row.reloadsCharged, charged, percent(row.reloadsCharged, charged)) },
    { title: "Charged", number: true, cell: (row) => count(row.reloadsCharged) },
    { title: "Exempt", number: true, cell: (row) => count(row.reloadsExempt) },
    { title: "Pushes", number: true, cell: (row) => count(row.pushes) },
    { title: "Repeated", number: true, cell: (row) => count(row.repeats) },
    { title: "Matched", number: true, cell: (row) => count(row.matched) },
    { title: "Unchanged", number: true, cell: (row) => h("span", {}, percent(row.unchanged, row.matched), " ", row.unchangedShare >= 0.5 ? badge("high", "warn") : "") },
    { title: "Ended at once", number: true, cell: (row) => count(row.endedAtOnce) },
    { title: "Brought along", number: true, cell: (row) => count(row.collateral) },
    { title: "Over their budget", number: true, cell: (row) => count(row.collateralOver) },
  ], "No sender has pushed yet.");
  return {
    element: h("div", { class: "view" }, tiles(all, exempt, unchanged, along), card("Senders", { note: "the most expensive first" }, senders.element,
      h("p", { class: "soft note" }, "Ended at once: matched widgets for which the push could not wait, because it expired or too many waited already. Brought along: reloads of the other widgets of a device token, within and over their budgets. All numbers are since the log began.")),
      actionsCard(context, h("div", { class: "filters" }, field("Sender", team)), change)),
    subtitle: "The cost and the outcomes of their pushes",
    ask: (signal) => gateway.get("/v1/senders", signal),
    show(data) {
      const sum = (name) => data.senders.reduce((total, one) => total + one[name], 0);
      charged = sum("reloadsCharged");
      all.set(count(charged));
      exempt.set(count(sum("reloadsExempt")));
      unchanged.set(percent(sum("unchanged"), sum("matched")));
      along.set(count(sum("collateral") + sum("collateralOver")));
      paused = new Set(data.senders.filter((one) => one.paused).map((one) => one.team));
      const names = JSON.stringify([data.senders.map((one) => one.team), [...paused]]);
      if (names !== named) {
        named = names;
        const chosen = team.value;
        team.replaceChildren(...data.senders.map((one) => h("option", { value: one.team, selected: one.team === chosen }, one.team)));
        offer();
      }
      senders.set([...data.senders].sort((left, right) => right.reloadsCharged - left.reloadsCharged));
    },
  };
}
