// The page of a what-if report: the effect that another budget policy would have had.

import { h, split } from "./elements.js";
import { count, percent, unknown } from "./numbers.js";
import { charted, factual, sharesChart, shareSeries, tabled, top, wait } from "./parts.js";

const signed = (number, write) => (number > 0 ? "+" : number < 0 ? "−" : "") + write(Math.abs(number));

/// A number as it was and as it would have been.
const row = (name, before, after, write = count) => ({ name, before: write(before), after: write(after),
  change: before === null || after === null || before === undefined || after === undefined ? unknown : signed(after - before, write) });

const reloadRows = (before, after) => [
  row("reloads", before?.issued, after?.issued), row("charged", before?.charged, after?.charged), row("not charged", before?.exempt, after?.exempt),
  row("collateral", before?.collateral, after?.collateral), row("collateral beyond the budget", before?.collateralOver, after?.collateralOver),
  row("pushes served", before?.pushesServed, after?.pushesServed),
  row("staleness, median", before?.staleness.p50, after?.staleness.p50, wait), row("staleness, p95", before?.staleness.p95, after?.staleness.p95, wait),
];

const senderRows = (before, after) => [["pushes", "pushes"], ["repeats", "repeats"], ["matched", "matched"], ["unchanged", "unchanged"], ["ended at once", "endedAtOnce"],
  ["reloads charged", "reloadsCharged"], ["not charged", "reloadsExempt"], ["collateral", "collateral"], ["collateral beyond the budget", "collateralOver"]]
  .map(([name, member]) => row(name, before?.[member], after?.[member]));

const compared = (title, caption, rows) => tabled(title, caption, [["", (one) => one.name, true], ["As it was", (one) => one.before],
  ["As it would have been", (one) => one.after], ["Change", (one) => one.change]], rows);

/// The rows of both sides, by the members that name them.
function both(before, after, key) {
  const names = [...new Set([...before, ...after].map(key))].sort();
  return names.map((name) => [name, before.find((one) => key(one) === name), after.find((one) => key(one) === name)]);
}

function pushCard(title, outcomes) {
  const one = split(title);
  one.set(outcomes, { all: true });
  return h("section", { class: "card", "aria-label": title }, h("div", { class: "card-head" }, h("h2", {}, title)), one.element);
}

function verdictOf(report) {
  const [before, after] = [report.actual, report.other];
  const change = after.reloads.issued - before.reloads.issued;
  const share = change === 0 ? "As many reloads"
    : before.reloads.issued ? `${signed(change, (number) => percent(number, before.reloads.issued))} reloads` : `${count(after.reloads.issued)} reloads, there was none`;
  const all = report.answers.kept + report.answers.estimated;
  const notes = [`${count(report.answers.estimated)} of ${count(all)} answers of hosts are estimated from the nearest earlier one`];
  const starved = after.starved - before.starved;
  if (starved !== 0) notes.unshift(`${signed(starved, count)} starved widgets: a push found them waiting for over ${wait(report.starvedAfterSeconds)}`);
  const staleness = [before, after].map((side) => side.reloads.staleness.p50);
  const text = staleness.includes(null) ? share : `${share}; the median wait is ${wait(staleness[1])}, it was ${wait(staleness[0])}`;
  return { level: starved > 0 ? "warn" : "good", text, notes };
}

export function whatIf(report) {
  const { actual, other } = report;
  const hours = Array.from({ length: Math.max(1, actual.reloadsByHour.length, other.reloadsByHour.length) }, (_, hour) => hour);
  const points = hours.length < 3 ? 3 : 0;
  const bounds = actual.stalenessShares.map(([bound]) => bound);
  const figure = (name, before, after, write) => ({ name, value: write(after), hint: `it was ${write(before)}` });
  return [
    ...top("Freshet simulation", `What if: ${report.policy}`, "The log of a gateway run again under another budget policy, beside how it was.", verdictOf(report), [
      figure("Reloads", actual.reloads.issued, other.reloads.issued, count), figure("Staleness, median", actual.reloads.staleness.p50, other.reloads.staleness.p50, wait),
      figure("Starved widgets", actual.starved, other.starved, count),
    ]),
    charted("Reloads by the hour", "From the beginning on.", { isTime: false, xTitle: "Hour", format: { x: (hour) => `${hour} h` } },
      { x: hours, series: [{ name: "as it was", colour: "--unchanged", values: hours.map((hour) => actual.reloadsByHour[hour] ?? 0), fill: true, points },
        { name: "as it would have been", colour: "--exempt", values: hours.map((hour) => other.reloadsByHour[hour] ?? 0), points }] }),
    sharesChart("Staleness", "The share of reloads for pushes that went out so soon after the first push that they serve.", bounds,
      [shareSeries("as it was", actual.stalenessShares, "--unchanged"), shareSeries("as it would have been", other.stalenessShares, "--exempt")]),
    pushCard("Pushes as it was", actual.pushes), pushCard("Pushes as it would have been", other.pushes),
    compared("All kinds", null, [...reloadRows(actual.reloads, other.reloads), row("starved widgets", actual.starved, other.starved)]),
    ...both(actual.kinds, other.kinds, (one) => `${one.app} ${one.kind}`).map(([name, before, after]) => compared(`Kind ${name}`, null, reloadRows(before?.reloads, after?.reloads))),
    ...both(actual.senders, other.senders, (one) => one.team).map(([team, before, after]) => compared(`Sender ${team}`, "What its pushes cost and brought.", senderRows(before, after))),
    factual("The run", [["From", report.since], ["Until", report.until], ["App", report.app ?? "every app"], ["Kind", report.kind ?? "every kind"]]),
  ];
}
