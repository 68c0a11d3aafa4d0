// The flow over ten minutes to thirty days: pushes, matches, reloads and deferred matches, each with a scale of its own, and the events
// meanwhile.

import { chart, markColours } from "./charts.js";
import { card, choice, h, when } from "./elements.js";
import { history } from "./gateway.js";
import { live } from "./live.js";
import { count, counted, duration, moment, ms, rate } from "./numbers.js";

const ranges = [["600", "10 min", "second"], ["3600", "1 hour", "minute"], ["21600", "6 hours", "minute"], ["86400", "24 hours", "minute"],
  ["604800", "7 days", "hour"], ["2592000", "30 days", "hour"]];
const stepSeconds = { second: 1, minute: 60, hour: 3600 };
const pointsMax = 300;
const marksShown = 4;

/// A card with the flow, and one with how old news was when it was seen.
export function flow(context) {
  let seconds = Number(context.query.range ?? 600);
  const chosen = () => ranges.find(([value]) => Number(value) === seconds) ?? ranges[0];
  const range = choice(ranges.map(([value, title]) => [value, title]), chosen()[0]);
  range.setAttribute("aria-label", "Time shown");
  range.dataset.key = "range";
  range.addEventListener("change", () => {
    seconds = Number(range.value);
    context.again();
  });
  const lines = chart("Pushes, matches and reloads a second, and deferred matches", { format: { y: rate }, height: 300, legend: false,
    panels: ["pushes/s", "matched/s", "reloads/s", "deferred"] });
  const age = chart("Age of data when it is shown", {
    format: { y: duration }, height: 190, logTicks: [10, 100, 1000, 10_000, 60_000, 600_000, 3_600_000, 21_600_000, 86_400_000],
  });
  const marks = h("ul", { class: "marks" });
  const since = h("span", { class: "soft" });
  let what = {};
  let samples = [];
  const element = card("Flow", { note: h("span", { class: "row" }, since, range) }, lines.element, marks);
  const ageElement = card("Age of data when it is shown", { note: "from push to screen, as hosts report it" }, age.element);

  function draw() {
    const step = chosen()[2];
    const until = Math.max(ms(what.asOf ?? 0), samples.length > 0 ? ms(samples.at(-1).at) : 0);
    const from = until - seconds * 1000;
    const shown = samples.filter((sample) => ms(sample.at) > from);
    const points = thin(spread(shown, stepSeconds[step], what.startedAt), Math.ceil(seconds / stepSeconds[step] / pointsMax));
    const happened = marksOf(what.marks).filter((mark) => ms(mark.at) > from);
    const first = shown[0] ? beginning(shown[0], step, what.minutes) : until;
    since.textContent = shown[0] && first - from > 3000 * stepSeconds[step] ? `There is data since ${moment(first)}.` : "";
    const dots = points.length < 30 ? 2 : 0;
    lines.set({
      x: points.map((point) => point.at), min: from, max: until, marks: happened,
      summary: "",
      series: [
        { name: "Pushes a second", values: points.map((point) => point.accepted), colour: "--accent", fill: true, points: dots },
        { name: "Matched a second", values: points.map((point) => point.matched), colour: "--accent", fill: true, points: dots },
        { name: "Reloads a second", values: points.map((point) => point.reloadsIssued), colour: "--accent", fill: true, points: dots },
        { name: "Deferred matches", values: points.map((point) => point.deferred), colour: "--deferred", fill: true, points: dots, format: count },
      ],
    });
    lines.say(`${count(shown.reduce((sum, one) => sum + one.accepted, 0))} pushes matched ${count(shown.reduce((sum, one) => sum + one.matched, 0))} widgets in ${chosen()[1]}.`);
    marks.replaceChildren(...happened.slice(-marksShown).reverse().map((mark) =>
      h("li", {}, h("i", { style: { background: `var(${markColours[mark.kind]})` } }), when(mark.at), h("span", {}, mark.text))),
    happened.length > marksShown ? h("li", { class: "soft" }, `and ${count(happened.length - marksShown)} before`) : "");
    marks.hidden = happened.length === 0;
  }

  function drawAge(minutes) {
    const known = worst(minutes.filter((sample) => sample.shown > 0 && sample.p50Milliseconds));
    const points = known.length < 40 ? 3 : 0;
    age.set({
      min: known.length ? ms(known[0].at) - 60_000 : undefined, max: known.length ? ms(known.at(-1).at) + 60_000 : undefined,
      x: known.map((sample) => ms(sample.at)),
      summary: known.length ? "" : "Nothing yet. Hosts report the entry that they show with the signal entryShown.",
      series: [
        { name: "Half within", values: known.map((sample) => sample.p50Milliseconds), colour: "--accent", points },
        { name: "95 % within", values: known.map((sample) => sample.p95Milliseconds), colour: "--deferred", points },
      ],
    });
  }

  return {
    element, ageElement,
    charts: [lines, age],
    async ask(signal) {
      const step = chosen()[2];
      const [seconds, minutes, hours, kept, config] = await Promise.all([history("second", live.isOn, signal), history("minute", live.isOn, signal),
        step === "hour" ? history("hour", live.isOn, signal) : [], context.sometimes("/v1/history/marks", signal, 9),
        context.sometimes("/v1/config", signal, 60)]);
      return { seconds, minutes, hours, marks: kept?.marks, config };
    },
    show({ seconds: newest, minutes, hours, marks: kept }, stats) {
      samples = { second: newest, minute: minutes, hour: hours }[chosen()[2]];
      what = { startedAt: stats.startedAt, asOf: stats.asOf, minutes, marks: kept };
      draw();
      drawAge(minutes);
    },
    /// A second that came as an event.
    sample(sample) {
      if (chosen()[2] !== "second" || samples.at(-1)?.at >= sample.at) return;
      samples = [...samples, sample].slice(-600);
      draw();
    },
  };
}

