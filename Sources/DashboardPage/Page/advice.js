// The meaning of the numbers, and the advice that follows. No element is made here, so that this can be read as the
// rules.

import { bytes, count, counted, duration, moment, ms, outcomes, percent } from "./numbers.js";

/// Above so many times as many late widgets as the goal allows, they are stale.
export const staleFrom = 2;

/// How many kinds without budgets have a line of their own.
const kindsToldMax = 3;

/// From which share of the matches that ended within an hour on it is told that widgets did not show them; the alert FreshetMatchesUnshown
/// has the same.
const unshownFrom = 0.25;

/// From how many milliseconds on the last backup is old: two nights.
const backupAgeMax = 2 * 86_400_000;

/// Why widgets are behind, as verb phrases: for one widget, and for several.
export const behindReasons = {
  budget: ["waits for its budget", "wait for their budgets"],
  minimumInterval: ["was reloaded a short time ago", "were reloaded a short time ago"],
  anotherReload: ["waits to join another reload", "wait to join another reload"],
  paused: ["is paused", "are paused"],
  unreachable: ["cannot be reached by pushes", "cannot be reached by pushes"],
  hostAway: ["is on a host that is away", "are on hosts that are away"],
  provider: ["waits for a timeline provider in trouble", "wait for a timeline provider in trouble"],
  upstream: ["waits for an upstream in trouble", "wait for an upstream in trouble"],
  webhook: ["waits for a webhook in trouble", "wait for a webhook in trouble"],
  unacknowledged: ["has a reload that its host did not acknowledge", "have a reload that their hosts did not acknowledge"],
};

/// The reasons of those that are behind, the most frequent first, as words: `9,000 wait for their budgets, 12 are paused`.
export function behindText(row, most = 3) {
  const reasons = Object.entries(row?.reasons ?? {}).sort((left, right) => right[1] - left[1]);
  const said = reasons.slice(0, most).map(([name, number]) => `${count(number)} ${behindReasons[name]?.[number === 1 ? 0 : 1] ?? name}`);
  const rest = reasons.slice(most).reduce((sum, [, number]) => sum + number, 0);
  return [...said, rest ? `${count(rest)} more` : ""].filter(Boolean).join(", ");
}

/// Where those that are behind are listed: those that are late, if there are any and the goal is known.
export const behindLink = (row, seconds, app = "", kind = "") => `#/instances?${new URLSearchParams(Object.entries(
  { app, kind, state: "behind", olderThan: row.late > 0 && seconds ? `${seconds}s` : "" }).filter(([, value]) => value))}`;

/// How long the oldest of those that are behind has been so.
export const oldestText = (row) => (row.oldestSeconds >= 89_940 ? "more than 25 hours" : duration(row.oldestSeconds * 1000));

/// How bad it is that the goal is missed, in all or by one of `missed`.
const missedLevel = ({ burnRate, kind }) => (burnRate > staleFrom && kind === undefined ? "bad" : "warn");

const placeText = ({ app, kind }) => (kind === undefined ? app : `${kind} of ${app}`);

/// The late widgets of all, or of an app or kind, as a sentence.
function lateText(row, of, goalSeconds) {
  const which = row.instances === 1 ? `The one widget${of}` : `${count(row.late)} of ${count(row.instances)} widgets${of}`;
  return `${which} ${row.late === 1 ? "has" : "have"} been behind for more than ${duration(goalSeconds * 1000)}, the longest for ${oldestText(row)}.`;
}

/// Whether widgets show the newest data, judged by the number of late widgets against the goal, of all and by app and kind: a level, a word,
/// a sentence, why, and where to look.
export function freshness(stats) {
  const row = stats.freshness;
  if (!row || !row.instances) {
    return { level: "", word: "Not known", text: "No widget is registered, so none can be behind.", why: "", link: null };
  }
  const within = duration(row.goalSeconds * 1000);
  const link = row.behind > 0 ? behindLink(row, row.goalSeconds) : null;
  const why = behindText(row);
  if (row.late === 0) {
    const text = row.behind === 0 ? row.instances === 1 ? "The one widget does not wait for newer data." : `None of the ${count(row.instances)} widgets waits for newer data.`
      : `${row.instances === 1 ? "The one widget" : `${count(row.behind)} of ${count(row.instances)} widgets`} ${row.behind === 1 ? "is" : "are"} behind, none for more than ${within}.`;
    // Within the goal so far, and more than it allows if all of them stay.
    if (row.behind > row.instances * (1 - row.goalShare)) return { level: "", word: "Catching up", text, why, link };
    return { level: "good", word: "Fresh", text, why, link };
  }
  const missed = row.missed ?? [];
  const late = lateText(row, "", row.goalSeconds);
  if (row.isMet && missed.length === 0) return { level: "good", word: "Fresh", text: `${late} The goal allows ${percent(1 - row.goalShare, 1)}.`, why, link };
  const text = missed.length === 0 ? late : `${late} The goal is missed by ${placeText(missed[0])}${missed.length > 1 ? ` and ${count(missed.length - 1)} more` : ""}.`;
  const level = (row.isMet ? missed : [row]).some((one) => missedLevel(one) === "bad") ? "bad" : "warn";
  const word = row.isMet ? { warn: "Partly old", bad: "Partly stale" } : { warn: "Getting old", bad: "Stale" };
  return { level, word: word[level], text, why, link };
}

