// What the numbers mean, and what to do about them. No element is made here, so that this can be read as the rules.

import { bytes, count, duration, moment, percent } from "./numbers.js";

/// News up to this old is fresh: most within a minute, nearly all within what a quarter of an hour of budget allows.
export const freshWithin = { p50Milliseconds: 60_000, p95Milliseconds: 900_000 };
export const fairWithin = { p50Milliseconds: 300_000, p95Milliseconds: 3_600_000 };

/// How old news is when people see it: a level, a word, and why.
export function freshness(stats) {
  const all = stats.reloads?.freshness ?? {};
  const recent = all.recent;
  const numbers = recent && recent.shown > 0 ? recent : all;
  if (!numbers.shown) {
    return {
      level: "", word: "Not known", numbers,
      why: "No host has said yet that it shows what a push brought (signal entryShown).",
    };
  }
  const within = (limit) => numbers.p50Milliseconds <= limit.p50Milliseconds && numbers.p95Milliseconds <= limit.p95Milliseconds;
  const span = numbers === recent ? `in the last ${duration((recent.seconds ?? 300) * 1000)}` : "since the start";
  const why = numbers.shown === 1 ? `One push was seen on a screen ${span}, ${duration(numbers.p50Milliseconds)} after it came.`
    : `${count(numbers.shown)} pushes were seen on a screen ${span}, half of them within ${duration(numbers.p50Milliseconds)}.`;
  if (within(freshWithin)) return { level: "good", word: "Fresh", numbers, why };
  if (within(fairWithin)) return { level: "warn", word: "Getting old", numbers, why };
  return { level: "bad", word: "Stale", numbers, why };
}

/// What a pause in force is, as a sentence.
export function pauseText(order) {
  const { app, kind, sender } = order.of;
  const what = sender ? `Pushes of ${sender}` : kind ? `${kind} of ${app}` : app;
  const gone = order.isConfigured ? "" : " (not in the configuration any more)";
  const end = order.until ? `until ${moment(order.until)}` : "until somebody resumes it";
  return `Paused: ${what}${gone}, since ${moment(order.since)}${order.by ? ` by ${order.by}` : ""}, ${end}.`;
}

/// What the health of an upstream, a webhook or a timeline provider comes to, as a sentence.
export function healthText(health) {
  if (health.state === "untried") return "not asked since the start";
  const last = health.lastAnswer;
  const answer = last.status === undefined ? last.reason : [last.status, last.reason?.startsWith("status ") ? "" : last.reason].filter(Boolean).join(" ");
  const held = health.heldUntil ? `, left alone until ${moment(health.heldUntil)}` : "";
  return `${answer} at ${moment(last.at)}${held}`;
}

const view = {
  budget: ["#/budget", "Budget"], senders: ["#/senders", "Senders"], upstreams: ["#/upstreams", "Providers"],
  hosts: ["#/hosts", "Hosts"], system: ["#/system", "System"], forecast: ["#/forecast", "Forecast"],
};

