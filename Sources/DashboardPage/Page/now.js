// The first view: are widgets fresh, who spends whose budget, what is there to do.

import { advice, behindLink, behindText, firstSteps, freshness, seen } from "./advice.js";
import { chart } from "./charts.js";
import { badge, card, fill, h, meter, segments, split, tile, tiles } from "./elements.js";
import { gateway, history } from "./gateway.js";
import { count, duration, minute, ms, percent, rate, time } from "./numbers.js";

export const title = "Now";
export const interval = 2000;

export function open(context) {
  const word = h("p", { class: "verdict" }, "–");
  const text = h("p", { class: "said" });
  const why = h("p", { class: "soft why" });
  const within = tile("Within the goal", "of the widgets");
  const behind = tile("Behind", "widgets");
  const p50 = tile("Half seen within", "push to screen");
  const p95 = tile("95 % seen within", "push to screen");
  const health = h("section", { class: "card health", "aria-label": "Freshness" },
    h("div", {}, h("h2", {}, "Widgets are"), word, text, why), tiles(within, behind, p50, p95));
  const kinds = h("ul", { class: "spenders behind" });
  const kindsCard = card("Which kinds are behind", { note: h("a", { href: "#/instances/-///behind" }, "All that are behind") }, kinds);
  const steps = h("ol", { class: "steps" });
  const stepsCard = card("First steps", { note: "no host is registered" }, steps);
  const todo = h("ul", { class: "todo" });
  const spenders = h("ul", { class: "spenders" });
  const left = h("p", { class: "soft" });

  const pushes = tile("Pushes a second", "accepted from senders");
  const matched = tile("Matched a second", "widgets that pushes were about");
  const reloads = tile("Reloads a second", "sent to hosts");
  const waiting = tile("Waiting", "deferred until a budget allows");
  const pressure = [
    tile("In work", "pushes without their answer yet"), tile("Lag", "entries not applied yet"),
    tile("Answered 503", "since the start"), tile("Answered 429", "by a rate limit, since the start"),
  ];
  const outcome = split("What became of matched widgets");
  const total = h("p", { class: "soft sum" });
  const flow = chart("Pushes in, widgets matched, reloads out", {
    format: { x: (x) => (step === "second" ? time(x) : minute(x)), y: rate }, xTitle: "", height: 230,
  });
  const age = chart("How old news is when it is seen", {
    format: { x: minute, y: duration }, height: 190, logTicks: [10, 100, 1000, 10_000, 60_000, 600_000, 3_600_000, 21_600_000, 86_400_000],
  });
  let step = "second";
  const range = segments("Time shown", [["second", "10 minutes"], ["minute", "24 hours"]], step, (next) => {
    step = next;
    context.again();
  });

  const element = h("div", { class: "view" },
    stepsCard,
    h("div", { class: "columns top" }, health, card("To do", todo)),
    kindsCard,
    h("div", { class: "columns main" },
      card("Flow", { note: range }, tiles(pushes, matched, reloads, waiting), flow.element),
      h("div", { class: "view" },
        card("Who spends the budget", { note: h("a", { href: "#/senders" }, "All senders") }, spenders, left),
        card("Back-pressure", { note: "all 0 is well" }, tiles(...pressure)))),
    card("What became of matched widgets", { note: total }, outcome.element),
    card("Freshness, minute by minute", age.element),
  );

  return {
    element,
    charts: [flow, age],
    async ask(signal) {
      const [stats, senders, budget, providers, places, seconds, shown, apps] = await Promise.all([
        gateway.get("/v1/stats", signal), gateway.get("/v1/senders", signal), context.sometimes("/v1/budget", signal),
        context.sometimes("/v1/providers", signal), context.sometimes("/v1/upstreams", signal), history("second", signal), history("minute", signal),
        context.sometimes("/v1/apps", signal),
      ]);
      const isBehind = stats.freshness?.behind > 0;
      return { stats, apps: apps?.apps, kinds: isBehind ? (await context.sometimes("/v1/kinds", signal))?.kinds : [], senders: senders.senders, budget: budget?.survey ? budget : null, providers: providers?.providers, places, seconds, minutes: shown };
    },
    show({ stats, apps, kinds: allKinds, senders, budget, providers, places, seconds, minutes }) {
      const samples = seconds.samples;
      const fresh = freshness(stats);
      const sightings = seen(stats);
      word.textContent = fresh.word;
      health.dataset.level = fresh.level;
      fill(text, fresh.text, " ", fresh.link ? h("a", { href: fresh.link, "data-key": "behind" }, stats.freshness.late > 0 ? "List the late ones" : "List them") : null);
      why.textContent = fresh.why ? `${stats.freshness.late > 0 ? "Of all that are behind, " : ""}${fresh.why}.` : "";
      why.hidden = !fresh.why;
      showGoal(within, behind, stats.freshness);
      p50.set(duration(sightings.numbers.p50Milliseconds));
      p95.set(duration(sightings.numbers.p95Milliseconds));
      p50.hint(sightings.text);
      p95.hint(sightings.text);
      showKinds(kindsCard, kinds, allKinds ?? [], stats.freshness);
      showSteps(stepsCard, steps, stats, apps);
      showTodo(todo, advice({ stats, senders, budget, providers, places, samples }), stats);
      showSpenders(spenders, senders, stats);
      left.replaceChildren(budget
        ? `${count(budget.exhausted)} of ${count(budget.instances)} widgets have no reloads left in their window. `
        : "", budget ? h("a", { href: "#/budget", "data-key": "budget" }, "Budgets") : "");

      const last = samples.slice(-10);
      const mean = (name) => last.reduce((sum, sample) => sum + (sample[name] ?? 0), 0) / last.length;
      pushes.set(rate(last.length ? mean("accepted") : undefined));
      matched.set(rate(last.length ? mean("matched") : undefined));
      reloads.set(rate(last.length ? mean("reloadsIssued") : undefined));
      const outcomes = stats.pushes.outcomes;
      waiting.set(count(outcomes.deferred ?? 0));
      outcome.set(outcomes, { all: true });
      total.replaceChildren(`${count(stats.pushes.accepted)} pushes matched `,
        h("b", { id: "matched", "data-count": String(stats.pushes.matched) }, count(stats.pushes.matched)), " widgets. ",
        badge(stats.pushes.balanced ? "Adds up" : "Does not add up", stats.pushes.balanced ? "good" : "bad"));

      const http = stats.http;
      const lag = stats.partitions.reduce((sum, one) => sum + one.lag, 0);
      const limited = http.rateLimited ? http.rateLimited.app + http.rateLimited.key + http.rateLimited.token : 0;
      const numbers = [http.inFlight, lag, http.unavailable, limited];
      for (const [index, value] of numbers.entries()) {
        pressure[index].set(count(value), index === 2 && value > 0 ? "bad" : index === 3 && value > 0 ? "warn" : "");
      }

      const shown = (step === "second" ? samples : minutes.samples);
      const per = step === "second" ? 1 : 60;
      const drawnSamples = thin(shown, step === "second" ? 5 : 10);
      flow.set({
        x: drawnSamples.map((sample) => ms(sample.at)),
        summary: shown.length
          ? `${count(shown.reduce((sum, sample) => sum + sample.accepted, 0))} pushes in the ${step === "second" ? "last minutes" : "last hours"} shown.`
          : "Fills up as the gateway counts.",
        series: [
          { name: "Pushes a second", values: drawnSamples.map((sample) => sample.accepted / per), colour: "--accent", fill: true },
          { name: "Matched a second", values: drawnSamples.map((sample) => sample.matched / per), colour: "--coalesced" },
          { name: "Reloads a second", values: drawnSamples.map((sample) => sample.reloadsIssued / per), colour: "--reloaded" },
        ],
      });
      const known = smooth((minutes.samples).filter((sample) => sample.shown > 0 && sample.p50Milliseconds));
      age.set({
        x: known.map((sample) => ms(sample.at)),
        summary: known.length ? "" : sightings.numbers.shown ? "Fills up minute by minute." : "Nothing yet. Hosts say what they show with the signal entryShown.",
        series: [
          { name: "Half within", values: known.map((sample) => sample.p50Milliseconds), colour: "--accent", points: known.length < 40 ? 3 : 0 },
          { name: "95 % within", values: known.map((sample) => sample.p95Milliseconds), colour: "--deferred", points: known.length < 40 ? 3 : 0 },
        ],
      });
    },
  };
}

