// One push: whom it was about and what became of each. Without one: the newest, and trying one out.

import { badge, card, choice, facts, field, fill, h, instanceLink, meter, outcomeBadge, pushLink, reason, split, table } from "./elements.js";
import { gateway, path, Refused } from "./gateway.js";
import { count, moment, outcomes, percent } from "./numbers.js";

export const title = "Pushes";
export const interval = 5000;

export function open(context) {
  const [id] = context.place;
  return id && id !== "-" ? one(context, id) : list(context);
}

const states = [["", "Any"], ["waiting", "In work"], ["complete", "Complete"]];

/// Whom a push was for, in words; what the log does not have any more is not known.
function about(row) {
  const kind = row.kind ?? (row.target ? "every kind" : "");
  const whom = row.target?.host ? `${row.target.host}${row.target.instance ? `:${row.target.instance}` : ""}` : row.match ? JSON.stringify(row.match) : "";
  return h("span", {}, kind, h("span", { class: "soft block" }, whom));
}

function list(context) {
  const [, app = "", kind = "", sender = "", state = "", outcome = ""] = context.place;
  const fields = [
    ["App", h("input", { value: app, spellcheck: "false", autocomplete: "off" })], ["Kind", h("input", { value: kind, spellcheck: "false", autocomplete: "off" })],
    ["Sender", h("input", { value: sender, spellcheck: "false", autocomplete: "off" })], ["State", choice(states, state)],
    ["Outcome", choice([["", "Any"], ...outcomes.map(([name, label]) => [name, label])], outcome)],
  ];
  const filter = h("form", { class: "inline", on: { submit: (event) => {
    event.preventDefault();
    location.hash = `#/pushes/-/${fields.map(([, input]) => encodeURIComponent(input.value.trim())).join("/")}`;
  } } }, fields.map(([name, input]) => field(name, input)), h("button", { type: "submit" }, "Filter"));
  const idField = h("input", { placeholder: "apns-id", spellcheck: "false", autocomplete: "off", required: true });
  const find = h("form", { class: "inline", on: { submit: (event) => { event.preventDefault(); location.hash = `#/pushes/${encodeURIComponent(idField.value.trim())}`; } } },
    field("Push", idField, "The apns-id that the answer to the push carried."), h("button", { type: "submit", class: "primary" }, "Show"));
  const recent = table("The newest pushes", [
    { title: "Push", cell: (row) => pushLink(row.id) },
    { title: "At", cell: (row) => moment(row.acceptedAt) },
    { title: "App", cell: (row) => h("span", {}, row.app ?? "–", h("span", { class: "soft block" }, row.team)) },
    { title: "About", wide: true, cell: (row) => about(row) },
    { title: "Matched", number: true, cell: (row) => count(row.matched) },
    { title: "Became", wide: true, cell: (row) => became(row) },
    { title: "", cell: (row) => (row.isComplete ? badge("complete", "good") : badge("in work")) },
  ], [app, kind, sender, state, outcome].some(Boolean) ? "No push of those that are listed is like that." : "No push has come yet.");
  const element = h("div", { class: "view" }, h("div", { class: "columns" }, card("Find", find), card("Try one out", { note: "nothing is sent" }, dryRun(context))),
    card("Newest", filter, recent.element));
  return {
    element,
    subtitle: "What senders asked for, and what became of it",
    ask: (signal) => context.optional(path("/v1/pushes", { app, kind, sender, state, outcome, limit: 50 }), signal),
    show: (data) => recent.set(data?.pushes ?? []),
  };
}

function became(row) {
  const parts = outcomes.filter(([name]) => row.outcomes[name] > 0);
  return parts.length === 0 ? "matched nobody" : h("span", { class: "became" }, parts.map(([name]) => h("span", {}, outcomeBadge(name), ` ${count(row.outcomes[name])}`)));
}

/// Asks whom a push would reach.
function dryRun() {
  const app = h("input", { required: true, spellcheck: "false", autocomplete: "off", placeholder: "com.example.scores" });
  const kind = h("input", { spellcheck: "false", autocomplete: "off", placeholder: "every kind" });
  const match = h("textarea", { rows: "3", spellcheck: "false", placeholder: '{"team": ["seahawks"]}' });
  const priority = choice([["", "The app's"], ["10", "10, at once"], ["5", "5, as the budget's pace allows"], ["1", "1, along with others"]]);
  const fault = h("p", { class: "fault", role: "alert" });
  const result = h("div", { class: "result", "aria-live": "polite" });
  const button = h("button", { type: "submit", class: "primary" }, "Try");
  gateway.get("/v1/apps").then((answer) => {
    const known = h("datalist", { id: "apps" }, answer.apps.map((one) => h("option", { value: one.app })));
    app.setAttribute("list", "apps");
    app.after(known);
    if (answer.apps.length === 1 && !app.value) app.value = answer.apps[0].app;
  }, () => {});
  async function submit(event) {
    event.preventDefault();
    fault.textContent = "";
    const own = {};
    if (kind.value.trim()) own.kind = kind.value.trim();
    if (match.value.trim()) {
      try {
        own.match = JSON.parse(match.value);
      } catch (error) {
        fault.textContent = `The pattern is not JSON: ${error.message}`;
        match.focus();
        return;
      }
    }
    button.disabled = true;
    try {
      const body = { freshet: own };
      if (priority.value) body.priority = Number(priority.value);
      const bundle = app.value.trim();
      showDryRun(result, bundle, await gateway.post(`/v1/apps/${encodeURIComponent(bundle)}/dry-runs`, body));
    } catch (error) {
      result.replaceChildren();
      fault.textContent = error instanceof Refused && error.path ? `${error.path}: ${error.message}` : error.message;
    } finally {
      button.disabled = false;
    }
  }
  return h("form", { class: "stack", on: { submit } },
    h("div", { class: "inline" }, field("App", app), field("Kind", kind), field("Priority", priority)),
    field("Match", match, "A pattern over the configuration, as in a push; empty for every instance."), fault, button, result);
}

