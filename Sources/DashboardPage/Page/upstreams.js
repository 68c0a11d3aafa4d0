// The services that the gateway calls: timeline providers, upstream APNs, webhooks. Also how long its certificates
// last.

import { healthText } from "./advice.js";
import { actions, actionsCard, tryNow } from "./actions.js";
import { badge, card, facts, h, link, table, to, when } from "./elements.js";
import { count, duration, moment } from "./numbers.js";

export const title = "Providers";

/// How a target does, in a word.
function state(health) {
  switch (health?.state) {
    case "inTrouble": return h("span", {}, badge("in trouble", "bad"), h("span", { class: "soft block" }, "since ", when(health.troubleSince)));
    case "failing": return badge("failing", "warn");
    case "well": return badge("well", "good");
    default: return badge("not asked yet");
  }
}

/// A reason, and when it was given: it stays when it no longer holds.
const dated = (reason, at) => h("span", {}, reason, h("span", { class: "soft block" }, when(at)));

/// The answers of a target without success, by reason.
const withoutSuccess = ({ attempts, failures }) => {
  const all = Object.entries(failures);
  const sum = all.reduce((total, [, number]) => total + number, 0);
  return h("span", {}, `${count(sum)} of ${count(attempts)}`, all.length > 0 && h("span", { class: "soft block" }, all.map(([name, number]) => `${name} ${count(number)}`).join(", ")));
};

/// The answers of a target, its waiting deliveries, and its last answer.
const health = [
  { title: "Without success", wide: true, cell: (row) => (row.health ? withoutSuccess(row.health) : "") },
  { title: "Waiting", number: true, cell: (row) => h("span", {}, count(row.health?.waiting ?? 0),
    row.health?.oldestWaitingSeconds === undefined ? "" : h("span", { class: "soft block" }, `oldest ${duration(row.health.oldestWaitingSeconds * 1000)}`)) },
  { title: "Last answer", wide: true, cell: (row) => (row.health ? h("span", {}, healthText(row.health),
    h("span", { class: "soft block" }, row.health.lastSuccess ? `last success ${moment(row.health.lastSuccess)}` : "no success since the start"),
    row.health.state === "well" && row.lastFault ? h("span", { class: "soft block" }, `last fault ${row.lastFault.fault} (${moment(row.lastFault.at)})`) : "") : "–") },
];

