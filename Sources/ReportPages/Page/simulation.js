// A simulation's report.

import { h, split } from "./elements.js";
import { count, percent, rate } from "./numbers.js";
import { charted, factual, sharesChart, shareSeries, tabled, top, wait } from "./parts.js";

const sources = [["push", "for pushes", "--exempt"], ["policy", "by the timeline’s policy", "--deferred"], ["other", "charged otherwise", "--coalesced"],
  ["exempt", "not charged", "--unchanged"], ["collateral", "brought along by a push for another", "--failed"]];

const columnsMax = 190;
const groupings = [1, 2, 3, 6, 12, 24, 168];

/// Reloads by source, stacked; sources that nothing came of are left out.
const stacked = (rows) => sources.filter(([source]) => rows.some((row) => row[source] > 0))
  .map(([source, name, colour]) => ({ name, colour, stack: "all", values: rows.map((row) => row[source]) }));

/// `Sun 13` at midnight, else `Sun 13, 14:00`, in UTC.
function hourName(start, hour) {
  const date = new Date(start + hour * 3_600_000);
  const day = new Intl.DateTimeFormat("en-GB", { weekday: "short", day: "numeric", timeZone: "UTC" }).format(date);
  const clock = date.toISOString().slice(11, 16);
  return clock === "00:00" ? day : `${day}, ${clock}`;
}

/// Hours of the run at which a day begins; of a short run a quarter of a day, of a long one a week.
function dayTicks(start, hours) {
  const every = hours <= 48 ? 6 : hours <= 21 * 24 ? 24 : 168;
  const first = (24 - new Date(start).getUTCHours()) % Math.min(24, every);
  return Array.from({ length: Math.ceil(Math.max(0, hours - first) / every) }, (_, index) => first + index * every);
}

function hourCharts(report) {
  const start = Date.parse(report.scenario.start);
  const hours = report.hours;
  const every = groupings.find((one) => hours.length / one <= columnsMax) ?? groupings.at(-1);
  const rows = hours.filter((_, index) => index % every === 0).map((_, index) => {
    const group = hours.slice(index * every, (index + 1) * every);
    return Object.fromEntries(sources.map(([source]) => [source, group.reduce((sum, hour) => sum + hour[source], 0)]));
  });
  const ticks = dayTicks(start, hours.length);
  const options = { isTime: false, xTitle: "UTC", format: { x: (hour) => hourName(start, hour), tick: (hour) => hourName(start, hour).split(", ").at(-1) } };
  return [
    charted("Reloads over the run", `Every reload that the engine issued, ${every === 1 ? "by the hour" : `every ${every} hours`}.`, { ...options, kind: "bar" },
      { x: rows.map((_, index) => index * every), ticks, series: stacked(rows), min: -0.5 * every, max: (rows.length - 0.5) * every }),
    charted("Widgets that show old data", "The share of all widgets whose data has changed since they were last reloaded.",
      { ...options, format: { ...options.format, y: (value) => percent(value, 100) } },
      { x: hours.map((one) => one.hour), ticks, series: [{ name: "stale", colour: "--failed", fill: true, values: hours.map((one) => 100 * one.staleShare) }] }),
  ];
}

function providerChart(report) {
  const { around: before } = report.provider.unsmoothed;
  const { around: after } = report.provider.smoothed;
  const every = report.provider.aroundEvery;
  const start = Date.parse(report.scenario.start) + report.provider.aroundFrom * 1000;
  return charted("When timelines end together", `Requests to the timeline provider for policy, every ${every === 60 ? "minute" : `${every} seconds`}: at the timelines’ dates, and as the engine spreads them.`,
    { isTime: false, xTitle: `UTC, ${new Date(start).toISOString().slice(0, 10)}`, format: { x: (second) => new Date(start + second * 1000).toISOString().slice(11, 16) } },
    { x: before.map((_, index) => index * every), series: [
      { name: "without smoothing", colour: "--unchanged", values: before, fill: true, stepped: true },
      { name: "as it was", colour: "--exempt", values: after, fill: true, stepped: true },
    ] });
}

function budgetChart(report) {
  const hours = [{ hour: -1, p10: 0, mean: 0, p90: 0 }, ...report.budget.usedPercentByHour];
  const allowance = report.budget.allowance.p50;
  return charted("Budget used over a window",
    `Mean, and where the middle 80 % of ${count(report.budget.windows)} windows that were followed lie${allowance === null ? "" : `; the median allowance is ${count(allowance)} reloads`}.`,
    { isTime: false, xTitle: "Hours of the window", format: { y: (value) => percent(value, 100) } },
    { x: hours.map((one) => one.hour + 1), top: 100, series: [["90 % used at most", "p90", "--unchanged", [4, 4]], ["mean", "mean", "--exempt", []], ["10 % used at most", "p10", "--unchanged", [4, 4]]]
      .map(([name, member, colour, dash]) => ({ name, colour, dash, values: hours.map((one) => one[member]) })) });
}

