// Where widgets live: who is connected, who does not confirm, who was cut off.

import { badge, card, choice, field, h, table, tile, tiles } from "./elements.js";
import { gateway, path } from "./gateway.js";
import { count, moment } from "./numbers.js";

export const title = "Hosts";
export const interval = 5000;

export function open(context) {
  const [app = "", connected = ""] = context.place;
  const all = tile("Hosts", "registered");
  const streams = tile("Event streams", "open now");
  const cut = tile("Cut off", "read too slowly");
  const gaps = tile("Gaps", "came back too late to resume");
  const unconfirmed = tile("Not confirmed", "reloads no host acknowledged in time");
  const outstanding = tile("On their way", "reloads not confirmed yet");
  let rows = [];
  let next = null;
  const list = table("Hosts", [
    { title: "Host", wide: true, cell: (row) => h("span", {}, h("b", { class: "id" }, row.host), h("span", { class: "soft block" }, row.app)) },
    { title: "Delivery", cell: (row) => row.delivery },
    { title: "Connected", cell: (row) => (row.connected ? badge(row.connected === true || row.connected === 1 ? "connected" : `${count(row.connected)} streams`, "good") : row.delivery === "stream" ? badge("away") : "–") },
    { title: "Widgets", number: true, cell: (row) => count(row.instances) },
    { title: "On their way", number: true, cell: (row) => count(row.outstanding) },
    { title: "Registered", cell: (row) => moment(row.registeredAt) },
    { title: "Now", cell: (row) => [row.isInLowPower && badge("low power", "warn"), row.isInStandBy && badge("StandBy"), ...(row.exemptions ?? []).map((name) => badge(name, "good"))].filter(Boolean).reduce((span, one) => { span.append(one, " "); return span; }, h("span")) },
  ], "No host has registered yet.");
  const more = h("button", { type: "button", hidden: true, on: { click: () => load() } }, "More");
  const where = (cursor) => path("/v1/hosts", { app, connected, cursor, limit: 50 });
  async function load() {
    const page = await gateway.get(where(next));
    rows = [...rows, ...page.hosts];
    next = page.next;
    list.set(rows);
    more.hidden = !next;
  }
  const appField = h("input", { value: app, spellcheck: "false", autocomplete: "off" });
  const stateField = choice([["", "Any"], ["true", "Connected"], ["false", "Away"]], connected);
  const filter = h("form", { class: "inline", on: { submit: (event) => { event.preventDefault(); location.hash = `#/hosts/${encodeURIComponent(appField.value.trim())}/${stateField.value}`; } } },
    field("App", appField), field("Stream", stateField), h("button", { type: "submit" }, "Filter"));
  return {
    element: h("div", { class: "view" }, tiles(all, streams, outstanding, unconfirmed, cut, gaps), card("Hosts", filter, list.element, more)),
    subtitle: "Where widgets live",
    async ask(signal) {
      const [stats, page] = await Promise.all([gateway.get("/v1/stats", signal), context.optional(where(), signal)]);
      return { stats, page };
    },
    show({ stats, page }) {
      all.set(count(stats.registry.hosts));
      streams.set(count(stats.http.eventStreams));
      cut.set(count(stats.http.eventStreamsCutOff), stats.http.eventStreamsCutOff > 0 ? "warn" : "");
      gaps.set(count(stats.http.eventStreamGaps));
      unconfirmed.set(count(stats.reloads.unacknowledged));
      outstanding.set(count(stats.reloads.outstanding));
      if (!page || rows.length > page.hosts.length) return;
      rows = page.hosts;
      next = page.next;
      list.set(rows);
      more.hidden = !next;
    },
  };
}
