// One widget: why it is as it is, its day, its budget, every decision.

import { behindReasons } from "./advice.js";
import { actions, actionsCard, cancel, grant, reloadNow } from "./actions.js";
import { chart } from "./charts.js";
import { badge, card, facts, gone, h, hostLink, instancePath, link, outcomeBadge, outcomeTitle, pushLink, reason, table, tile, tiles, when } from "./elements.js";
import { gateway, Refused } from "./gateway.js";
import { because, count, duration, moment, ms, now, source } from "./numbers.js";

const isPush = (cause) => cause === "push" || cause === "appRequest" || cause === "appIntent";
/// The lines of the day's strip: the causes of reloads.
const tracks = { 1: "Timeline", 0: "Other", "-1": "Pushes, app" };
const track = (cause) => (isPush(cause) ? -1 : cause === "policy" ? 1 : 0);

/// What a timeline says of its end.
const policies = { atEnd: "a reload at its end", never: "no reload" };

/// The most rows of waiting pushes that are shown; one widget may have thousands.
const shownMax = 10;
/// How many decisions are shown first, and how many when they are asked for.
const decisionsFirst = 10;
const decisionsMax = 100;
/// The most sentences about its state; each waiting push has one.
const summaryMax = 6;

export function one(context, id) {
  const where = `/v1/instances/${instancePath(id)}`;
  const [app, address] = [id.slice(0, id.indexOf("/")), id.slice(id.indexOf("/") + 1)];
  const left = tile("Left now", "reloads in this window");
  const charged = tile("Charged", " ");
  const waiting = tile("Waiting", "pushes and other causes");
  const out = tile("On its way", "not acknowledged yet");
  const verdict = h("p", { class: "said" });
  const story = h("div", { class: "view" });
  const storyCard = card("History from the log", { note: "the last 24 hours" }, story);
  storyCard.hidden = true;
  const tell = h("button", { type: "button", class: "small", on: { click: () => ask() } }, "Read the log of the last 24 hours");
  const what = h("div");
  const budget = h("div");
  const timeline = h("div");
  const note = h("span");
  const rest = h("span");
  let isLimited = true;
  const strip = dayChart(() => isLimited);
  const pending = table("Waiting pushes", [
    { title: "Cause", cell: (row) => source(row.cause) },
    { title: "Push", cell: (row) => pushLink(row.push) },
    { title: "Priority", number: true, cell: (row) => count(row.priority) },
    { title: "Why", wide: true, cell: (row) => because[row.reason] ?? row.words },
    { title: "Until", cell: (row) => when(row.until) },
    { title: "Expires", cell: (row) => when(row.expiresAt) },
  ], "Nothing waits.");
  const outstanding = table("Reloads on their way", [
    { title: "Reload", wide: true, cell: (row) => h("code", {}, row.id) },
    { title: "Issued", cell: (row) => when(row.issuedAt) },
    { title: "Causes", cell: (row) => (row.causes ?? []).map(source).join(", ") },
    { title: "Pushes", number: true, cell: (row) => count(row.pushes) },
  ], "No reload is on its way.");
  const decisions = table("Decisions, newest first", [
    { title: "At", cell: (row) => when(row.at) },
    { title: "Cause", cell: (row) => source(row.cause) },
    { title: "Outcome", cell: (row) => outcomeBadge(row.outcome) },
    { title: "Why", wide: true, cell: (row) => reason(row, moment) },
    { title: "Push", cell: (row) => pushLink(row.push) },
    { title: "Log position", number: true, cell: (row) => count(row.position) },
  ], "No decision yet.");
  let wanted = decisionsFirst;
  const more = h("button", { type: "button", class: "small", hidden: true, on: { click: () => {
    wanted = decisionsMax;
    context.again();
  } } }, "More");
  const replayed = h("span", { role: "status" });
  const replay = h("button", { type: "button", class: "small", on: { click: () => askReplay() } }, "Replay older decisions");
  let isReplaying = false;
  const element = h("div", { class: "view" },
    h("div", { class: "columns" },
      card("Why it is in this state", verdict, tiles(left, charged, waiting, out), h("p", { class: "told" }, tell)),
      card("Its day", { note }, strip.element)),
    storyCard,
    card("Decisions", { note: h("span", {}, "newest first ", context.who()?.team ? "" : [replayed, " ", replay]) }, decisions.element, h("div", { class: "list-end" }, more)),
    h("div", { class: "columns" }, card("Waiting pushes", { note: rest }, pending.element), card("On its way", outstanding.element)),
    h("div", { class: "columns three" }, card("The widget", what), card("Budget", budget), card("Timeline", timeline)),
    actionsCard(context, actions(context, "write", [reloadNow({ instance: id }, 1), grant({ instance: id }, 1), cancel({ instance: id })])));

  /// Asks the log, which takes a while.
  async function ask() {
    tell.disabled = true;
    storyCard.hidden = false;
    story.replaceChildren(h("p", { class: "soft", role: "status" }, "Reading the log…"));
    try {
      showStory(story, await gateway.get(`${where}/why?since=24h`));
    } catch (error) {
      story.replaceChildren(h("p", { class: "fault", role: "alert" }, error.message));
    }
    tell.disabled = false;
  }

  /// Lets the gateway make decisions again that it no longer keeps; further answers tell how far it is.
  async function askReplay() {
    replay.disabled = true;
    wanted = decisionsMax;
    try {
      const answer = await gateway.get(`${where}?decisions=1&replay=true`);
      isReplaying = answer.replay !== undefined;
      replayed.textContent = isReplaying ? "Replaying the log…" : "This gateway writes no decisions to its disk.";
    } catch (error) {
      replayed.textContent = error.message;
    }
    context.again();
  }

  /// How far a replay is, which began here or elsewhere.
  function showReplay(progress) {
    if (progress?.isRunning) replayed.textContent = `Replaying the log: ${count(progress.entries)} of ${count(progress.of)} entries.`;
    else if (progress?.fault) replayed.textContent = `The last replay ended early: ${progress.fault}.`;
    else if (isReplaying) replayed.textContent = "The replay is done.";
    isReplaying = progress?.isRunning ?? false;
    replay.disabled = isReplaying;
  }

  return {
    element,
    title: address,
    subtitle: h("span", {}, app, " · ", hostLink(app, address.slice(0, address.indexOf(":"))), " · ", link("#/instances", "All widgets")),
    charts: [strip],
    get interval() { return isReplaying ? 1000 : undefined; },
    async ask(signal) {
      try {
        return await gateway.get(`${where}?decisions=${wanted}`, signal);
      } catch (error) {
        if (error instanceof Refused && (error.status === 404 || error.status === 400)) return { gone: error.message };
        throw error;
      }
    },
    show(data) {
      if (data.gone) return element.replaceChildren(gone(`${data.gone}.`, link("#/instances", "All widgets")));
      const window = data.budget;
      isLimited = window.allowance !== undefined;
      left.set(isLimited ? count(Math.max(0, window.allowance - window.charged)) : "no limit", window.charged >= window.allowance ? "warn" : "");
      charged.set(isLimited ? `${count(window.charged)} of ${count(window.allowance)}` : count(window.charged));
      charged.hint(`until ${moment(window.windowEnd)}`);
      waiting.set(count(data.pendingCount));
      out.set(count(data.outstanding.length));
      verdict.replaceChildren(...standing(data));
      what.replaceChildren(facts([
        ["Kind", data.kind], ["Family", data.family], ["Configuration", h("code", {}, JSON.stringify(data.configuration))], ["Tags", data.tags.join(", ")],
        ["Takes pushes", data.pushEnabled ? "yes" : "no"], ["Visible", data.isVisible === undefined ? "unknown" : data.isVisible ? "yes" : "no"],
        ["Shows the entry of", data.shownEntry ? when(data.shownEntry) : ""], ["Times configured", count(data.generation)], ["Fits its kind", data.isOrphaned ? badge("no: it gets no pushes", "warn") : "yes"],
      ]));
      budget.replaceChildren(facts([
        ["Policy", window.policy], ["Window from", when(window.windowStart)], ["to", when(window.windowEnd)],
        ["Pushes may use", isLimited ? count(window.pushAllowance) : "no limit"], ["Pushes used", count(window.pushesCharged)],
        ["At once at most", isLimited ? count(window.burst) : ""], ["Then one in", isLimited ? duration(window.intervalSeconds * 1000) : ""], ["Views a day", String(Math.round(window.viewsPerDay * 10) / 10)],
        ["Exempt reloads", count(window.exemptReloads)], ["Reloads the host made", count(window.observedReloads)],
        ["Along with another widget", count((window.collateralReloads ?? 0) + (window.collateralOverReloads ?? 0))],
        ["Exempt now", window.exemption ? source(window.exemption) : ""], ["A push of priority 10 may", soon(window.nextConforming.priority10)],
        ["A push of priority 5 may", soon(window.nextConforming.priority5)], ["The timeline may", soon(window.nextConforming.policy)],
      ]));
      timeline.replaceChildren(data.timeline ? facts([
        ["Entries", count(data.timeline.entries)], ["From", when(data.timeline.firstDate)], ["To", when(data.timeline.lastDate)],
        ["Then", typeof data.timeline.policy === "string" ? policies[data.timeline.policy] : `after ${moment(data.timeline.policy.after)}`],
        ["Asked again", data.timeline.nextRequest ? when(data.timeline.nextRequest) : "not by itself"],
        ["Came", when(data.timeline.receivedAt)],
        ["Findings", data.timeline.findings.length ? data.timeline.findings.map((finding) => finding.message).join("; ") : "none"],
      ]) : h("p", { class: "empty" }, "No timeline has come yet."));
      pending.set(data.pending.slice(0, shownMax));
      rest.textContent = data.pendingCount > shownMax ? `the first ${shownMax} of ${count(data.pendingCount)}` : "";
      outstanding.set(data.outstanding);
      decisions.set(data.decisions);
      more.hidden = wanted === decisionsMax || data.decisions.length < wanted;
      showReplay(data.replay);
      showDay(strip, note, data);
    },
  };
}