function verdictOf(report) {
  const { p50, p95, neverShown } = report.staleness;
  const starved = report.starved.instances;
  const notes = [
    starved > 0 && `${count(starved)} widgets showed old data for over ${wait(report.starved.afterSeconds)}`,
    neverShown > 0 && `${count(neverShown)} changes were never shown until the end`,
  ].filter(Boolean);
  if (p50 === null) return { level: "warn", text: "No change was shown", notes };
  return { level: starved > 0 ? "warn" : "good", text: `A change is shown within ${wait(p50)}, of twenty 19 within ${wait(p95)}`, notes };
}

export function simulation(report) {
  const { scenario, reloads, looks, provider } = report;
  const peak = `requests a ${provider.peakSeconds === 1 ? "second" : "minute"}`;
  const broughtAlong = reloads.collateral + reloads.collateralOver;
  const outcomes = split("Pushes");
  outcomes.set(report.pushes.outcomes);
  const bounds = report.staleness.shares.map(([bound]) => bound);
  const causes = Object.entries(reloads.byCause).filter(([, number]) => number > 0).sort(([, one], [, other]) => other - one);
  return [
    ...top("Freshet simulation", scenario.name, scenario.about, verdictOf(report), [
      { name: "Reloads a widget and day", value: rate(reloads.issued / Math.max(1, scenario.instances * scenario.days)), hint: `${count(reloads.issued)} in all, ${percent(reloads.charged, reloads.issued)} charged` },
      { name: "Staleness, median", value: wait(report.staleness.p50), hint: `p95 ${wait(report.staleness.p95)}` },
      { name: "Looks at old data", value: percent(looks.stale.count, looks.looks), hint: `of ${count(looks.looks)} looks` },
    ]),
    ...hourCharts(report),
    sharesChart("How soon a change is shown", "The share of changes that a widget showed within a time; and of looks at old data, how old it was.", bounds,
      [shareSeries("changes, until shown", report.staleness.shares, "--exempt"), shareSeries("looks at old data, its age", looks.stale.shares, "--failed")]),
    providerChart(report), budgetChart(report),
    charted("Reloads over the user’s day", "All days on top of each other, by the hour on the hosts’ own clocks.",
      { kind: "bar", isTime: false, xTitle: "Hour", format: { x: (hour) => `${hour}:00` } },
      { x: report.localHours.map((one) => one.hour), series: stacked(report.localHours), ticks: [0, 3, 6, 9, 12, 15, 18, 21], min: -0.5, max: 23.5 }),
    h("section", { class: "card", "aria-label": "What became of pushes" },
      h("div", { class: "card-head" }, h("h2", {}, "What became of pushes"),
        h("p", { class: "soft" }, `${count(report.pushes.sent)} pushes matched widgets ${count(report.pushes.matched)} times`)), outcomes.element),
    tabled("Why widgets reloaded", "A reload with several causes counts for each.",
      [["Cause", ([name]) => name, true], ["Reloads", ([, number]) => count(number)], ["Of all", ([, number]) => percent(number, reloads.issued)]], causes),
    tabled("Who waits how long", "Staleness is counted for each widget and each change of its data. A look is one widget seen once.",
      [["Population", (one) => one.name, true], ["Widgets", (one) => count(one.instances)], ["Median", (one) => wait(one.staleness.p50)], ["p95", (one) => wait(one.staleness.p95)],
        ["Never shown", (one) => count(one.staleness.neverShown)], ["Looks", (one) => count(one.looks.looks)], ["Stale looks", (one) => percent(one.looks.stale.count, one.looks.looks)],
        ["Starved", (one) => count(one.starved)],
        ...(broughtAlong > 0 ? [["Brought along", (one) => count(one.collateral)], ["Beyond the budget", (one) => count(one.collateralOver)]] : [])],
      report.populations),
    factual("The run", [["Widgets", `${count(scenario.instances)} on ${count(scenario.hosts)} hosts`], ["Days", `${count(scenario.days)} from ${scenario.start}`],
      ["Peak of timelines", `${count(provider.smoothed.peak)} ${peak} for policy; ${count(provider.unsmoothed.peak)} unsmoothed`],
      ["Brought along", broughtAlong > 0 && `${percent(broughtAlong, reloads.issued)} of reloads, ${count(reloads.collateralOver)} beyond the budget`],
      ["Seed", String(scenario.seed)], ["Digest", report.digest]].filter(([, value]) => value !== false)),
  ];
}
