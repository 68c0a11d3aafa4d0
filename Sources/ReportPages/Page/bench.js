// A load test's report.

import { h, split } from "./elements.js";
import { count, percent, rate, unknown } from "./numbers.js";
import { charted, factual, listed, tabled, top, yesNo } from "./parts.js";

const stages = [["accepted", "--exempt"], ["decided", "--coalesced"], ["delivered", "--deferred"], ["shown", "--reloaded"]];
const percentiles = ["p50", "p90", "p99", "p99.9", "max"];

/// Microseconds; `"never"` for a stage that so many operations never came to.
function latency(microseconds) {
  if (microseconds === null || microseconds === undefined) return unknown;
  if (microseconds === "never") return "never";
  if (microseconds < 1000) return `${Math.round(microseconds)} µs`;
  return microseconds < 1_000_000 ? `${rate(microseconds / 1000)} ms` : `${rate(microseconds / 1_000_000)} s`;
}

const milliseconds = (value) => latency(value * 1000);

/// A stage's latencies in each interval, over all loads; null where there were none.
function intervalsOf(report, stage) {
  const sums = [];
  for (const load of report.loads) {
    for (const [index, interval] of (load.latencyMicroseconds[stage]?.intervals ?? []).entries()) {
      if (interval) sums[index] = added(sums[index], interval);
    }
  }
  return Array.from(sums, (sum) => sum ?? null);
}

/// An interval added to a sum, which is made with the first one.
function added(sum, interval) {
  const all = sum ?? { unreached: 0, buckets: new Map() };
  all.unreached += interval.unreached;
  for (const [upTo, number] of interval.buckets) all.buckets.set(upTo, (all.buckets.get(upTo) ?? 0) + number);
  return all;
}

/// The milliseconds that a share of the operations did not exceed; null if fewer came so far.
function within(latencies, share) {
  if (!latencies) return null;
  const buckets = [...latencies.buckets].sort(([one], [other]) => one - other);
  const total = buckets.reduce((sum, [, number]) => sum + number, latencies.unreached);
  let rest = Math.max(1, Math.ceil(total * share));
  for (const [upTo, number] of buckets) {
    rest -= number;
    if (rest <= 0) return upTo / 1000;
  }
  return null;
}

const sum = (lists) => Array.from({ length: Math.max(0, ...lists.map((list) => list.length)) },
  (_, index) => lists.reduce((all, list) => all + (list[index] ?? 0), 0));

/// Marks at whole seconds, minutes or the like.
function secondTicks(length) {
  const step = [0.5, 1, 2, 5, 10, 30, 60, 300, 600, 1800, 3600, 14_400].find((one) => length / one <= 10) ?? 86_400;
  return Array.from({ length: Math.floor(length / step) + 1 }, (_, index) => index * step);
}

/// Marks around values, for a logarithmic scale: powers of ten and, between few powers, their twofold and fivefold. Null if there are no
/// values.
function marksAround(series) {
  const values = series.flatMap((one) => one.values).filter((value) => value > 0);
  if (values.length === 0) return null;
  const [first, last] = [Math.floor(Math.log10(Math.min(...values))), Math.ceil(Math.log10(Math.max(...values)))];
  const steps = last - first > 2 ? [1] : [1, 2, 5];
  return Array.from({ length: last - first + 1 }, (_, index) => steps.map((step) => step * 10 ** (first + index))).flat();
}

const inSeconds = (value) => `${rate(value)} s`;

function rateChart(report) {
  const every = report.intervalSeconds;
  const due = sum(report.loads.map((load) => load.dueByInterval));
  const answered = sum(report.loads.map((load) => load.answeredByInterval));
  const x = Array.from({ length: Math.max(due.length, answered.length) }, (_, index) => index * every);
  return charted("Operations a second", "Those that were due, and those whose answer was 2xx, by when the answer came.",
    { isTime: false, xTitle: "After the beginning", format: { x: inSeconds, y: rate } },
    { x, ticks: secondTicks(x.length * every), series: [
      { name: "due", colour: "--unchanged", values: x.map((_, index) => (due[index] ?? 0) / every), fill: true, stepped: true },
      { name: "answered", colour: "--exempt", values: x.map((_, index) => (answered[index] ?? 0) / every), stepped: true },
    ] });
}

/// Latency by percentile, on a scale that gives each further nine the same room.
function curveChart(report, reached) {
  const places = Array.from({ length: 81 }, (_, index) => index / 20);
  const share = (place) => 1 - 10 ** -Math.floor(place) * (1 - (place % 1) * 0.9);
  const series = reached.map(([stage, colour]) => {
    const all = intervalsOf(report, stage).filter((one) => one).reduce(added, undefined);
    return { name: stage, colour, values: places.map((place) => within(all, share(place))) };
  });
  return charted("Latency by percentile", "From the instant at which an operation was meant to be sent. Every further nine has the same room.",
    { isTime: false, xTitle: "Percentile", logTicks: marksAround(series), format: { x: (place) => `${Number((100 * share(place)).toFixed(2))} %`, y: milliseconds } },
    { x: places, ticks: [0, 1, 2, 3, 4], series });
}