const soon = (instant) => (ms(instant) <= now() ? "reload now" : h("span", {}, "reload at ", when(instant)));

/// The state in sentences: whether it is behind, which reloads are out, which causes wait, and their reason to wait.
function standing(data) {
  const said = [];
  if (data.behindSince) {
    said.push(badge("behind", "warn"), ` It has not shown the newest data since ${moment(data.behindSince)}, for ${duration(Math.max(0, now() - ms(data.behindSince)))}. `);
    const why = behindReasons[data.behind]?.[0];
    if (why) said.push(`It ${why}. `);
  } else said.push(badge("up to date", "good"), " It shows the newest data. ");
  const oldest = data.outstanding[0];
  if (oldest?.issuedAt) said.push(`${data.outstanding.length === 1 ? "A reload is" : `${count(data.outstanding.length)} reloads are`} on the way, the oldest since ${moment(oldest.issuedAt)}; the host has not acknowledged it. `);
  if (data.waitsFor) said.push(`Why the next reload waits: ${because[data.waitsFor] ?? data.waitsFor}${data.decidesAt ? `; decided at ${moment(data.decidesAt)}` : ""}. `);
  said.push(data.nextReload ? `Its next reload is possible ${ms(data.nextReload) <= now() ? "now" : `at ${moment(data.nextReload)}`}. ` : "Only a later event can make it reload. ");
  if (data.budget.lastReload) said.push(`Its last reload was at ${moment(data.budget.lastReload)}.`);
  return said;
}