/// At most some hundred minutes: of several the oldest news, so that no bad minute is left out.
function smooth(samples) {
  const of = Math.ceil(samples.length / 120);
  if (of < 2) return samples;
  const result = [];
  for (let index = 0; index < samples.length; index += of) {
    const part = samples.slice(index, index + of);
    const worst = (name) => Math.max(...part.map((one) => one[name] ?? 0));
    result.push({ at: part[0].at, p50Milliseconds: worst("p50Milliseconds"), p95Milliseconds: worst("p95Milliseconds") });
  }
  return result;
}

/// Means over so many samples, so that a line has as many points as a screen can show.
function thin(samples, of) {
  if (samples.length < 240) return samples;
  const result = [];
  for (let index = samples.length % of; index < samples.length; index += of) {
    const part = samples.slice(index, index + of);
    const mean = (name) => part.reduce((sum, one) => sum + (one[name] ?? 0), 0) / part.length;
    result.push({ at: part.at(-1).at, accepted: mean("accepted"), matched: mean("matched"), reloadsIssued: mean("reloadsIssued") });
  }
  return result;
}

/// How many are within the goal, and behind.
function showGoal(within, behind, row) {
  const isKnown = row?.instances > 0;
  within.set(isKnown ? percent(row.instances - row.late, row.instances) : "–", isKnown && !row.isMet ? "bad" : "");
  within.hint(row ? `goal: ${row.goal}` : "");
  behind.set(isKnown ? count(row.behind) : "–");
  behind.hint(!isKnown ? "" : row.behind === 0 ? "none waits" : `the longest for ${row.oldestSeconds >= 89_940 ? "more than 25 h" : duration(row.oldestSeconds * 1000)}`);
}

