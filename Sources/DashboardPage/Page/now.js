// The first view: whether widgets are fresh, the advice, the flow, and which sender spends which app's budget.

import { advice, behindLink, behindText, firstSteps, freshness, seen } from "./advice.js";
import { badge, card, facts, fill, h, link, meter, split, tile, tiles, to } from "./elements.js";
import { flow } from "./flow.js";
import { gateway, senderHours } from "./gateway.js";
import { count, counted, duration, ms, percent, rate } from "./numbers.js";
import { costs } from "./senders.js";

export const title = "Now";

/// The most things to do that are shown: those below show when these are done.
const todoMax = 5;
const day = 86_400_000;

export function open(context) {
  const word = h("p", { class: "verdict" }, "–");
  const text = h("p", { class: "said" });
  const why = h("p", { class: "soft why" });
  const within = tile("Within the goal", " ");
  const behind = tile("Behind", " ");
  const p50 = tile("Half seen within", " ");
  const p95 = tile("95 % seen within", " ");
  const health = h("section", { class: "card health", "aria-label": "Freshness" },
    h("div", {}, h("h2", {}, "Widgets are"), word, text, why), tiles(within, behind, p50, p95));
  const kinds = h("ul", { class: "spenders" });
  const steps = h("ol", { class: "steps" });
  const stepsCard = card("First steps", { note: "no host is registered" }, steps);
  const todo = h("ul", { class: "todo" });
  const spenders = h("ul", { class: "spenders" });
  const rates = ["Pushes a second", "Matched a second", "Reloads a second", "Deferred matches"].map((label) => tile(label));
  const pressure = h("div");
  const outcome = split("Outcomes of matched widgets");
  const total = h("p", {});
  const going = flow(context);
  going.element.insertBefore(tiles(...rates), going.element.children[1]);
  const element = h("div", { class: "view" },
    stepsCard,
    h("div", { class: "columns top" }, health, card("To do", todo)),
    h("div", { class: "columns main" }, going.element,
      h("div", { class: "view" }, card("Kinds", { note: link("#/apps", "All apps") }, kinds),
        card("Budget by sender", { note: h("span", {}, "24 hours · ", link("#/senders?range=86400", "All senders")) }, spenders),
        card("Load", { note: "0 is good" }, pressure))),
    card("Outcomes of matched widgets", { note: total }, outcome.element),
    going.ageElement,
  );

  /// The last ten seconds.
  let lately = [];
  const showRates = () => {
    const last = lately.slice(-10);
    const mean = (name) => (last.length ? last.reduce((sum, sample) => sum + (sample[name] ?? 0), 0) / last.length : undefined);
    for (const [index, name] of ["accepted", "matched", "reloadsIssued"].entries()) rates[index].set(rate(mean(name)));
    rates[3].set(count(last.at(-1)?.deferred));
  };

  return {
    element,
    charts: going.charts,
    async ask(signal) {
      const [stats, senders, budget, providers, places, all, cluster, hours, drawn] = await Promise.all([
        gateway.get("/v1/stats", signal), context.sometimes("/v1/senders", signal), context.sometimes("/v1/budget", signal),
        context.sometimes("/v1/providers", signal, 9), context.sometimes("/v1/upstreams", signal, 9),
        context.sometimes("/v1/kinds", signal, 9), context.sometimes("/v1/cluster", signal, 9), senderHours(signal, 25),
        going.ask(signal),
      ]);
      return { stats, kinds: all?.kinds ?? [], senders: senders?.senders ?? [], budget: budget?.survey ? budget : null,
        providers: providers?.providers, places, cluster, hours, drawn };
    },
    sample(sample) {
      lately = [...lately, sample].slice(-60);
      showRates();
      going.sample(sample);
    },
    show({ stats, kinds: allKinds, senders, budget, providers, places, cluster, hours, drawn }) {
      const fresh = freshness(stats);
      const sightings = seen(stats);
      word.textContent = fresh.word;
      health.dataset.level = fresh.level;
      fill(text, fresh.text, " ", fresh.link ? link(fresh.link, stats.freshness.late > 0 ? "List the late ones" : "List them") : null);
      why.textContent = fresh.why ? `${stats.freshness.late > 0 ? "Of all widgets that are behind, " : ""}${fresh.why}.` : "";
      showGoal(within, behind, stats.freshness);
      p50.set(duration(sightings.numbers.p50Milliseconds));
      p95.set(duration(sightings.numbers.p95Milliseconds));
      p50.hint("from push to screen");
      p95.hint(sightings.text);
      showKinds(kinds, allKinds, stats.freshness);
      showSteps(stepsCard, steps, stats, drawn.config?.configuration);
      lately = drawn.seconds.slice(-60);
      showRates();
      showTodo(todo, advice({ stats, senders, budget, providers, places, cluster, samples: lately, minutes: drawn.minutes }), stats);
      showSpenders(spenders, costs(hours, ms(stats.asOf) - day).senders);
      const outcomes = stats.pushes.outcomes;
      outcome.set(outcomes, { all: true });
      total.replaceChildren(`${counted(stats.pushes.accepted, "push", "pushes")} matched `,
        h("b", { id: "matched", "data-count": String(stats.pushes.matched) }, count(stats.pushes.matched)), stats.pushes.matched === 1 ? " widget " : " widgets ",
        badge(stats.pushes.balanced ? "adds up" : "does not add up", stats.pushes.balanced ? "good" : "bad"));
      const http = stats.http;
      const limited = http.rateLimited ? http.rateLimited.app + http.rateLimited.key + http.rateLimited.token : 0;
      fill(pressure, facts([
        ["Pushes without their answer yet", count(http.inFlight)], ["Log entries not applied yet", count(stats.partitions.reduce((sum, one) => sum + one.lag, 0))],
        ["Pushes answered 503 since the start", http.unavailable > 0 ? badge(count(http.unavailable), "bad") : "0"],
        ["Pushes answered 429 since the start", limited > 0 ? badge(count(limited), "warn") : "0"],
      ]));
      going.show(drawn, stats);
    },
  };
}