/// The history of the instance in the log, and the pushes that were not for it.
function showStory(story, data) {
  const steps = table("History, newest first", [
    { title: "At", cell: (row) => when(row.at) },
    { title: "What", wide: true, cell: (row) => row.what },
    { title: "Then", wide: true, cell: (row) => (row.decisions ?? []).map((one) => `${outcomeTitle(one.outcome)}: ${one.words ?? because[one.reason] ?? one.reason}`).join("; ") },
  ], "Nothing happened to it.");
  steps.set(data.steps.slice(-shownMax).reverse());
  const { count: missed, by, newest } = data.misses;
  const misses = table("Pushes that did not match it", [
    { title: "At", cell: (row) => when(row.at) },
    { title: "Push", cell: (row) => pushLink(row.push.id) },
    { title: "Failed", wide: true, cell: (row) => row.conditions.filter((one) => one.holds === false)
      .map((one) => `${one.name}: wanted ${JSON.stringify(one.wanted ?? null)}, found ${JSON.stringify(one.found ?? null)}`).join("; ") },
  ], "Every push to its app matched it.");
  misses.set(newest.slice(-shownMax).reverse());
  const rest = data.summary.length - summaryMax;
  story.replaceChildren(
    h("ul", { class: "will" }, data.summary.slice(0, summaryMax).map((line) => h("li", {}, line)), rest > 0 && h("li", { class: "soft" }, `and ${count(rest)} more that wait`)),
    h("h3", {}, `History${data.steps.length > shownMax ? `, the last ${shownMax} of ${count(data.steps.length)}` : ""}`), steps.element,
    h("h3", {}, `Pushes to its app that did not match it: ${count(missed)}${missed ? ` (${Object.entries(by).map(([name, number]) => `${name} ${count(number)}`).join(", ")})` : ""}`), misses.element);
}