/// What somebody should do now, worst first: `{ level, text, act, link }`.
export function advice({ stats, senders, budget, providers, places, samples = [] }) {
  const found = [];
  const add = (level, text, act, link) => found.push({ level, text, act, link });
  const http = stats.http ?? {};
  const failed = (stats.partitions ?? []).filter((partition) => partition.failed);
  if (failed.length) add("bad", `Partition ${failed.map((one) => one.partition).join(", ")} has stopped.`, "Read the critical line in the log; its hosts get nothing until the gateway is started again.", view.system);
  if (stats.pushes && stats.pushes.balanced === false) add("bad", "The books do not add up.", "Keep the log and report it: matched is not final + deferred + issued.", view.system);
  if (stats.ready === false) add("bad", `Not ready: ${(stats.missing ?? []).join("; ") || "see /readyz"}.`, "The list of causes is in the operating manual.", view.system);
  const disk = stats.storage;
  const room = disk && `${bytes(disk.usedBytes)} of ${bytes(disk.roomBytes)} are used`;
  const isFull = disk?.level === "full" || disk?.level === "exhausted";
  if (isFull) {
    add("bad", `The disk is full: ${room}. Pushes, registrations and signals are refused.`, "Give the data directory more room (storage.maxBytes, a larger disk), or have hosts removed that are not needed; it goes on by itself.", view.system);
  } else if (disk?.level === "filling" || disk?.level === "tight") {
    const gone = disk.level === "tight" ? " History goes before its time." : "";
    add("warn", `The disk fills up: ${room}.${gone}`, "Keep less history (snapshots.history), or give the data directory more room (storage.maxBytes, a larger disk).", view.system);
  }
  const memory = stats.memory;
  const taken = memory && `${bytes(memory.usedBytes)} of ${bytes(memory.limitBytes)} are used, most of the registry by ${memory.teams[0]?.team ?? "no team"}`;
  if (memory?.level === "full") {
    add("bad", `The memory is full: ${taken}. Registrations that add hosts or instances are refused.`, "Give the gateway more memory (storage.memoryMax), or have hosts removed that are not needed; limits.hosts and limits.instances bound teams.", view.system);
  } else if (memory?.level === "filling") {
    add("warn", `The memory fills up: ${taken}.`, "Give the gateway more memory (storage.memoryMax), or bound the teams (limits.hosts, limits.instances).", view.system);
  }
  const lately = samples.slice(-60);
  const sum = (name) => lately.reduce((total, sample) => total + (sample[name] ?? 0), 0);
  if (sum("unavailable") > 0 && !isFull) add("bad", `${count(sum("unavailable"))} pushes were answered 503 in the last minute.`, "Look at the disk and at what waits: the log cannot keep up.", view.system);
  if (sum("backlogFull") > 0) add("warn", `The backlog was full ${count(sum("backlogFull"))} times in the last minute.`, "Senders should slow down, or limits.maxInFlightPushes is too small.", view.system);
  const behind = Math.max(0, ...(stats.partitions ?? []).map((one) => one.lagSeconds ?? 0));
  if (behind > 5) add("warn", `A partition is ${duration(behind * 1000)} behind its log: pushes wait to be decided.`, "See whose pushes are most work; if it goes on, spread the hosts over more partitions.", view.system);
  for (const one of stats.fairness?.teams ?? []) {
    const isFull = one.undecided.some((units, partition) => units >= one.share[partition]);
    if (isFull) add("warn", `${one.team} has its share of undecided work in the log: what it sends beyond is answered 503.`, "Its pushes should be narrower or fewer, or fairness.undecided is too small.", view.senders);
  }
  const targets = [
    ...(places?.upstreams ?? []).map((one) => [`The upstream of ${one.app}`, one.health]),
    ...(places?.webhooks ?? []).map((one) => [`The webhook of ${one.app}`, one.health]),
    ...(providers ?? []).map((one) => [`The timeline provider of ${one.kind} of ${one.app}`, one.health]),
  ];
  for (const [name, health] of targets) {
    if (health?.state !== "inTrouble") continue;
    const waiting = health.waiting > 0 ? ` ${count(health.waiting)} ${health.waiting === 1 ? "waits" : "wait"}, the oldest for ${duration(health.oldestWaitingSeconds * 1000)}.` : "";
    add("bad", `${name} has only failed since ${moment(health.troubleSince)}.`, `It said: ${healthText(health)}.${waiting}`, view.upstreams);
  }
  if (stats.deliveries?.isOff) add("warn", "Nothing is delivered.", "The gateway was started for a drill, with --no-deliveries.", view.upstreams);
  for (const one of stats.tls ?? []) {
    if (one.secondsLeft < 0) add("bad", `The certificate of ${one.listener} has ended.`, "Replace its files; they are taken without a restart.", view.upstreams);
    else if (one.secondsLeft < 14 * 86_400) add("warn", `The certificate of ${one.listener} ends in ${duration(one.secondsLeft * 1000)}.`, "Replace its files; they are taken without a restart.", view.upstreams);
    if (one.refusal) add("warn", `The newest certificate files of ${one.listener} were refused.`, one.refusal, view.upstreams);
  }
  for (const [listener, one] of Object.entries(stats.listeners ?? {})) {
    for (const [limit, last] of Object.entries(one.cutOff ?? {})) {
      if (last.secondsAgo > 3600) continue;
      add("warn", `Connections of ${listener} that the limit ${limit} ended: ${count(last.times)}, the last from ${last.peer} ${duration(Math.max(1, last.secondsAgo) * 1000)} ago.`, "The log says what each client did; raise the limit if they are honest.", view.system);
    }
  }
  if (stats.providerKeys?.refusal) add("warn", "The newest provider keys were refused.", stats.providerKeys.refusal, view.system);
  const fresh = freshness(stats);
  if (fresh.level === "bad") add("bad", "Widgets show old news.", "See whether budgets are used up, or hosts are away.", view.budget);
  if (budget && budget.instances > 0 && budget.exhausted / budget.instances >= 0.05) {
    add("warn", `${percent(budget.exhausted, budget.instances)} of the widgets have no reloads left in their window.`, "See which kinds, and whose pushes used them.", view.budget);
  }
  const charged = (senders ?? []).reduce((total, one) => total + one.reloadsCharged, 0);
  for (const one of senders ?? []) {
    if (one.matched >= 1000 && one.unchangedShare >= 0.5) add("note", `Half of what ${one.team} pushes is on the widgets already.`, "Ask it to push when something has changed.", view.senders);
    if (one.collateralOver > 0 && one.collateralOver * 10 > one.reloadsCharged) add("note", `Pushes of ${one.team} reload many widgets that they are not about.`, "Targeted pushes would spare those.", view.senders);
    if ((senders ?? []).length > 1 && charged > 1000 && one.reloadsCharged / charged > 0.8) add("note", `${one.team} spends ${percent(one.reloadsCharged, charged)} of all reloads.`, "See what it pushes.", view.senders);
  }
  if (http.eventStreamsCutOff > 0 && sum("eventStreamsCutOff") > 0) add("note", "Some hosts read their stream too slowly and were cut off.", "", view.hosts);
  const order = { bad: 0, warn: 1, note: 2 };
  return found.sort((left, right) => order[left.level] - order[right.level]);
}