/// When the time of a sample began; an hour that is known by its minutes, with the first of them.
function beginning(sample, step, minutes) {
  if (step !== "hour") return ms(sample.at) - 1000 * stepSeconds[step];
  const hour = Math.floor((ms(sample.at) - 1) / 3_600_000) * 3_600_000;
  const first = minutes.length > 0 ? ms(minutes[0].at) - 60_000 : 0;
  return first < hour + 3_600_000 ? Math.max(hour, first) : hour;
}

/// Numbers a second, with nothing between samples where there were none.
function spread(samples, step, startedAt) {
  const points = [];
  let before = null;
  for (const sample of samples) {
    const at = ms(sample.at);
    if (before !== null && at - before > 2500 * step) points.push({ at: before + 1, accepted: null, matched: null, reloadsIssued: null, deferred: null });
    // An hour that is not over, or in which the gateway was started, is shorter.
    const begun = Math.max(before ?? 0, Math.floor((at - 1) / (1000 * step)) * 1000 * step, ms(startedAt) < at ? ms(startedAt) : 0);
    const length = step < 3600 ? step : Math.max(60, Math.min(step, (at - begun) / 1000));
    points.push({ at, accepted: sample.accepted / length, matched: sample.matched / length, reloadsIssued: sample.reloadsIssued / length, deferred: sample.deferred });
    before = at;
  }
  return points;
}

/// Means over so many points, so that a line has as many as a screen can show.
function thin(points, of) {
  if (of < 2) return points;
  const result = [];
  for (let index = 0; index < points.length; index += of) {
    const part = points.slice(index, index + of).filter((point) => point.accepted !== null);
    if (part.length === 0) continue;
    const mean = (name) => part.reduce((sum, point) => sum + point[name], 0) / part.length;
    if (part.length < Math.min(of, points.length - index)) result.push({ ...points[index], at: part[0].at - 1, accepted: null, matched: null, reloadsIssued: null, deferred: null });
    result.push({ at: part.at(-1).at, accepted: mean("accepted"), matched: mean("matched"), reloadsIssued: mean("reloadsIssued"), deferred: part.at(-1).deferred });
  }
  return result;
}

/// At most some hundred minutes: of several the oldest news, so that no bad minute is left out.
function worst(samples) {
  const of = Math.ceil(samples.length / 120);
  if (of < 2) return samples;
  const result = [];
  for (let index = 0; index < samples.length; index += of) {
    const part = samples.slice(index, index + of);
    const most = (name) => Math.max(...part.map((one) => one[name] ?? 0));
    result.push({ at: part[0].at, p50Milliseconds: most("p50Milliseconds"), p95Milliseconds: most("p95Milliseconds") });
  }
  return result;
}

/// The events that are not in the numbers, the oldest first, as sentences: `{ at, kind, text }`.
export const marksOf = (marks = []) => marks.map(({ at, kind, text, awaySince, by }) =>
  ({ at, kind, text: `${text}${awaySince ? `; it was away since ${moment(awaySince)}` : ""}${by ? ` by ${by}` : ""}.` }));
