// One push: its content, the widgets that it matched, and the outcome for each.

import { actions, cancel } from "./actions.js";
import { badge, card, choice, facts, field, gone as absent, h, hostLink, instanceLink, link, outcomeBadge, reason, split, to, when } from "./elements.js";
import { gateway, path, Refused } from "./gateway.js";
import { searched } from "./lists.js";
import { because, count, counted, moment, outcomes } from "./numbers.js";

/// Why a push waits.
function waits({ reasons, expiring, sampled }) {
  const parts = Object.entries(reasons).map(([name, number]) => `${because[name] ?? name}: ${count(number)}`);
  if (expiring > 0) parts.push(`${count(expiring)} of them expire before`);
  if (sampled) parts.push("of a sample");
  return parts.join("; ");
}

export function one(context, id) {
  const outcome = split("Outcomes");
  const what = h("div");
  const sum = h("p", { class: "soft" });
  const only = choice([["", "Any"], ...outcomes.map(([name, label]) => [name, label])], context.query.outcome ?? "");
  only.dataset.key = "outcome";
  only.addEventListener("change", () => { location.hash = to("pushes", [id], { outcome: only.value }); });
  const decisions = searched(context, {
    caption: "Decisions", member: "decisions", nothing: only.value ? "No decision matches." : "The gateway no longer keeps its decisions.",
    columns: [
      { title: "Widget", wide: true, cell: (row) => (row.instance ? instanceLink(row.instance, row.instance.slice(row.instance.indexOf("/") + 1)) : "") },
      { title: "At", cell: (row) => when(row.at) },
      { title: "Outcome", cell: (row) => outcomeBadge(row.outcome) },
      { title: "Why", wide: true, cell: (row) => reason(row, moment) },
    ],
    where: (cursor, limit) => path(`/v1/pushes/${encodeURIComponent(id)}/decisions`, { outcome: only.value, cursor, limit }),
  });
  const takenBack = h("div");
  const element = h("div", { class: "view" }, card("Outcomes", { note: sum }, outcome.element), card("The push", what, takenBack),
    card("Widgets and reasons", h("div", { class: "filters" }, field("Outcome", only)), decisions.element));
  let offered = false;
  return {
    element,
    title: `Push ${id.slice(0, 8)}…`,
    subtitle: link("#/pushes", "All pushes"),
    get interval() { return decisions.interval; },
    async ask(signal) {
      try {
        const push = await gateway.get(`/v1/pushes/${encodeURIComponent(id)}`, signal);
        const page = await decisions.ask(signal);
        return { push, asOf: push.asOf ?? page.asOf, page };
      } catch (error) {
        if (error instanceof Refused && (error.status === 404 || error.status === 400)) return { gone: error.message };
        throw error;
      }
    },
    show({ push, page, gone }) {
      if (gone) return element.replaceChildren(absent(`${gone}.`, link("#/pushes", "All pushes")));
      outcome.set(push.outcomes);
      sum.replaceChildren(h("b", { id: "matched", "data-count": String(push.matched) }, count(push.matched)), " matched ", push.isComplete ? badge("complete", "good") : badge("in work"));
      what.replaceChildren(facts([
        ["apns-id", h("code", {}, push.id), "wide"], ["Sender", push.team], ["Key", push.key], ["App", push.app ?? ""], ["Kind", push.kind ?? ""],
        ["For", whom(push)],
        ["Match", push.match ? h("code", {}, JSON.stringify(push.match)) : ""], ["Digest", push.digest ?? ""], ["Collapse id", push.collapseID ?? ""], ["Priority", count(push.priority)], ["Accepted", when(push.acceptedAt)],
        ["Not before", when(push.notBefore)], ["Expires", when(push.expiresAt)], ["Sent again", `${count(push.repeats)} times`],
        ["Applied by", `${count(push.appliedBy)} of ${counted(push.partitions, "partition")}`],
        ["No decisions", push.failure === "tooMany" ? "it matched too many instances when it was applied" : ""],
        ["Waits until", when(push.waiting?.earliest)], ["The last waits until", when(push.waiting?.latest)],
        ["Failures", push.failures ? Object.entries(push.failures).map(([name, number]) => `${because[name] ?? name}: ${count(number)}`).join("; ") : "", "wide"],
        ["Why it waits", push.waiting ? waits(push.waiting) : "", "wide"],
      ]));
      decisions.show(page);
      const waiting = push.outcomes.deferred ?? 0;
      if (waiting > 0 && !offered) takenBack.replaceChildren(actions(context, "write", [cancel({ push: push.id }, waiting)]));
      offered = waiting > 0;
      if (!offered) takenBack.replaceChildren();
    },
  };
}

/// The push's target, as far as the log still has it.
function whom({ app, target }) {
  if (!target) return "no longer in the log";
  if (!target.host) return "the app";
  return target.instance ? instanceLink(`${app}/${target.host}:${target.instance}`) : hostLink(app, target.host);
}
