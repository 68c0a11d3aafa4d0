// The nodes that share a log: who is there, who has which partition, and the brokers below.

import { actions, drain, move, undrain } from "./actions.js";
import { badge, card, facts, fill, h, table, tile, tiles, when } from "./elements.js";
import { gateway } from "./gateway.js";
import { count, counted, duration } from "./numbers.js";

export const title = "Nodes";

const nodeBadge = (row) => {
  if (row.state === "missing") return badge("missing", "bad");
  if (row.drained) return badge("drained", "warn");
  return badge(row.state, row.state === "member" ? "good" : "");
};

const levels = { running: "good", starting: "warn", moving: "warn", failed: "bad", unowned: "bad" };

export function open(context) {
  const alive = tile("Nodes", "that answer");
  const here = tile("Partitions here", "that this node owns");
  const unowned = tile("Without an owner", "partitions");
  const moving = tile("On their way", "partitions");
  const troubles = h("ul", { class: "todo" });
  const troublesCard = card("Faults", troubles);
  const nodes = table("Nodes", [
    { title: "Node", cell: (row) => h("b", {}, row.name) },
    { title: "State", cell: nodeBadge },
    { title: "Partitions", number: true, cell: (row) => count(row.partitions) },
    { title: "Heard", cell: (row) => (row.silentSeconds > 0 ? `${duration(row.silentSeconds * 1000)} ago` : "now") },
    { title: "Started", cell: (row) => when(row.startedAt) },
    { title: "Address", wide: true, cell: (row) => row.address },
    { title: "Change", cell: (row) => actions(context, "write", [row.drained ? undrain(row) : drain(row)]) },
  ]);
  let names = [];
  const partitions = table("Partitions of all nodes", [
    { title: "Partition", number: true, cell: (row) => count(row.partition) },
    { title: "Owner", cell: (row) => row.owner },
    { title: "State", cell: (row) => badge(row.successor ? `${row.state} to ${row.successor}` : row.state, levels[row.state] ?? "") },
    { title: "Epoch", number: true, cell: (row) => count(row.epoch) },
    { title: "Applied up to entry", number: true, cell: (row) => count(row.applied) },
    { title: "Next owner", cell: (row) => row.next },
    { title: "Standby", cell: (row) => (row.standby === undefined ? "" : `${row.standby}, ${counted(row.standbyLag, "entry", "entries")} behind`) },
    { title: "Ordered to", cell: (row) => row.wished },
    { title: "Snapshot", number: true, cell: (row) => (row.snapshotAgeSeconds === undefined ? "" : `${duration(row.snapshotAgeSeconds * 1000)} old`) },
    { title: "Change", cell: (row) => actions(context, "write", [move(row, names)]) },
  ]);
  const brokers = h("div");
  const streams = table("Streams by their leader", [
    { title: "Broker", cell: (row) => h("b", {}, row.name) },
    { title: "Version", cell: (row) => row.version },
    { title: "Leads", cell: (row) => counted(row.leads, "stream") },
  ], "No broker has answered lately.");
  const alone = h("p", { class: "card empty", hidden: true }, "This gateway does not share its log.");
  const shared = h("div", { class: "view" }, tiles(alive, here, unowned, moving), troublesCard, card("Nodes", nodes.element),
    card("Partitions", { note: "of all nodes" }, partitions.element), card("Brokers", brokers, streams.element));
  return {
    element: h("div", { class: "view" }, alone, shared),
    subtitle: "Gateways that share the log",
    ask: (signal) => gateway.get("/v1/cluster", signal),
    show(data) {
      alone.hidden = data.nodes.length > 0;
      shared.hidden = data.nodes.length === 0;
      if (shared.hidden) return;
      const living = data.nodes.filter((one) => !["missing", "ended"].includes(one.state));
      names = living.filter((one) => !one.drained).map((one) => one.name);
      alive.set(count(living.length), data.nodes.some((one) => one.state === "missing") ? "bad" : "good");
      here.set(count(data.partitions.filter((one) => one.owner === data.node).length));
      const lost = data.partitions.filter((one) => one.state === "unowned").length;
      unowned.set(count(lost), lost > 0 ? "bad" : "good");
      moving.set(count(data.partitions.filter((one) => one.state === "moving" || one.state === "starting").length));
      troublesCard.hidden = data.troubles.length === 0;
      fill(troubles, data.troubles.map(({ level, text, act }) => h("li", { "data-level": level }, badge(level === "bad" ? "Now" : "Soon", level),
        h("div", {}, h("b", {}, text), ` ${act}`))));
      nodes.set(data.nodes);
      partitions.set(data.partitions);
      const own = data.brokers;
      const led = (own?.streams ?? []).filter((one) => one.leader !== undefined).length;
      fill(brokers, facts([
        ["Connected to", own?.connected ?? ""], ["Known", (own?.servers ?? []).join(", ")],
        ["Streams with a leader", own ? `${count(led)} of ${count(own.streams.length)}` : ""],
        ["Handed over since the start", count(data.counts.moves)], ["Taken over", count(data.counts.takeovers)],
        ["Beats missed", count(data.counts.beatsMissed)],
      ]));
      streams.set(own?.brokers ?? []);
    },
  };
}
