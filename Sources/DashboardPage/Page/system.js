// The gateway itself: partitions, listeners, limits that were met, configuration.

import { actions, logLevel, readConfiguration } from "./actions.js";
import { badge, card, facts, h, table, tile, tiles, when } from "./elements.js";
import { gateway } from "./gateway.js";
import { bytes, count, duration, ms, source } from "./numbers.js";

export const title = "System";

const pairs = (object, word = (name) => name) => Object.entries(object ?? {}).map(([name, number]) => `${word(name)} ${count(number)}`).join(", ") || "none";

const levels = { ample: ["enough room", "good"], filling: ["fills up", "warn"], tight: ["history goes", "warn"], full: ["full: nothing new is accepted", "bad"], exhausted: ["full: nothing is accepted", "bad"] };

const diskFacts = (disk) => [
  ["State", badge(...(levels[disk.level] ?? [disk.level, "warn"]))], ["Used", `${bytes(disk.usedBytes)}, ${disk.usedPercent} % of the limit`],
  ["Room", bytes(disk.roomBytes)], ["Reserve on top", bytes(disk.reserveBytes)], ["Free on the file system", bytes(disk.freeBytes)],
  ["Log, write-ahead log", `${bytes(disk.logBytes)}, ${bytes(disk.writeAheadLogBytes)}`], ["Snapshots", bytes(disk.snapshotBytes)],
  ["Timelines, audit log", bytes(disk.archiveBytes)], ["The log grows by", disk.growthPerDayBytes === undefined ? "" : `${bytes(disk.growthPerDayBytes)} a day`],
  ["Last backup", disk.lastBackup === undefined ? "none known" : when(disk.lastBackup)],
  ["Refused", `${count(disk.refused.pushes)} pushes, ${count(disk.refused.requests)} requests of hosts and apps`, "wide"],
];

const memoryLevels = { ample: ["enough room", "good"], filling: ["fills up", "warn"], full: ["full: no host is added", "bad"] };

/// The three tables that take most memory.
const largest = (tables = {}) => Object.entries(tables).sort((left, right) => right[1] - left[1]).slice(0, 3)
  .map(([name, size]) => `${name} ${bytes(size)}`).join(", ");

const memoryFacts = (memory) => [
  ["Room", badge(...(memoryLevels[memory.level] ?? [memory.level, "warn"]))],
  ["Used", `${bytes(memory.usedBytes)}, ${memory.usedPercent} % of the limit`],
  ["Bound", memory.limitBytes === undefined ? "none" : bytes(memory.limitBytes)], ["The process takes", bytes(memory.residentBytes)],
  ["Largest tables", largest(memory.tables)],
  ["Hosts and widgets, about", bytes(memory.registryBytes)],
  ["Refused", `${count(memory.refused.hosts)} for hosts, ${count(memory.refused.instances)} for widgets, ${count(memory.refused.memory)} for memory`, "wide"],
];

/// The changes that reading the configuration again would make, in sentences.
function differences(diff) {
  if (!diff) return [];
  const changes = diff.changes ?? [];
  if (diff.faults?.length) return [`It will be refused: ${diff.faults.map((one) => `${one.file}:${one.line} ${one.key}: ${one.reason}`).join("; ")}.`];
  if (changes.length === 0) return ["Nothing would change."];
  const orphans = diff.orphaned ? [`${count(diff.orphaned)} widgets would no longer fit their kind.`] : [];
  return [...changes.slice(0, 8).map((one) => `${one.key}: ${JSON.stringify(one.from ?? null)} becomes ${JSON.stringify(one.to ?? null)}${one.takesRestart ? "; needs a restart" : ""}.`), ...orphans];
}

const most = (number, max) => (max === undefined ? count(number) : `${count(number)} of ${count(max)}`);

