// One widget: its day, its budget, every decision and why. Without one: finding it.

import { chart } from "./charts.js";
import { behindReasons } from "./advice.js";
import { badge, card, choice, facts, field, h, instanceLink, instancePath, outcomeBadge, pushLink, reason, spent, table, tile, tiles } from "./elements.js";
import { gateway, path, Refused } from "./gateway.js";
import { count, duration, minute, moment, ms } from "./numbers.js";

export const title = "Instances";
export const interval = 5000;

export function open(context) {
  const [id] = context.place;
  return id && id !== "-" ? one(context, id) : list(context);
}

const states = [["", "Any"], ["waiting", "Waiting"], ["behind", "Behind"], ["outstanding", "Reload on its way"], ["exhausted", "Nothing left"], ["visible", "Visible"], ["orphaned", "Orphaned"]];

function list(context) {
  const [, app = "", kind = "", wanted = "", olderThan = ""] = context.place;
  // An age is that of what is behind.
  const state = olderThan ? "behind" : wanted;
  let rows = [];
  let next = null;
  const appField = h("input", { value: app, spellcheck: "false", autocomplete: "off" });
  const kindField = h("input", { value: kind, spellcheck: "false", autocomplete: "off" });
  const stateField = choice(states, state);
  const ageField = h("input", { value: olderThan, placeholder: "15m", pattern: "[0-9]+[smhd]", title: "A length of time, as 15m or 24h", spellcheck: "false", autocomplete: "off" });
  const idField = h("input", { placeholder: "app/host:instance", spellcheck: "false", autocomplete: "off", required: true });
  const find = h("form", { class: "inline", on: { submit: (event) => { event.preventDefault(); location.hash = `#/instances/${encodeURIComponent(idField.value.trim())}`; } } },
    field("Instance", idField), h("button", { type: "submit", class: "primary" }, "Show"));
  const filter = h("form", { class: "inline", on: { submit: (event) => {
    event.preventDefault();
    location.hash = `#/instances/-/${[appField, kindField, stateField, ageField].map((input) => encodeURIComponent(input.value.trim())).join("/")}`;
  } } }, field("App", appField), field("Kind", kindField), field("State", stateField), field("Behind for", ageField), h("button", { type: "submit" }, "Filter"));
  const found = table("Widgets", [
    { title: "Instance", wide: true, cell: (row) => instanceLink(row.id) },
    { title: "Kind", cell: (row) => h("span", {}, row.kind, h("span", { class: "soft block" }, row.family)) },
    { title: "Spent", cell: (row) => (row.allowance ? spent(row.charged, row.allowance, `${count(row.charged)} of ${count(row.allowance)}`, row.charged >= row.allowance ? "warn" : "") : "no limit") },
    { title: "Waiting", number: true, cell: (row) => count(row.waiting) },
    { title: "On its way", number: true, cell: (row) => count(row.outstanding) },
    { title: "Last reload", cell: (row) => moment(row.lastReload) },
    { title: "Behind", wide: true, cell: (row) => (row.behind ? h("span", {}, behindReasons[row.behind]?.[0] ?? row.behind,
      h("span", { class: "soft block" }, `for ${duration(Math.max(0, Date.now() - ms(row.behindSince)))}`)) : "no") },
    { title: "", cell: (row) => h("span", {}, row.isVisible ? badge("visible", "good") : "", row.pushEnabled === false ? badge("no pushes") : "", row.isOrphaned ? badge("orphaned", "warn") : "") || " " },
  ], "No widget is like that.");
  const more = h("button", { type: "button", hidden: true, on: { click: () => load(next) } }, "More");
  const element = h("div", { class: "view" }, card("Find", find, filter), card("Widgets", found.element, more));
  const query = (cursor) => path("/v1/instances", { app, kind, state, olderThan, cursor, limit: 50 });
  async function load(cursor) {
    const page = await gateway.get(query(cursor));
    rows = [...rows, ...page.instances];
    next = page.next;
    found.set(rows);
    more.hidden = !next;
  }
  return {
    element,
    subtitle: "Widgets on hosts, and what their budgets allow",
    ask: (signal) => context.optional(query(), signal),
    show(data) {
      if (!data) return found.set([]);
      if (rows.length > data.instances.length) return;
      rows = data.instances;
      next = data.next;
      found.set(rows);
      more.hidden = !next;
    },
  };
}

