// The cost and the benefit of each sender's pushes.

import { actions, actionsCard, holding } from "./actions.js";
import { chart } from "./charts.js";
import { badge, card, choice, field, h, link, spent, table, tile, tiles, to } from "./elements.js";
import { gateway, senderHours } from "./gateway.js";
import { filters } from "./lists.js";
import { count, moment, ms, percent } from "./numbers.js";

export const title = "Senders";

const ranges = [["", "All time"], ["3600", "1 hour"], ["86400", "24 hours"], ["604800", "7 days"], ["2592000", "30 days"]];
/// So many senders have a line of their own.
const colours = ["--accent", "--deferred", "--coalesced"];
const hour = 3_600_000;

/// The costs of senders after an instant: `{ hours, senders }`, the hours that end later, and their sums as `/v1/senders` has them.
export function costs(hours, after) {
  const known = hours.filter((one) => ms(one.until) > after);
  const sums = new Map();
  for (const row of known.flatMap((one) => one.senders)) {
    const sum = sums.get(row.team) ?? { team: row.team };
    for (const [name, value] of Object.entries(row)) if (typeof value === "number") sum[name] = (sum[name] ?? 0) + value;
    sum.unchangedShare = sum.matched > 0 ? sum.unchanged / sum.matched : 0;
    sums.set(row.team, sum);
  }
  return { hours: known, senders: [...sums.values()] };
}

export function open(context) {
  const seconds = Number(context.query.range ?? 0);
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
  const since = h("span");
  const trend = chart("Reloads charged an hour, by sender", { height: 150 });
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
    element: h("div", { class: "view" }, tiles(all, exempt, unchanged, along),
      card("Senders", { note: since }, filters(context, "senders", [{ name: "range", label: "Time", options: ranges }]), senders.element,
        h("p", { class: "soft note" }, "Ended at once: matched widgets for which the push could not wait, because it expired or too many waited already. Brought along: reloads of the other widgets of a device token, within and over their budgets.")),
      actionsCard(context, h("div", { class: "filters" }, field("Sender", team)), change),
      card("Reloads charged an hour", { note: "by sender" }, trend.element)),
    charts: [trend],
    subtitle: "The cost and the outcomes of their pushes",
    async ask(signal) {
      const [data, hours] = await Promise.all([gateway.get("/v1/senders", signal), senderHours(signal)]);
      return { ...data, hours };
    },
    show({ asOf, senders: known, hours }) {
      const lately = costs(hours, seconds > 0 ? ms(asOf) - 1000 * seconds : -Infinity);
      const data = { senders: seconds > 0 ? lately.senders.map((one) => ({ ...one, paused: known.find(({ team: name }) => name === one.team)?.paused })) : known };
      since.textContent = `the most expensive first, ${seconds === 0 ? "since the log began" : lately.hours.length > 0 ? `in the hours since ${moment(lately.hours[0].from)}` : "in no hour yet"}`;
      showTrend(trend, lately);
      const sum = (name) => data.senders.reduce((total, one) => total + one[name], 0);
      charged = sum("reloadsCharged");
      all.set(count(charged));
      exempt.set(count(sum("reloadsExempt")));
      unchanged.set(percent(sum("unchanged"), sum("matched")));
      along.set(count(sum("collateral") + sum("collateralOver")));
      paused = new Set(known.filter((one) => one.paused).map((one) => one.team));
      const names = JSON.stringify([known.map((one) => one.team), [...paused]]);
      if (names !== named) {
        named = names;
        const chosen = team.value;
        team.replaceChildren(...known.map((one) => h("option", { value: one.team, selected: one.team === chosen }, one.team)));
        offer();
      }
      senders.set([...data.senders].sort((left, right) => right.reloadsCharged - left.reloadsCharged));
    },
  };
}

/// A line for each of the most expensive senders, and one for the others.
function showTrend(trend, { hours, senders }) {
  const top = [...senders].sort((left, right) => right.reloadsCharged - left.reloadsCharged).slice(0, colours.length).map((one) => one.team);
  const charged = (one, isOf) => one.senders.reduce((sum, row) => sum + (isOf(row.team) ? row.reloadsCharged : 0), 0);
  // Nothing between hours where there were none.
  const points = hours.flatMap((one, index) => (index > 0 && ms(one.from) - ms(hours[index - 1].until) > hour ? [{ ...one, at: ms(one.from), isGap: true }, one] : [one]));
  const line = (name, isOf, colour) => ({ name, colour, points: points.length < 40 ? 3 : 0, values: points.map((one) => (one.isGap ? null : charged(one, isOf))) });
  trend.set({
    x: points.map((one) => one.at ?? ms(one.until)), min: hours.length ? ms(hours[0].from) : undefined, max: hours.length ? ms(hours.at(-1).until) : undefined,
    summary: top.length === 0 ? "No push has cost a reload in this time." : "",
    series: [
      ...top.map((team, index) => line(team, (name) => name === team, colours[index])),
      ...(senders.length > top.length ? [line("All others", (name) => !top.includes(name), "--unchanged")] : []),
    ],
  });
}