/// How many are within the goal, and behind.
function showGoal(within, behind, row) {
  const isKnown = row?.instances > 0;
  within.set(isKnown ? percent(row.instances - row.late, row.instances) : "–", isKnown && !row.isMet ? "bad" : "");
  within.hint(row ? `goal: ${row.goal}` : " ");
  behind.set(isKnown ? count(row.behind) : "–");
  behind.hint(!isKnown ? " " : row.behind === 0 ? "none waits" : `the longest ${row.oldestSeconds >= 89_940 ? "more than 25 h" : duration(row.oldestSeconds * 1000)}`);
}

/// The kinds with the largest share of late widgets, then of those that are behind, then the largest.
function showKinds(list, kinds, all) {
  const share = (kind, name) => kind.freshness[name] / Math.max(1, kind.freshness.instances);
  const found = kinds.filter((one) => one.freshness?.instances > 0)
    .sort((left, right) => share(right, "late") - share(left, "late") || share(right, "behind") - share(left, "behind") || right.freshness.instances - left.freshness.instances)
    .slice(0, 3);
  fill(list, found.length === 0 ? h("li", { class: "empty" }, "No kind has a widget yet.") : found.map(({ app, kind, freshness: row }) => h("li", {},
    h("span", { class: "row" }, h("span", { class: "cut" }, link(to("instances", [], { app, kind }), kind), h("span", { class: "soft" }, ` ${app}`)),
      row.behind === 0 ? h("span", { class: "soft" }, "none behind")
        : link(behindLink(row, all.goalSeconds, app, kind), row.late > 0 ? `${count(row.late)} late` : `${count(row.behind)} behind`)),
    meter(row.late > 0 ? row.late : row.behind, row.instances, row.late > 0 ? (row.isMet ? "warn" : "bad") : ""),
    h("span", { class: "soft" }, row.behind === 0 ? counted(row.instances, "widget") : `${count(row.behind)} of ${count(row.instances)} behind: ${behindText(row)}`))));
}

/// The steps until the first widget reloads, with the command for each.
function showSteps(frame, list, stats, configuration) {
  frame.hidden = stats.registry.hosts > 0;
  if (frame.hidden) return;
  const all = firstSteps(stats, configuration, location.hostname);
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
    ? [h("li", { class: "calm" }, h("b", {}, "No widgets yet."), " The first steps are above. The work of hosts and senders shows here.")]
    : [h("li", { class: "calm" }, h("b", {}, "Nothing."), " No limit is reached, nothing fails, nothing expires soon.")];
  const shown = found.slice(0, todoMax).map(({ level, text, act, link: [href, name] }) =>
    h("li", { "data-level": level }, badge({ bad: "Now", warn: "Soon", note: "Note" }[level], level),
      h("div", {}, h("b", {}, text), act ? h("span", {}, ` ${act}`) : null, " ",
        h("a", { href, "data-key": `${href} ${text.slice(0, 12)}` }, name))));
  const rest = found.length - todoMax;
  fill(list, found.length === 0 ? nothing : [...shown, rest > 0 ? h("li", { class: "soft" }, `and ${count(rest)} more`) : null]);
}

function showSpenders(list, senders) {
  const charged = senders.reduce((sum, one) => sum + one.reloadsCharged, 0);
  const top = [...senders].sort((left, right) => right.reloadsCharged - left.reloadsCharged).slice(0, 3);
  fill(list, top.length === 0
    ? h("li", { class: "empty" }, "No sender has pushed lately.")
    : top.map((one) => h("li", {},
      h("span", { class: "row" }, link(to("pushes", [], { sender: one.team }), one.team), h("span", {}, `${counted(one.reloadsCharged, "reload")}, ${percent(one.reloadsCharged, charged)}`)),
      meter(one.reloadsCharged, charged),
      h("span", { class: "soft" }, `${counted(one.pushes, "push", "pushes")}, ${percent(one.unchanged, one.matched)} of the matched widgets were unchanged`))));
}