export function open(context) {
  const providers = table("Timeline providers", [
    { title: "Kind", wide: true, cell: (row) => h("span", {}, link(to("apps", [], { app: row.app, kind: row.kind }), row.kind), h("span", { class: "soft block" }, row.app)) },
    { title: "State", cell: (row) => state(row.health) },
    { title: "Given up", number: true, cell: (row) => count(row.expired + row.overflowed) },
    ...health,
  ], "No kind has a timeline provider; hosts make their own timelines.");
  const upstreams = table("Upstreams", [
    { title: "App", wide: true, cell: (row) => h("span", {}, h("b", {}, row.app), h("span", { class: "soft block" }, { webhooks: "webhook", receipts: "receipts for senders" }[row.kindOf] ?? "upstream")) },
    { title: "Where", wide: true, cell: (row) => h("span", { class: "id" }, row.origin) },
    { title: "Key", cell: (row) => h("span", {}, row.keyID ?? (row.kindOf ? "signed" : ""),
      row.tokenAgeSeconds === undefined ? "" : h("span", { class: "soft block" }, `token of ${duration(row.tokenAgeSeconds * 1000)}`)) },
    { title: "State", cell: (row) => state(row.health) },
    ...health,
  ], "No app has an upstream or a webhook; reloads go to event streams.");
  const ways = table("Deliveries", [
    { title: "Way", cell: (row) => h("b", {}, row.name) },
    { title: "Delivered", number: true, cell: (row) => count(row.delivered) },
    { title: "Refused", number: true, cell: (row) => count(row.refused) },
    { title: "Dead tokens", number: true, cell: (row) => count(row.gone) },
    { title: "Tries", number: true, cell: (row) => count(row.tries) },
    { title: "Tried again", number: true, cell: (row) => count(row.again) },
    { title: "Expired", number: true, cell: (row) => count(row.expired) },
    { title: "Own credentials refused", number: true, cell: (row) => count(row.troubles) },
    { title: "Last refusal", wide: true, cell: (row) => (row.lastTrouble ? dated(row.lastTrouble, row.lastTroubleAt) : row.lastRefusal ? dated(row.lastRefusal, row.lastRefusalAt) : "none") },
  ]);
  const client = h("div");
  const certificates = table("Certificates", [
    { title: "Listener", cell: (row) => h("b", {}, row.listener) },
    { title: "Name", cell: (row) => row.commonName },
    { title: "Ends", cell: (row) => when(row.notAfter) },
    { title: "Left", cell: (row) => badge(row.secondsLeft < 0 ? "ended" : duration(row.secondsLeft * 1000), row.secondsLeft < 0 ? "bad" : row.secondsLeft < 14 * 86_400 ? "warn" : "good") },
    { title: "Replaced", number: true, cell: (row) => `${count(row.replaced)} times` },
    { title: "Newest files", wide: true, cell: (row) => (row.refusal ? badge(row.refusal, "bad") : "in force") },
  ]);
  const change = h("div");
  let offered = "";
  return {
    element: h("div", { class: "view" }, card("Timeline providers", providers.element), card("Upstreams and webhooks", upstreams.element), actionsCard(context, change),
      context.who()?.team ? null : [card("Deliveries by HTTP", ways.element, client), card("Certificates", certificates.element)]),
    subtitle: context.who()?.team ? "Servers that the gateway sends to" : "Servers that the gateway sends to, and its certificates",
    async ask(signal) {
      const [stats, known, places] = await Promise.all([context.whole("/v1/stats", signal), context.optional("/v1/providers", signal), context.optional("/v1/upstreams", signal)]);
      return { stats, known, places, asOf: places?.asOf };
    },
    show({ stats, known, places }) {
      providers.set(known?.providers ?? []);
      upstreams.set([...(places?.upstreams ?? []), ...["webhooks", "receipts"].flatMap((kindOf) => (places?.[kindOf] ?? []).map((one) => ({ ...one, kindOf })))]);
      const failing = [
        ...(known?.providers ?? []).map((one) => [{ app: one.app, kind: one.kind }, `the provider of ${one.kind} of ${one.app}`, one.health]),
        ...[...(places?.upstreams ?? []), ...(places?.webhooks ?? []), ...(places?.receipts ?? [])].map((one) => [{ app: one.app }, `the deliveries of ${one.app}`, one.health]),
      ].filter(([, , one]) => one?.state === "inTrouble" || one?.state === "failing");
      const names = JSON.stringify(failing.map(([body]) => body));
      if (names !== offered) {
        offered = names;
        change.replaceChildren(actions(context, "write", [{ ...tryNow({}, "everything that failed last"), label: "Try all that failed…" },
          ...failing.slice(0, 5).map(([body, name, one]) => ({ ...tryNow(body, name, one.waiting), label: `Try ${body.kind ?? body.app} now…` }))]));
      }
      if (!stats) return;
      const sent = stats.deliveries;
      ways.set(sent ? [{ name: "APNs", ...sent.apns }, { name: "Webhooks", ...sent.webhook }] : []);
      client.replaceChildren(sent ? facts([
        ["Waiting", count(sent.waiting)], ["In work", count(sent.inWork)], ["Connections", count(sent.client.connections)],
        ["Connects failed", count(sent.client.connectsFailed)], ["Connections that servers ended", count(sent.client.goAways)], ["Streams refused", count(sent.client.refused)],
        ["Sent again", count(sent.client.resent)], ["Relayed pushes", `${count(sent.relay.answered)} answered, ${count(sent.relay.unanswered)} not`],
        ["Times a limit was met", Object.entries(sent.client.limits ?? {}).map(([name, number]) => `${name} ${count(number)}`).join(", ") || "none"],
      ]) : "");
      certificates.set(stats.tls ?? []);
    },
  };
}