/// How old data was when hosts showed it, in the last minutes if any was shown then. It counts only data that was
/// shown.
export function seen(stats) {
  const all = stats.reloads?.freshness ?? {};
  const isRecent = all.recent?.shown > 0;
  const numbers = isRecent ? all.recent : all;
  const span = isRecent ? `in ${duration(Math.round((all.recent.seconds ?? 300) / 60) * 60_000)}` : "since the start";
  return { numbers, text: numbers.shown ? `${numbers.shown === 1 ? "one sighting" : `${count(numbers.shown)} sightings`} ${span}` : "no host has reported a shown entry" };
}

const examples = { int: 1, double: 1.5, bool: true, date: "2026-01-01T00:00:00Z" };

/// A configuration that a kind takes: an example for each parameter that must have a value.
const exampleConfiguration = (kind) => Object.fromEntries((kind?.parameters ?? []).filter((one) => one.required).map((one) => {
  const value = one.cases?.[0] ?? examples[one.type] ?? "example";
  return [one.name, one.array ? [value] : value];
}));

/// A word as a shell takes it.
const quoted = (text) => `'${text.replaceAll("'", "'\\''")}'`;

/// The first steps of a gateway on which nothing is registered, by its configuration: `{ title, isDone, text, command }`. The commands are for
/// the folder beside `certs`, which `freshet init` and `freshet certs` make.
export function firstSteps(stats, configuration, address) {
  const { teams = [], apps = [], listeners } = configuration ?? {};
  const app = apps[0];
  const bundle = app?.bundleID ?? "com.example.scores";
  const team = app?.team ?? teams[0]?.id ?? "A1B2C3D4E5";
  const kind = app?.kinds?.[0];
  const name = kind?.kind ?? "scores";
  const kid = teams.find((one) => one.id === team)?.keys[0]?.id ?? "F6G7H8J9K0";
  const sender = `--key certs/provider-key.p8 --kid ${kid} --team ${team}`;
  const at = (listener, port) => `https://${address}:${listeners?.[listeners.merged ? "push" : listener]?.port || port}`;
  const change = (place) => `freshet config put --server https://${address}:${listeners?.ops?.port || 9443} --ca certs/ca.pem --data ${quoted(configuration?.dataDirectory ?? "data")} --yes \\
  ${place}`;
  const certificates = (stats.tls ?? []).filter((one) => one.secondsLeft > 0);
  const host = { app: bundle, host: "phone-17", instances: [{ id: "w1", kind: name, family: "systemSmall", configuration: exampleConfiguration(kind) }] };
  return [
    { title: "A certificate", isDone: certificates.length > 0, text: "The listeners speak TLS. For development, this makes a CA, a certificate and a key for senders.",
      command: `freshet certs --out certs ${/^[0-9.]+$|:/.test(address) ? "--address" : "--host"} ${address}` },
    { title: "A team and its key", isDone: (stats.providerKeys?.count ?? 0) > 0, text: "This adds a team to the running gateway, with the public half of the key that its back end signs with. freshet config get prints the entry for the configuration file.",
      command: `echo '{}' | ${change(`--team ${team} --file -`)} &&
${change(`--team ${team} --key ${kid} --public-key certs/provider-key.public.pem`)}` },
    { title: "An app and its kinds", isDone: apps.length > 0, text: "This adds an app to the running gateway, with its bundle id, its team, and one kind of widgets. freshet config get prints the entry for the configuration file, and freshet config put takes it back with more kinds and their parameters.",
      command: `echo '${JSON.stringify({ team, kinds: [{ kind: name }] })}' | ${change(`--app ${bundle} --file -`)}` },
    { title: "The first host", isDone: (stats.registry?.hosts ?? 0) > 0, text: "A host, which shows widgets, registers them. This registers one with the sender's key. Run it where the folder certs is:",
      command: `AUTH=$(freshet token mint --header ${sender})
curl --fail-with-body --cacert certs/ca.pem -X PUT -H "$AUTH" ${at("host", 8443)}/v1/hosts/$(printf %064x 17)/widgets \\
  -d ${quoted(JSON.stringify(host))}` },
    { title: "The first push", isDone: (stats.pushes?.accepted ?? 0) > 0, text: "This pushes to all widgets of a kind. See its outcomes under Pushes.",
      command: `freshet send --ca certs/ca.pem --server ${at("push", 2197)} ${sender} \\
  --app ${bundle} --kind ${name} --priority 10` },
  ];
}