const isPush = (cause) => cause === "push" || cause === "appRequest" || cause === "appIntent";

/// Of what waits for one widget, which may be thousands of pushes.
const shownMax = 50;

function one(context, id) {
  const shown = tile("Left now");
  const charged = tile("Charged", "in this window");
  const waiting = tile("Waiting", "causes that wait for a reload");
  const next = tile("Next reload", "when something waits");
  const what = h("div");
  const budget = h("div");
  const timeline = h("div");
  const note = h("p", { class: "soft" });
  const rest = h("span");
  const strip = chart("The last 24 hours", {
    height: 300, format: { x: minute }, xTitle: "",
    scales: ({ grid, ticks }) => ({
      tracks: {
        type: "linear", position: "left", stack: "day", stackWeight: 2, min: -1, max: 1, offset: true, grid: { ...grid, drawTicks: false },
        ticks: { ...ticks, stepSize: 1, callback: (value) => ({ 1: "Timeline", "-1": "Pushes" })[value] ?? "" },
      },
      y: { type: "linear", position: "left", stack: "day", stackWeight: 3, beginAtZero: true, grid, ticks: { ...ticks, maxTicksLimit: 5, precision: 0 }, title: { display: true, text: "left", color: ticks.color, font: { size: 11 } } },
    }),
  });
  const pending = table("What waits", [
    { title: "Cause", cell: (row) => row.cause },
    { title: "Push", cell: (row) => (row.push ? pushLink(row.push) : "") },
    { title: "Priority", number: true, cell: (row) => count(row.priority) },
    { title: "Not before", cell: (row) => moment(row.notBefore) },
    { title: "Expires", cell: (row) => moment(row.expiresAt) },
  ], "Nothing waits.");
  const decisions = table("Decisions, newest first", [
    { title: "At", cell: (row) => h("time", { datetime: row.at }, moment(row.at)) },
    { title: "Cause", cell: (row) => row.cause },
    { title: "Outcome", cell: (row) => outcomeBadge(row.outcome) },
    { title: "Why", wide: true, cell: (row) => reason(row, moment) },
    { title: "Push", cell: (row) => (row.push ? pushLink(row.push) : "") },
    { title: "Position", number: true, cell: (row) => count(row.position) },
  ], "Nothing was decided yet.");
  const element = h("div", { class: "view" },
    tiles(shown, charged, waiting, next),
    card("Its day", { note }, strip.element),
    h("div", { class: "columns" }, card("Budget", budget), card("Timeline", timeline)),
    card("What waits", { note: rest }, pending.element), card("Decisions", { note: "newest first" }, decisions.element),
    card("The widget", what));
  return {
    element,
    title: id,
    subtitle: h("a", { href: "#/instances" }, "All instances"),
    charts: [strip],
    async ask(signal) {
      try {
        return await gateway.get(`/v1/instances/${instancePath(id)}`, signal);
      } catch (error) {
        if (error instanceof Refused && (error.status === 404 || error.status === 400)) return { gone: error.message };
        throw error;
      }
    },
    show(data) {
      if (data.gone) return element.replaceChildren(h("p", { class: "card empty" }, data.gone));
      const window = data.budget;
      const left = Math.max(0, window.allowance - window.charged);
      shown.set(count(left), left === 0 ? "warn" : "");
      charged.set(`${count(window.charged)} of ${count(window.allowance)}`);
      waiting.set(count(data.pendingCount));
      next.set(data.decidesAt ? moment(data.decidesAt) : "–");
      what.replaceChildren(facts([
        ["App", data.app], ["Kind", data.kind], ["Family", data.family],
        ["Configuration", h("code", {}, JSON.stringify(data.configuration))], ["Tags", (data.tags ?? []).join(", ")],
        ["Takes pushes", data.pushEnabled ? "yes" : "no"], ["Visible", data.isVisible === undefined ? "" : data.isVisible ? "yes" : "no"],
        ["Waits for", data.waitsFor ?? ""], ["Behind since", data.behindSince ? moment(data.behindSince) : ""],
        ["Shows the entry of", data.shownEntry ? moment(data.shownEntry) : ""], ["Configured", `${count(data.generation)} times`],
        ["Orphaned", data.isOrphaned ? "yes: it does not fit its kind's schema" : ""],
      ]));
      budget.replaceChildren(facts([
        ["Policy", window.policy], ["Window", `${moment(window.windowStart)} to ${moment(window.windowEnd)}`],
        ["Of it pushes may use", count(window.pushAllowance)], ["Pushes used", count(window.pushesCharged)],
        ["At once at most", count(window.burst)], ["Then one in", duration(window.intervalSeconds * 1000)],
        ["Views a day", String(Math.round(window.viewsPerDay * 10) / 10)], ["Exempt reloads", count(window.exemptReloads)],
        ["Reloads the host made", count(window.observedReloads)], ["Brought along by pushes for siblings", count((window.collateralReloads ?? 0) + (window.collateralOverReloads ?? 0))],
        ["Exempt now", window.exemption ?? ""], ["A push of priority 10 may", atOrNow(window.nextConforming.priority10)],
        ["A push of priority 5 may", atOrNow(window.nextConforming.priority5)], ["The timeline may", atOrNow(window.nextConforming.policy)],
      ]));
      timeline.replaceChildren(data.timeline ? facts([
        ["Entries", count(data.timeline.entries)], ["From", moment(data.timeline.firstDate)], ["To", moment(data.timeline.lastDate)],
        ["Then", typeof data.timeline.policy === "string" ? data.timeline.policy : `after ${moment(data.timeline.policy.after)}`],
        ["Asked again", data.timeline.nextRequest ? moment(data.timeline.nextRequest) : "not by itself"],
        ["Came", moment(data.timeline.receivedAt)],
        ["Peculiar", data.timeline.findings.length ? data.timeline.findings.map((finding) => finding.message).join("; ") : "nothing"],
      ]) : h("p", { class: "empty" }, "No timeline has come yet."));
      pending.set(data.pending.slice(0, shownMax));
      rest.textContent = data.pendingCount > shownMax ? `and ${count(data.pendingCount - shownMax)} more` : "";
      decisions.set(data.decisions);
      showDay(strip, note, data);
    },
  };
}

