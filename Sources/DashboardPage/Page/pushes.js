// Pushes: the newest, those that are like this, and trying one out.

import { badge, card, choice, field, fill, h, instanceLink, meter, outcomeBadge, outcomeTitle, pushLink, when } from "./elements.js";
import { gateway, path, Refused } from "./gateway.js";
import { byApp, byKind, bySender, filters, searched } from "./lists.js";
import { count, counted, now, outcomes, percent } from "./numbers.js";
import { one } from "./push.js";

export const title = "Pushes";

export function open(context) {
  const [id] = context.place;
  return id ? one(context, id) : list(context);
}

const states = [["", "Any"], ["waiting", "In work"], ["complete", "Complete"]];
const lengths = [["", "Any time"], ["600", "10 minutes"], ["3600", "1 hour"], ["86400", "24 hours"], ["604800", "7 days"]];

/// A push's kind and target, in words, as far as the log still has them.
function about(row) {
  const kind = row.kind ?? (row.target ? "every kind" : "");
  const whom = row.target?.host ? `${row.target.host}${row.target.instance ? `:${row.target.instance}` : ""}` : row.match ? JSON.stringify(row.match) : "";
  return h("span", { class: "cut", title: whom || null }, kind, h("span", { class: "soft aside" }, whom));
}

function list(context) {
  const { app, kind, sender, state, outcome, within } = context.query;
  const recent = searched(context, {
    caption: "The newest pushes", member: "pushes", isNewestFirst: true,
    columns: [
      { title: "Push", cell: (row) => pushLink(row.id) },
      { title: "Accepted", cell: (row) => when(row.acceptedAt) },
      { title: "App", cell: (row) => h("span", {}, row.app ?? "–", h("span", { class: "soft aside" }, row.team)) },
      { title: "About", wide: true, long: true, cell: (row) => about(row) },
      { title: "Priority", number: true, cell: (row) => count(row.priority) },
      { title: "Matched", number: true, cell: (row) => count(row.matched) },
      { title: "Became", wide: true, cell: (row) => became(row) },
      { title: "State", cell: (row) => (row.isComplete ? badge("complete", "good") : badge("in work")) },
    ],
    nothing: [app, kind, sender, state, outcome, within].some(Boolean) ? "No listed push matches." : "No push has come yet.",
    where: (cursor, limit) => path("/v1/pushes", { app, kind, sender, state, outcome, after: within && new Date(now() - Number(within) * 1000).toISOString(), cursor, limit }),
  });
  const bar = filters(context, "pushes", [byApp, byKind(context), bySender, { name: "state", label: "State", options: states },
    { name: "outcome", label: "Outcome", options: [["", "Any"], ...outcomes.map(([name, label]) => [name, label])] }, { name: "within", label: "Accepted within", options: lengths }]);
  const form = dryRun(context);
  form.hidden = true;
  const trying = h("details", { class: "card try", on: { toggle: () => { form.hidden = !trying.open; } } },
    h("summary", { "data-key": "try" }, h("b", {}, "Try one out"), h("span", { class: "soft" }, " the widgets that a push would match; nothing is sent")), form);
  return {
    ...recent,
    get interval() { return recent.interval; },
    // Senders try pushes out with their own clients.
    element: h("div", { class: "view" }, card("Newest first", { note: recent.held }, bar, recent.element), context.who()?.team ? null : trying),
    subtitle: "Senders' pushes and their outcomes",
  };
}

function became(row) {
  const parts = outcomes.filter(([name]) => row.outcomes[name] > 0);
  return parts.length === 0 ? "matched none" : h("span", { class: "became" }, parts.map(([name]) => h("span", {}, outcomeBadge(name), ` ${count(row.outcomes[name])}`)));
}

/// Asks whom a push would reach.
function dryRun(context) {
  const app = h("select", { required: true });
  const kind = choice([["", "Every kind"]]);
  const match = h("textarea", { rows: "3", spellcheck: "false", placeholder: '{"team": ["seahawks"]}' });
  const priority = choice([["", "The app's"], ["10", "10, at once"], ["5", "5, as the budget's pace allows"], ["1", "1, with another reload"]]);
  const fault = h("p", { class: "fault", role: "alert" });
  const result = h("div", { class: "result", "aria-live": "polite" });
  const button = h("button", { type: "submit", class: "primary" }, "Try");
  context.known().then(({ apps }) => {
    app.append(...apps.map((one) => h("option", { value: one.app }, one.app)));
    app.addEventListener("change", offer);
    offer();
    function offer() {
      const kinds = apps.find((one) => one.app === app.value)?.kinds ?? [];
      kind.replaceChildren(h("option", { value: "" }, "Every kind"), ...kinds.map((name) => h("option", { value: name }, name)));
    }
  }, () => { /* The view says that the gateway is away. */ });
  async function submit(event) {
    event.preventDefault();
    fault.textContent = "";
    const own = {};
    if (kind.value) own.kind = kind.value;
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
      const bundle = app.value;
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

/// What a push would do to a widget, where no outcome has that word.
const decisions = { reload: "Reloads at once", exempt: "Reloads at once, not charged" };

function showDryRun(result, app, data) {
  fill(result,
    h("p", { class: "big" }, h("b", { id: "dry-matched" }, count(data.matched)), data.matched === 1 ? " widget would match." : " widgets would match."),
    h("ul", { class: "plain" }, data.decisions.map((row) => h("li", { class: "row" },
      h("span", {}, badge(decisions[row.decision] ?? outcomeTitle(row.decision), row.decision === "reload" ? "good" : row.decision === "deferred" ? "warn" : ""), ` ${row.kind}`),
      h("span", {}, `${count(row.count)}, ${percent(row.count, data.decided)}`), meter(row.count, data.decided)))),
    data.sampled && h("p", { class: "soft" }, `Decided for a sample of ${count(data.decided)} of them.`),
    data.sample.length > 0 && h("p", {}, h("span", { class: "soft" }, "Among them "), data.sample.slice(0, 5).flatMap((one, index) => [index ? ", " : "", instanceLink(`${app}/${one.host}:${one.instance}`)])),
    data.explain.map((plan) => h("p", { class: "soft" }, `To find those of ${plan.kind}, the gateway looked at ${count(plan.touched.listed + plan.touched.filtered + plan.touched.scanned)} of ${counted(plan.rows, "widget")}.`)));
}