/// - `isLimited`: whether there is a budget whose rest the chart shows.
function dayChart(isLimited) {
  return chart("The last 24 hours", {
    height: 230, xTitle: "",
    scales: ({ grid, ticks }) => ({
      tracks: {
        type: "linear", position: "left", stack: "day", stackWeight: 2, min: -1, max: 1, offset: true, grid: { ...grid, drawTicks: false },
        ticks: { ...ticks, stepSize: 1, autoSkip: false, callback: (value) => tracks[value] ?? "" },
      },
      ...(isLimited() && { y: { type: "linear", position: "left", stack: "day", stackWeight: 3, beginAtZero: true, grid, ticks: { ...ticks, maxTicksLimit: 4, precision: 0 }, title: { display: true, text: "left", color: ticks.color, font: { size: 11 } } } }),
    }),
  });
}

/// The day as a strip: reloads by their causes, over the rest of the budget.
function showDay(strip, note, data) {
  const ledger = data.ledger.entries;
  const until = ms(data.ledger.until);
  const from = ms(data.ledger.from);
  note.textContent = `24 hours until ${moment(until)}${data.ledger.isWhole === false ? "; older decisions are no longer kept" : ""}`;
  const day = ledger.filter((entry) => ms(entry.at) >= from);
  const x = [from, ...day.map((entry) => ms(entry.at)), until];
  const of = (test) => [null, ...day.map((entry) => (test(entry) ? track(entry.cause) : null)), null];
  const allowance = data.budget.allowance;
  // The rest is known for the present window only.
  const level = day.map((entry) => entry.left ?? null);
  const start = ms(data.budget.windowStart);
  const first = level.find((value) => value !== null);
  const values = [day.length === 0 ? allowance - data.budget.charged : first === undefined ? null : Math.min(allowance, first + 1), ...level, Math.max(0, allowance - data.budget.charged)];
  const dots = { axis: "tracks", points: 4, line: false, format: (value) => tracks[value].toLowerCase() };
  const charged = day.filter((entry) => entry.charged).length;
  const pushes = day.filter((entry) => isPush(entry.cause)).length;
  strip.set({
    x, min: from, max: until,
    summary: `${count(day.length)} reloads, ${count(pushes)} of them by pushes and the app; ${count(charged)} charged.${start > from ? ` The present window opened at ${moment(start)}.` : ""}`,
    series: [
      { name: "Charged", values: of((entry) => entry.charged && !entry.collateral), colour: "--reloaded", ...dots },
      { name: "Exempt", values: of((entry) => entry.exemption && !entry.collateral), colour: "--exempt", ...dots },
      { name: "Along with another widget", values: of((entry) => entry.collateral), colour: "--coalesced", ...dots },
      ...(allowance === undefined ? [] : [{ name: "Left of the budget", values, colour: "--accent", fill: true, stepped: true }]),
    ],
  });
}