/// A pause in force, as a sentence.
export function pauseText(order) {
  const { app, kind, sender } = order.of;
  const what = sender ? `Pushes of ${sender}` : kind ? `${kind} of ${app}` : app;
  const gone = order.isConfigured ? "" : " (no longer in the configuration)";
  const end = order.until ? `until ${moment(order.until)}` : "until an operator resumes it";
  return `Paused: ${what}${gone}, since ${moment(order.since)}${order.by ? ` by ${order.by}` : ""}, ${end}.`;
}

/// The health of an upstream, a webhook, a receiver of receipts or a timeline provider, as a sentence.
export function healthText(health) {
  if (health.state === "untried") return "not asked since the start";
  const last = health.lastAnswer;
  const answer = last.status === undefined ? last.reason : [last.status, last.reason?.startsWith("status ") ? "" : last.reason].filter(Boolean).join(" ");
  const held = health.heldUntil ? `, held back until ${moment(health.heldUntil)}` : "";
  return `${answer} at ${moment(last.at)}${held}`;
}

/// Upstreams, webhooks, receivers of receipts and timeline providers that have mostly failed for a while.
const targetsInTrouble = (places, providers) => [...(places?.upstreams ?? []), ...(places?.webhooks ?? []), ...(places?.receipts ?? []), ...(providers ?? [])]
  .filter((one) => one.health?.state === "inTrouble");

/// The matches that ended within an hour, by the samples of its minutes: how many there are, and how many expired or failed.
function ended(minutes, asOf) {
  const lately = minutes.filter((sample) => ms(asOf) - ms(sample.at) < 3_600_000);
  const sum = (name) => lately.reduce((total, sample) => total + (sample[name] ?? 0), 0);
  const all = outcomes.filter(([name]) => !["issued", "deferred"].includes(name)).reduce((total, [name]) => total + sum(name), 0);
  return { all, expired: sum("expired"), failed: sum("failed") };
}

const view = {
  cluster: ["#/cluster", "Nodes"],
  budget: ["#/apps", "Apps"], senders: ["#/senders", "Senders"], upstreams: ["#/upstreams", "Providers"],
  hosts: ["#/hosts", "Hosts"], system: ["#/system", "System"], forecast: ["#/forecast", "Forecast"],
};