const atOrNow = (instant) => (ms(instant) <= Date.now() ? "reload now" : `reload at ${moment(instant)}`);

/// The day as a strip: reloads by the timeline above, by pushes below, and what was left of the budget under them.
function showDay(strip, note, data) {
  const ledger = data.ledger.entries;
  const until = ms(data.ledger.until);
  const from = ms(data.ledger.from);
  note.textContent = `24 hours until ${minute(until)}${data.ledger.isWhole === false ? "; older decisions are no longer kept" : ""}`;
  const day = ledger.filter((entry) => ms(entry.at) >= from);
  const x = [from, ...day.map((entry) => ms(entry.at)), until];
  const pad = (values) => [null, ...values, null];
  const of = (test) => pad(day.map((entry) => {
    if (!test(entry)) return null;
    return isPush(entry.cause) ? -1 : 1;
  }));
  const allowance = data.budget.allowance;
  // What was left is known for the present window only.
  const level = day.map((entry) => entry.left ?? null);
  const start = ms(data.budget.windowStart);
  const first = level.find((value) => value !== null);
  const values = [day.length === 0 ? allowance - data.budget.charged : first === undefined ? null : Math.min(allowance, first + 1), ...level, Math.max(0, allowance - data.budget.charged)];
  const name = (value) => (value === 1 ? "by the timeline" : "by a push");
  const charged = day.filter((entry) => entry.charged).length;
  const pushes = day.filter((entry) => isPush(entry.cause)).length;
  strip.set({
    x, min: from, max: until,
    summary: `${count(day.length)} reloads: ${count(day.length - pushes)} by the timeline, ${count(pushes)} by pushes; ${count(charged)} charged.${start > from ? ` The present window opened at ${minute(start)}.` : ""}`,
    series: [
      { name: "Charged", values: of((entry) => entry.charged && !entry.collateral), colour: "--reloaded", axis: "tracks", points: 4, format: name, line: false },
      { name: "Exempt", values: of((entry) => entry.exemption && !entry.collateral), colour: "--exempt", axis: "tracks", points: 4, format: name, line: false },
      { name: "Along with a sibling", values: of((entry) => entry.collateral), colour: "--coalesced", axis: "tracks", points: 4, format: name, line: false },
      { name: "Observed", values: of((entry) => !entry.charged && !entry.exemption && !entry.collateral), colour: "--unchanged", axis: "tracks", points: 4, format: name, line: false },
      { name: "Left of the budget", values, colour: "--accent", fill: true, stepped: true },
    ],
  });
}
