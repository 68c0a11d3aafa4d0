// One host: how it is reached, its widgets, and the reloads on their way to it.

import { actions, actionsCard, cancel, grant, reloadNow, removeHost } from "./actions.js";
import { card, facts, gone, h, link, table, tile, tiles, to, when } from "./elements.js";
import { gateway, path, Refused } from "./gateway.js";
import { condition, connection } from "./hosts.js";
import { columns } from "./instances.js";
import { count } from "./numbers.js";

export function one(context, app, host) {
  const widgets = tile("Widgets", "it shows");
  const behind = tile("Behind", "of them");
  const waiting = tile("Waiting", "pushes and other causes");
  const out = tile("On their way", "reloads, not acknowledged yet");
  const what = h("div");
  const list = table("Widgets of the host", columns, "It shows no widget.");
  const change = h("div");
  const element = h("div", { class: "view" }, tiles(widgets, behind, waiting, out), card("Its widgets", list.element),
    h("div", { class: "columns" }, card("The host", what), actionsCard(context, change)));
  let offered = false;
  return {
    element,
    title: host,
    subtitle: h("span", {}, app, " · ", link(to("hosts", [], { app }), "All hosts of the app")),
    async ask(signal) {
      try {
        const [data, rows, summary] = await Promise.all([gateway.get(`/v1/hosts/${encodeURIComponent(app)}/${encodeURIComponent(host)}`, signal),
          gateway.get(path("/v1/instances", { app, host }), signal), gateway.get(path("/v1/hosts", { app, host }), signal)]);
        return { data, asOf: data.asOf, rows: rows.instances, summary: summary.hosts[0] };
      } catch (error) {
        if (error instanceof Refused && (error.status === 404 || error.status === 400)) return { missing: error.message };
        throw error;
      }
    },
    show({ data, rows, summary, missing }) {
      if (missing) return element.replaceChildren(gone(`${missing}.`, link("#/hosts", "All hosts")));
      const late = rows.filter((row) => row.behind).length;
      widgets.set(count(rows.length));
      behind.set(count(late), late > 0 ? "warn" : "");
      waiting.set(count(rows.reduce((sum, row) => sum + row.waiting, 0)));
      out.set(count(data.outstandingReloads));
      list.set(rows);
      const row = { ...summary, ...data };
      what.replaceChildren(facts([
        ["Reached", connection(row)], ["Now", condition(row)], ["Tokens", data.tokens.join(", ")], ["Revision", count(data.revision)],
        ["First registered", when(data.firstRegisteredAt)], ["Registered", when(data.registeredAt)], ["Lease ends", when(data.leaseEnds)],
        ["Context", data.context ? h("code", {}, JSON.stringify(data.context)) : ""],
      ]));
      if (offered) return;
      offered = true;
      change.replaceChildren(actions(context, "write", [reloadNow({ app, host }, rows.length), grant({ app, host }, rows.length), cancel({ app, host })]), actions(context, "admin", [removeHost(app, host, rows.length)]));
    },
  };
}