/// The things to do now, worst first: `{ level, text, act, link }`.
export function advice({ stats, senders, budget, providers, places, cluster, samples = [], minutes = [] }) {
  const found = [];
  const add = (level, text, act, link) => found.push({ level, text, act, link });
  const http = stats.http ?? {};
  const failed = (stats.partitions ?? []).filter((partition) => partition.failed);
  if (failed.length) add("bad", `Partition ${failed.map((one) => one.partition).join(", ")} has stopped.`, "Read the critical line in the log, then restart the gateway. Until then its hosts get no reloads.", view.system);
  if (stats.pushes && stats.pushes.balanced === false) add("bad", "Outcomes do not add up: matched is not final + deferred + issued.", "This is a bug: please keep the log and report it.", view.system);
  for (const { level, text, act } of cluster?.troubles ?? []) add(level, text, act, view.cluster);
  if (stats.ready === false) add("bad", `Not ready: ${(stats.missing ?? []).join("; ") || "see /readyz"}.`, "Look up the cause under Health in the operating manual.", view.system);
  if (stats.configuration?.result === "refused") {
    add("warn", "The newest configuration was refused; the previous one stays in force.", "Run freshet config diff to see its faults.", view.system);
  }
  if (stats.configuration?.isInForce === false) {
    add("warn", "Partitions decide by other settings than this gateway's.", "Give all gateways the same configuration file, then run freshet reload on each.", view.system);
  }
  const disk = stats.storage;
  const backupAge = disk?.lastBackup ? Date.parse(stats.asOf) - Date.parse(disk.lastBackup) : 0;
  if (backupAge > backupAgeMax) add("warn", `The last backup is ${duration(backupAge)} old.`, "Run freshet backup, or see why the timer did not.", view.system);
  const room = disk && (disk.roomBytes > 0 ? `${bytes(disk.usedBytes)} of ${bytes(disk.roomBytes)} are used` : "other programs have left no space");
  const isFull = disk?.level === "full" || disk?.level === "exhausted";
  if (isFull) {
    add("bad", `The disk is full: ${room}. Pushes, registrations and signals are refused.`, "Give the data directory more space (storage.maxBytes, a larger disk), or remove hosts that are not needed. The gateway then continues by itself.", view.system);
  } else if (disk?.level === "filling" || disk?.level === "tight") {
    const gone = disk.level === "tight" ? " History is removed early." : "";
    add("warn", `The disk fills up: ${room}.${gone}`, "Keep less history (snapshots.history), or give the data directory more space (storage.maxBytes, a larger disk).", view.system);
  }
  const overdue = stats.snapshots?.overdue ?? [];
  if (overdue.length && !cluster?.nodes?.length) add("warn", `${counted(overdue.length, "partition has", "partitions have")} had no snapshot since ${moment(overdue[0].since)}.`, "Read why in the log. Until there is one, the log grows, and a start or a takeover replays it.", view.system);
  const memory = stats.memory;
  const taken = memory && `${bytes(memory.usedBytes)} of ${bytes(memory.limitBytes)} are used, most of the registry by ${memory.teams[0]?.team ?? "no team"}`;
  if (memory?.level === "full") {
    add("bad", `The memory is full: ${taken}. Registrations that add hosts or instances are refused.`, "Give the gateway more memory (storage.memoryMax), or remove hosts that are not needed. limits.hosts and limits.instances limit teams.", view.system);
  } else if (memory?.level === "filling") {
    add("warn", `The memory fills up: ${taken}.`, "Give the gateway more memory (storage.memoryMax), or limit the teams (limits.hosts, limits.instances).", view.system);
  }
  const lately = samples.slice(-60);
  const sum = (name) => lately.reduce((total, sample) => total + (sample[name] ?? 0), 0);
  // Those that have their share now, or of which something was refused lately.
  const flooding = (stats.fairness?.teams ?? []).filter((one) => (sum("unavailable") > 0 && one.refused > 0)
    || one.undecided.some((units, partition) => units >= one.share[partition]));
  if (sum("unavailable") > 0 && !isFull && !flooding.length) add("bad", `${counted(sum("unavailable"), "push was", "pushes were")} answered 503 in the last minute.`, "The log cannot keep up: look at the disk, and at the pushes that wait.", view.system);
  if (sum("backlogFull") > 0) add("warn", `The backlog was full ${count(sum("backlogFull"))} times in the last minute.`, "Ask senders to slow down, or raise limits.maxInFlightPushes.", view.system);
  const behind = Math.max(0, ...(stats.partitions ?? []).map((one) => one.lagSeconds ?? 0));
  if (behind > 5) add("warn", `A partition is ${duration(behind * 1000)} behind its log: pushes wait to be decided.`, "Find the sender whose pushes are the most work. If it lasts, spread the hosts over more partitions.", view.system);
  for (const one of flooding) {
    add("warn", `${one.team} has used up its share of undecided work in the log: its further requests are answered 503.`, "Ask it for narrower or fewer pushes, or raise fairness.undecided.", view.senders);
  }
  for (const { name, health } of targetsInTrouble(places, providers)) {
    const waiting = health.waiting > 0 ? ` ${count(health.waiting)} ${health.waiting === 1 ? "waits" : "wait"}, the oldest for ${duration(health.oldestWaitingSeconds * 1000)}.` : "";
    add("bad", `${name} has failed since ${moment(health.troubleSince)}.`, `Its last answer: ${healthText(health)}.${waiting}`, view.upstreams);
  }
  const apns = stats.deliveries?.apns;
  if (apns?.gone > 0 && apns.gone * 10 > apns.gone + apns.delivered) {
    add("note", `Upstreams refused ${count(apns.gone)} of ${count(apns.gone + apns.delivered)} push tokens as invalid.`, "Their hosts must register again. Many at once mean the wrong environment, or an app that was removed.", view.upstreams);
  }
  if (stats.deliveries?.isOff) add("warn", "Nothing is delivered.", "The gateway was started with --no-deliveries, for a drill. Start it without.", view.upstreams);
  for (const one of stats.tls ?? []) {
    if (one.secondsLeft < 0) add("bad", `The certificate of ${one.listener} has expired.`, "Replace its files; this needs no restart.", view.upstreams);
    else if (one.secondsLeft < 14 * 86_400) add("warn", `The certificate of ${one.listener} expires in ${duration(one.secondsLeft * 1000)}.`, "Replace its files; this needs no restart.", view.upstreams);
    if (one.refusal) add("warn", `The newest certificate files of ${one.listener} were refused.`, one.refusal, view.upstreams);
  }
  for (const [listener, one] of Object.entries(stats.listeners ?? {})) {
    for (const [limit, last] of Object.entries(one.cutOff ?? {})) {
      if (last.secondsAgo > 3600) continue;
      add("warn", `Connections of ${listener} that the limit ${limit} ended: ${count(last.times)}, the last from ${last.peer} ${duration(Math.max(1, last.secondsAgo) * 1000)} ago.`, "The log has a warning for each connection. Raise the limit if the clients are yours.", view.system);
    }
  }
  const bad = http.badCredentials;
  if (bad?.keepComing) {
    add("warn", `${count(bad.withinMinute)} pushes with invalid credentials came within a minute, the last from ${bad.peer}.`, "Find that sender by its address, and check its token with freshet token inspect.", view.senders);
  }
  if (stats.providerKeys?.refusal) add("warn", "The newest provider keys were refused.", stats.providerKeys.refusal, view.system);
  for (const one of stats.freshness?.missed ?? []) {
    add(missedLevel(one), lateText(one, ` of ${placeText(one)}`, stats.freshness.goalSeconds), `Of all its widgets that are behind, ${behindText(one)}.`,
      [behindLink(one, stats.freshness.goalSeconds, one.app, one.kind), "Late widgets"]);
  }
  const { all: matches, expired, failed: unmade } = ended(minutes, stats.asOf);
  if (expired + unmade > matches * unshownFrom) {
    const most = expired >= unmade ? "expired" : "failed";
    add("warn", `${count(expired + unmade)} of ${counted(matches, "match", "matches")} that ended within an hour ${expired + unmade === 1 ? "was" : "were"} not shown: ${count(expired)} expired, ${count(unmade)} failed.`,
      most === "expired" ? "Budgets let fewer reloads through than senders push, or hosts were away." : "Hosts did not acknowledge their reloads, or an upstream refused them.",
      [`#/pushes?outcome=${most}`, most === "expired" ? "Pushes that expired" : "Pushes that failed"]);
  }
  // The gateway has the most exhausted kinds first.
  const spent = (budget?.kinds ?? []).filter((one) => one.isSpent);
  for (const one of spent.slice(0, kindsToldMax)) {
    add("warn", `${count(one.exhausted)} of ${counted(one.instances, "widget")} of ${placeText(one)} have used up the budget of their window.`,
      "See the senders whose pushes used it.", [`#/apps?${new URLSearchParams({ app: one.app, kind: one.kind })}`, one.kind]);
  }
  if (spent.length > kindsToldMax) {
    add("warn", `${counted(spent.length - kindsToldMax, "more kind has", "more kinds have")} many widgets without a budget.`, "The most exhausted come first.", view.budget);
  }
  if (spent.length === 0 && budget && budget.instances > 0 && budget.exhausted / budget.instances >= 0.05) {
    add("warn", `${percent(budget.exhausted, budget.instances)} of the widgets have used up the budget of their window.`, "See the kinds, and the senders whose pushes used it.", view.budget);
  }
  const charged = (senders ?? []).reduce((total, one) => total + one.reloadsCharged, 0);
  for (const one of senders ?? []) {
    if (one.matched >= 1000 && one.unchangedShare >= 0.5) add("note", `Half of the widgets that ${one.team} pushes to already show the content.`, "Ask it to push only when something has changed.", view.senders);
    if (one.collateralOver > 0 && one.collateralOver * 10 > one.reloadsCharged) add("note", `Pushes of ${one.team} also reload many other widgets.`, "Ask it to use targeted pushes.", view.senders);
    if ((senders ?? []).length > 1 && charged > 1000 && one.reloadsCharged / charged > 0.8) add("note", `${one.team} spends ${percent(one.reloadsCharged, charged)} of all reloads.`, "Look at its pushes.", view.senders);
  }
  if (http.eventStreamsCutOff > 0 && sum("eventStreamsCutOff") > 0) add("note", "Some hosts read their event stream too slowly and were disconnected.", "", view.hosts);
  const order = { bad: 0, warn: 1, note: 2 };
  return found.sort((left, right) => order[left.level] - order[right.level]);
}