function stageChart(report, stage, colour) {
  const intervals = intervalsOf(report, stage);
  const every = report.intervalSeconds;
  const series = [["p50", 0.5, colour], ["p99", 0.99, "--failed"]]
    .map(([name, share, own]) => ({ name, colour: own, values: intervals.map((one) => within(one, share)), points: 2 }));
  return charted(`${titled(stage)} over time`, "By when the operations were meant to be sent. A gap is where fewer came so far.",
    { isTime: false, xTitle: "After the beginning", logTicks: marksAround(series), format: { x: inSeconds, y: milliseconds } },
    { x: intervals.map((_, index) => index * every), ticks: secondTicks(intervals.length * every), series });
}

const titled = (stage) => `${stage[0].toUpperCase()}${stage.slice(1)}`;

function verdictOf(report, failed) {
  const missed = report.objectives.filter((one) => !one.isMet).map((one) => `Missed: ${one.objective}`);
  const doubts = report.generator.wasBottleneck ? ["The generator was behind: its latencies are too high."] : [];
  const cut = report.failure ? [`It ended early: ${report.failure}`] : [];
  const notes = [...cut, ...missed, ...doubts];
  if (!report.isMet) return { level: "bad", text: report.failure ? "It ended early" : "An objective is missed", notes };
  if (doubts.length) return { level: "warn", text: "Do not believe the latencies", notes };
  if (report.objectives.length === 0) return { level: failed ? "warn" : "good", text: failed ? "Some operations failed" : "Everything was answered", notes };
  return { level: "good", text: "All objectives are met", notes };
}

const objectiveValue = (one) => (one.value === null ? "nothing to measure"
  : /^(errors|behind|answered) /.test(one.objective) ? percent(one.value, 1) : latency(one.value));

export function bench(report) {
  const reached = stages.filter(([stage]) => report.latencyMicroseconds[stage]?.count > report.latencyMicroseconds[stage]?.unreached);
  const total = (name) => report.loads.reduce((all, load) => all + load[name], 0);
  const accepted = report.latencyMicroseconds.accepted;
  const last = report.latencyMicroseconds.shown ? "shown" : "delivered";
  const final = report.latencyMicroseconds[last];
  const failures = report.loads.flatMap((load) => load.failures.map((failure) => ({ load: load.name, ...failure })));
  const scenario = report.scenario;
  return [
    ...top("Freshet load test", scenario.name, scenario.about, verdictOf(report, total("failed")), [
      { name: "Answered a second", value: rate(report.answeredPerSecond), hint: `${percent(total("answered"), total("due"))} of ${count(total("due"))} that were due` },
      { name: "Accepted, p99", value: latency(accepted?.p99), hint: `median ${latency(accepted?.p50)}` },
      { name: `${titled(last)}, p99`, value: latency(final?.p99), hint: `median ${latency(final?.p50)}` },
    ]),
    rateChart(report), reached.length > 0 && curveChart(report, reached),
    h("div", { class: "columns" }, reached.map(([stage, colour]) => stageChart(report, stage, colour))),
    tabled("Objectives", "What the scenario demands.",
      [["Objective", (one) => one.objective, true], ["Reached", objectiveValue], ["", (one) => yesNo(one.isMet, "met", "missed")]], report.objectives, "The scenario has none."),
    tabled("Latencies", "What failed or was never answered counts as later than everything else.",
      [["Load", ([load]) => load.name, true], ["Stage", ([, stage]) => stage, true], ["Count", ([load, stage]) => count(load.latencyMicroseconds[stage].count)],
        ...percentiles.map((name) => [name, ([load, stage]) => latency(load.latencyMicroseconds[stage][name])])],
      report.loads.flatMap((load) => stages.filter(([stage]) => load.latencyMicroseconds[stage]).map(([stage]) => [load, stage])), "Nothing came so far."),
    tabled("What was sent", null,
      [["Load", (load) => load.name, true], ["Due", (load) => count(load.due)], ["Sent", (load) => count(load.sent)], ["2xx", (load) => count(load.answered)], ["Failed", (load) => count(load.failed)]],
      report.loads),
    failures.length > 0 && tabled("What failed", null,
      [["Load", (one) => one.load, true], ["Why", (one) => (one.status ? `${one.status} ${one.reason}` : one.reason), true], ["Count", (one) => count(one.count)]], failures),
    ...report.loads.filter((load) => load.decided).map((load) => decisionCard(load)),
    listed("How far to believe it", report.remarks),
    factual("The run", [["Against", report.target], ["Length", inSeconds(scenario.lengthSeconds)], ["Hosts", `${count(scenario.hosts)} with ${scenario.widgets} widgets`],
      ["Connections", `${count(scenario.connections)} with ${count(scenario.streams)} streams`], ["Seed", String(scenario.seed)], ["Began", new Date(report.began).toISOString()]]),
  ];
}

function decisionCard(load) {
  const one = split(load.name);
  one.set(load.decided);
  return h("section", { class: "card", "aria-label": `Decided of ${load.name}` },
    h("div", { class: "card-head" }, h("h2", {}, `Decided at once: ${load.name}`),
      h("p", { class: "soft" }, `${count(load.decided.matched)} widgets of ${count(load.decided.pushes)} pushes that were followed`)), one.element);
}
