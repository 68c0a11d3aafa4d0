// Where widgets live: the hosts that are connected, do not acknowledge, or were cut off.

import { badge, card, h, hostLink, tile, tiles, to, when } from "./elements.js";
import { path } from "./gateway.js";
import { one } from "./host.js";
import { byApp, filters, searched } from "./lists.js";
import { count, source } from "./numbers.js";

export const title = "Hosts";

export function open(context) {
  const [app, host] = context.place;
  return host ? one(context, app, host) : list(context);
}

const streams = [["", "Any"], ["true", "Has its own open"], ["false", "Has none open"]];

/// Whether it hears of reloads at once.
export const connection = (row) => {
  if (row.delivery !== "stream") return badge(`by ${row.delivery}`);
  if (row.connected) return badge(row.streams > 1 ? `${count(row.streams)} streams` : "own stream", "good");
  return row.reached ? badge("its app's stream", "good") : badge("no open stream");
};

/// The exemptions of a host, and the modes that slow it down.
export const condition = (row) => {
  const all = [row.isInLowPower && badge("low power", "warn"), row.isInStandBy && badge("StandBy"), ...(row.exemptions ?? []).map((name) => badge(source(name), "good"))].filter(Boolean);
  return all.length ? h("span", { class: "badges" }, all) : "";
};

function list(context) {
  const { app, connected } = context.query;
  const all = tile("Hosts", "registered");
  const open = tile("Event streams", "open, of hosts and apps");
  const outstanding = tile("On their way", "reloads, not acknowledged yet");
  const unconfirmed = tile("Not acknowledged", "reloads that had no answer in time, since the start");
  const cut = tile("Cut off", "streams read too slowly");
  const gaps = tile("Too late", "returned after missing reloads");
  const found = searched(context, {
    caption: "Hosts", member: "hosts", nothing: app || connected ? "No host matches." : "No host has registered yet.",
    columns: [
      { title: "Host", wide: true, cell: (row) => h("span", {}, hostLink(row.app, row.host), h("span", { class: "soft aside" }, row.app)) },
      { title: "Reached", cell: connection },
      { title: "Widgets", number: true, cell: (row) => h("a", { href: to("instances", [], { app: row.app, host: row.host }), "data-key": `widgets-${row.app}/${row.host}`, "aria-label": `${count(row.instances)} widgets of ${row.host}` }, count(row.instances)) },
      { title: "On their way", number: true, cell: (row) => count(row.outstanding) },
      { title: "Registered", cell: (row) => when(row.registeredAt) },
      { title: "Lease ends", cell: (row) => when(row.leaseEnds) },
      { title: "Now", cell: condition },
    ],
    where: (cursor, limit) => path("/v1/hosts", { app, connected, cursor, limit }),
  });
  const bar = filters(context, "hosts", [byApp, { name: "connected", label: "Stream", options: streams }]);
  return {
    element: h("div", { class: "view" }, context.who()?.team ? null : tiles(all, open, outstanding, unconfirmed, cut, gaps),
      card("Hosts", bar, found.element)),
    subtitle: "Where widgets live",
    get interval() { return found.interval; },
    async ask(signal) {
      const [stats, page] = await Promise.all([context.whole("/v1/stats", signal), found.ask(signal)]);
      return { stats, page, asOf: page.asOf };
    },
    show({ stats, page }) {
      found.show(page);
      if (!stats) return;
      all.set(count(stats.registry.hosts));
      open.set(count(stats.http.eventStreams));
      cut.set(count(stats.http.eventStreamsCutOff), stats.http.eventStreamsCutOff > 0 ? "warn" : "");
      gaps.set(count(stats.http.eventStreamGaps));
      unconfirmed.set(count(stats.reloads.unacknowledged));
      outstanding.set(count(stats.reloads.outstanding));
    },
  };
}