/// The kinds with the largest share of late widgets, then of those that are behind.
function showKinds(frame, list, kinds, all) {
  const found = kinds.filter((one) => one.freshness?.behind > 0)
    .sort((left, right) => share(right, "late") - share(left, "late") || share(right, "behind") - share(left, "behind")).slice(0, 6);
  frame.hidden = found.length === 0;
  fill(list, found.map(({ app, kind, freshness: row }) => h("li", {},
    h("span", { class: "row" }, h("span", {}, h("b", {}, kind), h("span", { class: "soft" }, ` ${app}`)),
      h("a", { href: behindLink(row, all.goalSeconds, app, kind) }, row.late > 0 ? `${count(row.late)} late` : `${count(row.behind)} behind`)),
    meter(row.late > 0 ? row.late : row.behind, row.instances, row.late > 0 ? (row.isMet ? "warn" : "bad") : ""),
    h("span", { class: "soft" }, `${count(row.behind)} of ${count(row.instances)} behind: ${behindText(row)}`))));
}

const share = (kind, name) => kind.freshness[name] / Math.max(1, kind.freshness.instances);

/// What is left to do until the first widget reloads, with the command for each.
function showSteps(frame, list, stats, apps) {
  frame.hidden = stats.registry.hosts > 0;
  if (frame.hidden) return;
  const all = firstSteps(stats, apps, location.hostname);
  const next = all.findIndex((one) => !one.isDone);
  fill(list, all.map((one, index) => h("li", { "data-done": String(one.isDone) },
    h("i", { "aria-hidden": "true" }, String(index + 1)),
    h("div", {},
      h("div", { class: "row" }, h("b", {}, one.title), badge(one.isDone ? "done" : index === next ? "next" : "later", one.isDone ? "good" : index === next ? "warn" : "")),
      one.isDone ? null : h("p", { class: "soft" }, one.text),
      one.isDone ? null : h("pre", { tabindex: "0", role: "region", "aria-label": `Command: ${one.title}` }, h("code", {}, one.command))))));
}

function showTodo(list, found, stats) {
  const nothing = stats.pushes.accepted === 0 && stats.registry.instances === 0
    ? [h("li", { class: "calm" }, h("b", {}, "No widgets yet."), " The first steps are above; what hosts and senders do shows here.")]
    : [h("li", { class: "calm" }, h("b", {}, "Nothing."), " No limit was met, nothing has failed, nothing ends soon.")];
  fill(list, found.length === 0 ? nothing : found.slice(0, 6).map(({ level, text, act, link }) =>
    h("li", { "data-level": level }, badge({ bad: "Now", warn: "Soon", note: "Note" }[level], level),
      h("div", {}, h("b", {}, text), act ? h("span", {}, ` ${act}`) : null, " ",
        h("a", { href: link[0], "data-key": `${link[0]} ${text.slice(0, 12)}` }, link[1])))));
}

function showSpenders(list, senders, stats) {
  const charged = senders.reduce((sum, one) => sum + one.reloadsCharged, 0);
  const top = [...senders].sort((left, right) => right.reloadsCharged - left.reloadsCharged).slice(0, 5);
  fill(list, top.length === 0
    ? h("li", { class: "empty" }, stats.pushes.accepted === 0 ? "No sender has pushed yet." : "Nothing was charged yet.")
    : top.map((one) => h("li", {},
      h("span", { class: "row" }, h("b", {}, one.team), h("span", {}, `${count(one.reloadsCharged)} reloads, ${percent(one.reloadsCharged, charged)}`)),
      meter(one.reloadsCharged, charged),
      h("span", { class: "soft" }, `${count(one.pushes)} pushes, ${percent(one.unchanged, one.matched)} unchanged`))));
}