function showDryRun(result, app, data) {
  const path = { lists: "walked a list", scan: "scanned the columns" };
  fill(result,
    h("p", { class: "big" }, h("b", { id: "dry-matched" }, count(data.matched)), data.matched === 1 ? " widget would be matched." : " widgets would be matched."),
    h("ul", { class: "plain" }, data.decisions.map((row) => h("li", { class: "row" },
      h("span", {}, badge(row.decision, row.decision === "reload" ? "good" : row.decision === "deferred" ? "warn" : ""), ` ${row.kind}`),
      h("span", {}, `${count(row.count)}, ${percent(row.count, data.decided)}`), meter(row.count, data.decided)))),
    data.sampled && h("p", { class: "soft" }, `Decided for a sample of ${count(data.decided)} of them.`),
    data.sample.length > 0 && h("p", {}, h("span", { class: "soft" }, "Among them "), data.sample.slice(0, 5).flatMap((one, index) => [index ? ", " : "", instanceLink(`${app}/${one.host}:${one.instance}`)])),
    data.explain.map((plan) => h("p", { class: "soft" }, `${plan.kind}: ${path[plan.path] ?? plan.path}, ${count(plan.touched.listed + plan.touched.filtered + plan.touched.scanned)} of ${count(plan.rows)} rows looked at.`)));
}

/// Why a push waits, and until when.
function waits({ reasons, earliest, latest, expiring, sampled }) {
  const parts = Object.entries(reasons).map(([name, number]) => `${name} ${count(number)}`);
  if (expiring > 0) parts.push(`${count(expiring)} of them expire before`);
  if (sampled) parts.push("of a sample");
  return h("span", {}, parts.join(", "), latest ? h("span", { class: "soft block" }, `from ${moment(earliest)} to ${moment(latest)}`) : "");
}

function one(context, id) {
  const outcome = split("What became of it");
  const what = h("div");
  const sum = h("p", { class: "soft" });
  let rows = [];
  let next = null;
  const decisions = table("Decisions", [
    { title: "Instance", wide: true, cell: (row) => instanceLink(row.instance) },
    { title: "At", cell: (row) => moment(row.at) },
    { title: "Outcome", cell: (row) => outcomeBadge(row.outcome) },
    { title: "Why", wide: true, cell: (row) => reason(row, moment) },
  ], "No decision about it is kept.");
  const more = h("button", { type: "button", hidden: true, on: { click: () => load() } }, "More");
  const where = (cursor) => path(`/v1/pushes/${encodeURIComponent(id)}/decisions`, { cursor, limit: 100 });
  async function load() {
    const page = await gateway.get(where(next));
    rows = [...rows, ...page.decisions];
    next = page.next;
    decisions.set(rows);
    more.hidden = !next;
  }
  const element = h("div", { class: "view" }, card("What became of it", { note: sum }, outcome.element), card("The push", what),
    card("Who, and why", decisions.element, more));
  return {
    element,
    title: `Push ${id.slice(0, 8)}…`,
    subtitle: h("a", { href: "#/pushes" }, "All pushes"),
    async ask(signal) {
      try {
        const push = await gateway.get(`/v1/pushes/${encodeURIComponent(id)}`, signal);
        return { push, decisions: await context.optional(where(), signal) };
      } catch (error) {
        if (error instanceof Refused && (error.status === 404 || error.status === 400)) return { gone: error.message };
        throw error;
      }
    },
    show({ push, decisions: page, gone }) {
      if (gone) return element.replaceChildren(h("p", { class: "card empty" }, gone));
      outcome.set(push.outcomes);
      sum.replaceChildren(h("b", { id: "matched", "data-count": String(push.matched) }, count(push.matched)), " matched ", push.isComplete ? badge("complete", "good") : badge("in work"));
      what.replaceChildren(facts([
        ["apns-id", h("code", {}, push.id)], ["Sender", push.team], ["App", push.app ?? ""], ["Kind", push.kind ?? ""],
        ["For", push.target?.host ? `${push.target.host}${push.target.instance ? `:${push.target.instance}` : ""}` : push.target ? "the app" : "not in the log any more"],
        ["Match", push.match ? h("code", {}, JSON.stringify(push.match)) : ""], ["Digest", push.digest ?? ""], ["Collapse id", push.collapseID ?? ""], ["Priority", count(push.priority)], ["Accepted", moment(push.acceptedAt)],
        ["Not before", push.notBefore ? moment(push.notBefore) : ""], ["Expires", moment(push.expiresAt)], ["Sent again", `${count(push.repeats)} times`],
        ["Applied by", `${count(push.appliedBy)} of ${count(push.partitions)} partitions`],
        ["Decided for none", push.failure === "tooMany" ? "it matched too many when it was applied" : ""],
        ["Waits for", push.waiting ? waits(push.waiting) : ""],
        ["Failures", push.failures ? Object.entries(push.failures).map(([name, number]) => `${name} ${count(number)}`).join(", ") : ""],
      ]));
      if (!page || rows.length > page.decisions.length) return;
      rows = page.decisions;
      next = page.next;
      decisions.set(rows);
      more.hidden = !next;
    },
  };
}