export function open(context) {
  const ready = tile("Ready");
  const up = tile("Up for");
  const lag = tile("Not applied yet", "entries of the log");
  const held = tile("In work", "pushes without their answer yet");
  const partitions = table("Partitions", [
    { title: "Partition", cell: (row) => count(row.partition) },
    { title: "State", cell: (row) => (row.failed ? badge("stopped", "bad") : badge("applies", "good")) },
    { title: "Applied up to entry", number: true, cell: (row) => count(row.applied) },
    { title: "Not applied yet", number: true, cell: (row) => count(row.lag) },
    { title: "Hosts", number: true, cell: (row) => count(row.hosts) },
    { title: "Widgets", number: true, cell: (row) => count(row.instances) },
    { title: "Deferred matches", number: true, cell: (row) => count(row.deferred) },
    { title: "Matches on their way", number: true, cell: (row) => count(row.issued) },
    { title: "Timers set", number: true, cell: (row) => count(row.timersArmed) },
  ]);
  const listeners = table("Listeners", [
    { title: "Listener", cell: (row) => h("b", {}, row.name) },
    { title: "Connections", number: true, cell: (row) => count(row.connections) },
    { title: "Requests", number: true, cell: (row) => count(row.requests) },
    { title: "Buffered", number: true, cell: (row) => bytes(row.heldBytes) },
    { title: "Refused", number: true, cell: (row) => count(row.refused) },
    { title: "Handshakes failed", number: true, cell: (row) => count(row.handshakesFailed) },
    { title: "Ended by an error", number: true, cell: (row) => count(row.endedByFault) },
    { title: "Times a limit was met", wide: true, cell: (row) => pairs({ ...row.limits, ...row.timeouts }) },
  ]);
  const missing = h("p", { class: "fault" });
  const disk = h("div");
  const diskCard = card("Disk", { note: "the data directory" }, disk);
  const memory = h("div");
  const teams = table("Teams and their memory", [
    { title: "Team", cell: (row) => row.team },
    { title: "Hosts", number: true, cell: (row) => most(row.hosts, row.hostsMax) },
    { title: "Widgets", number: true, cell: (row) => most(row.instances, row.instancesMax) },
    { title: "Memory, about", number: true, cell: (row) => bytes(row.bytes) },
  ]);
  const books = h("div");
  const configuration = h("div");
  const rejected = h("div");
  const signedIn = h("div");
  const changes = table("Last changes", [
    { title: "When", cell: (row) => when(row.at) },
    { title: "Who", cell: (row) => h("b", {}, row.caller) },
    { title: "What", wide: true, cell: (row) => h("span", {}, row.text, h("span", { class: "soft block" }, `${row.method} ${row.path}`)) },
    { title: "From", cell: (row) => row.remoteAddress },
    { title: "Answer", number: true, cell: (row) => count(row.status) },
  ]);
  // Only for those who may ask for it.
  let difference = null;
  let overridden = {};
  const reading = h("div", {}, actions(context, "admin", [readConfiguration(() => differences(difference))]));
  const logLevels = table("Log levels", [
    { title: "Messages of", cell: (row) => h("b", {}, row.subsystem) },
    { title: "From", cell: (row) => h("span", {}, row.level, " ", row.level === row.configured ? "" : badge(`configured: ${row.configured}`, "warn")) },
    { title: "Written", number: true, cell: (row) => count(row.written) },
    { title: "Not written again", number: true, cell: (row) => count(row.repeated) },
    { title: "Change", cell: (row) => (mayWrite ? actions(context, "write", [{ ...logLevel(row.subsystem, row.level, overridden), label: `${row.subsystem}…` }]) : "needs write") },
  ]);
  let mayWrite = false;
  let levelsShown = "";
  const audit = card("Last changes", { note: "by operators, the newest first" }, changes.element);
  audit.hidden = true;
  return {
    element: h("div", { class: "view" }, tiles(ready, up, lag, held), missing, card("Partitions", partitions.element), card("Listeners", listeners.element),
      h("div", { class: "columns" }, card("Configuration", { note: reading }, configuration), card("Outcomes add up", books)), h("div", { class: "columns" }, diskCard, card("Memory", memory, teams.element)), h("div", { class: "columns" }, card("Log levels", logLevels.element), h("div", { class: "view" }, card("Signed in", signedIn), card("Rejected", { note: "since the start, by reason" }, rejected))), audit),
    subtitle: "The gateway itself",
    async ask(signal) {
      const [stats, version, parts, config, session] = await Promise.all([gateway.get("/v1/stats", signal), gateway.get("/version", signal),
        context.optional("/v1/partitions", signal), context.optional("/v1/config", signal), context.session()]);
      const mayAudit = session?.scopes.includes("admin") ?? false;
      const audited = mayAudit ? await context.optional("/v1/audit", signal) : null;
      const [diff, logs] = await Promise.all([mayAudit ? context.sometimes("/v1/config/diff", signal, 9).catch(() => null) : null, context.optional("/v1/log-levels", signal)]);
      return { stats, version, parts, config, session, audited, diff, logs };
    },
    show({ stats, version, parts, config, session, audited, diff, logs }) {
      difference = diff;
      mayWrite = session?.scopes.includes("write") ?? false;
      const levels = (logs?.subsystems ?? []);
      overridden = Object.fromEntries(levels.filter((one) => one.level !== one.configured).map((one) => [one.subsystem, one.level]));
      const key = JSON.stringify([mayWrite, levels.map((one) => [one.level, one.written])]);
      if (key !== levelsShown) {
        levelsShown = key;
        logLevels.set(levels);
      }
      const isReady = stats.ready ?? !stats.partitions.some((one) => one.failed);
      ready.set(isReady ? "Yes" : "No", isReady ? "good" : "bad");
      missing.textContent = (stats.missing ?? []).join("; ");
      up.set(stats.startedAt ? duration(ms(stats.asOf) - ms(stats.startedAt)) : "–");
      lag.set(count(stats.partitions.reduce((sum, one) => sum + one.lag, 0)));
      held.set(count(stats.http.inFlight));
      const more = new Map((parts?.partitions ?? []).map((one) => [one.partition, one]));
      partitions.set(stats.partitions.map((one) => ({ ...more.get(one.partition), ...one })));
      listeners.set(Object.entries(stats.listeners).map(([name, counters]) => ({ name, ...counters })));
      const may = { read: "ask", write: "give orders", admin: "change everything" };
      signedIn.replaceChildren(facts([
        ["Name", session?.name ?? ""], ["May", (session?.scopes ?? []).map((scope) => may[scope] ?? scope).join(", ")],
      ]));
      audit.hidden = !audited;
      changes.set((audited?.requests ?? []).slice(0, 20));
      // A gateway whose log is in memory has none.
      diskCard.hidden = !stats.storage;
      if (stats.storage) disk.replaceChildren(facts(diskFacts(stats.storage)));
      if (stats.memory) {
        memory.replaceChildren(facts(memoryFacts(stats.memory)));
        teams.set(stats.memory.teams);
      }
      const pushes = stats.pushes;
      books.replaceChildren(facts([
        ["Matched", count(pushes.matched)], ["= ended", count(pushes.final)], ["+ deferred", count(pushes.outcomes.deferred ?? 0)],
        ["+ issued", count(pushes.outcomes.issued ?? 0)], ["Adds up", badge(pushes.balanced ? "yes" : "no", pushes.balanced ? "good" : "bad")],
        ["Reloads issued", count(stats.reloads.issued)], ["Of them charged", count(stats.reloads.charged)],
        ["By cause", pairs(stats.reloads.byCause, source), "wide"], ["Exempt", pairs(stats.reloads.exempt, source), "wide"],
      ]));
      configuration.replaceChildren(facts([
        ["Version", `${version.name} ${version.version}, engine ${version.engine}`],
        ["Read", when(config?.loadedAt)], ["State", { loaded: "in force", refused: badge("refused, not in force", "bad") }[config?.result] ?? ""],
        ["A restart is needed for", (config?.restartNeeded ?? []).join(", ")],
        ["Changed by requests", (config?.amendments ?? []).map((one) => `${one.team ?? one.app} by ${one.by}${one.inForce ? "" : " (ended)"}`).join("; ")],
        ["Provider keys", count(stats.providerKeys.count)], ["Newest keys", stats.providerKeys.refusal ?? "in force"],
        ["Clients' certificates revoked", stats.clientCertificates ? count(stats.clientCertificates.revoked ?? 0) : ""],
        ["Hosts", count(stats.registry.hosts)], ["Widgets", count(stats.registry.instances)], ["Widgets that do not fit their kind", count(stats.registry.orphaned)],
        ["Tokens", count(stats.registry.tokens)], ["Channels", count(stats.registry.channels)],
        ["Faults", (config?.faults ?? []).map((one) => `${one.entry ?? `${one.file}:${one.line}`} ${one.key ?? ""}: ${one.reason}`).join("; "), "wide"],
      ]));
      rejected.replaceChildren(facts([
        ...Object.entries(stats.http.rejected ?? {}).map(([name, number]) => [name, count(number)]),
        ...Object.entries(stats.http.problems ?? {}).map(([name, number]) => [name, count(number)]),
      ]));
      if (!rejected.firstChild?.childElementCount) rejected.replaceChildren(h("p", { class: "empty" }, "Nothing was rejected."));
    },
  };
}
