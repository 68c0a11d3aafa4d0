// The changes that operators may make. Each tells its effect before it happens, and its result afterwards.

import { card, choice, field, h, newID } from "./elements.js";
import { gateway, Refused } from "./gateway.js";
import { count, counted, moment, now } from "./numbers.js";

/// Asks in a dialog: `{ title, will, fields, request(), done(answer), yes }`. `fields` are `[label, control, hint]`, `will()` are
/// sentences, `request()` is `[method, path, body]`.
function confirm({ title, will, fields = [], request, done, yes }, context) {
  const id = newID("dialog");
  const sentences = h("ul", { class: "will" });
  const code = h("code");
  const result = h("p", { class: "outcome-line", role: "status" });
  const no = h("button", { type: "button", on: { click: () => dialog.close() } }, "Cancel");
  const go = h("button", { type: "submit", class: "primary" }, yes);
  const form = h("form", { method: "dialog", on: { submit: carryOut } },
    h("h2", { id }, title), fields.length > 0 && h("div", { class: "inline" }, fields.map(([label, control, hint]) => field(label, control, hint))),
    h("div", {}, h("h3", {}, "What will happen"), sentences), h("p", { class: "soft sent" }, code), result, h("div", { class: "buttons" }, no, go));
  const dialog = h("dialog", { "aria-labelledby": id, on: { close: () => dialog.remove() } }, form);
  const write = () => {
    sentences.replaceChildren(...will().filter(Boolean).map((text) => h("li", {}, text)));
    const [method, where, body] = request();
    code.textContent = `${method} ${where}${body === undefined ? "" : ` ${JSON.stringify(body)}`}`;
  };
  async function carryOut(event) {
    event.preventDefault();
    if (!form.reportValidity()) return;
    go.disabled = true;
    result.dataset.level = "";
    result.textContent = "Asking the gateway…";
    try {
      result.textContent = done(await gateway.send(...request()));
      result.dataset.level = "good";
      go.hidden = true;
      no.textContent = "Close";
      for (const [, control] of fields) control.disabled = true;
      no.focus();
    } catch (error) {
      result.textContent = error instanceof Refused ? `Refused: ${refusal(error)}` : `${error.message} It may have been done; look before you try again.`;
      result.dataset.level = "bad";
      go.disabled = false;
    }
    context.changed();
  }
  for (const [, control] of fields) control.addEventListener("input", write);
  write();
  document.body.append(dialog);
  dialog.showModal();
}

const refusal = (error) => (error.answer.faults ? error.answer.faults.map((one) => `${one.file}:${one.line} ${one.key}: ${one.reason}`).join("; ")
  : error.path ? `${error.path}: ${error.message}` : error.message);

/// A card of actions; none for a sender whose key reads, who is offered no action.
export const actionsCard = (context, ...children) => (context.who()?.team ? null : card("Actions", ...children));

/// Buttons for those who may; for others the reason why there are none.
export function actions(context, scope, all) {
  const element = h("div", { class: "actions", role: "group", "aria-label": "Actions" });
  const offer = (session) => {
    if (session.team) return;
    if (session.scopes.includes(scope)) {
      element.replaceChildren(...all.map(({ label, ...one }) => h("button", { type: "button", class: "small", "data-key": `act-${label}`,
        on: { click: () => confirm(one, context) } }, label)));
    } else {
      element.replaceChildren(h("p", { class: "soft" }, `You need the scope ${scope} to ${all.map((one) => one.label.toLowerCase().replace("…", "")).join(", ")}; ${session.name} has ${session.scopes.join(", ")}.`));
    }
  };
  const known = context.who();
  // At once where it is known, so that the keyboard stays where it was.
  if (known) offer(known);
  else context.session().then(offer, () => { /* The view says that the gateway is away. */ });
  return element;
}

// MARK: Orders

const lengths = [["", "Until an operator resumes it"], ["900", "15 minutes"], ["3600", "1 hour"], ["21600", "6 hours"], ["86400", "24 hours"]];

/// An order's scope, in words.
export function scopeText({ app, kind, host, sender, instance, push }) {
  if (instance) return instance;
  if (push) return `push ${push}`;
  if (sender) return `pushes of ${sender}`;
  if (kind) return `${kind} of ${app}`;
  return host ? `${host} of ${app}` : app;
}

const widgets = (number) => counted(number, "widget");
const order = (action, of, more = {}) => ["POST", "/v1/orders", { action, of, ...more }];

/// - `of`: the scope, as `POST /v1/orders` has it; `known`: how many widgets it is about, where that is known.
export function pause(of, known) {
  const end = choice(lengths, "3600");
  const until = () => (end.value ? new Date(Math.ceil(now() / 60_000) * 60_000 + Number(end.value) * 1000).toISOString().replace(".000Z", "Z") : undefined);
  return {
    label: "Pause…", yes: "Pause", title: `Pause ${scopeText(of)}`, fields: [["For", end]],
    will: () => [
      of.sender ? `Pushes of ${of.sender}, past and future, reload no widget.` : `Its widgets do not reload, also not by exempt reloads${known === undefined ? "" : `: ${widgets(known)}`}.`,
      "Pushes are accepted and wait until they expire. Pushes with the expiration 0 expire at once.",
      until() ? `It ends by itself at ${moment(until())}.` : "It stays paused until an operator resumes it, also after a restart.",
    ],
    request: () => order("pause", of, until() ? { until: until() } : {}),
    done: (answer) => `Paused: ${widgets(answer.matched)}.`,
  };
}

export const resume = (of) => ({
  label: "Resume…", yes: "Resume", title: `Resume ${scopeText(of)}`,
  will: () => ["Pushes that waited are decided again at once, as budgets allow."],
  request: () => order("resume", of),
  done: (answer) => [
    answer.resumed === false ? `Nothing is resumed: ${scopeText(of)} itself was not paused.` : `Resumed: ${widgets(answer.matched)} decided again.`,
    answer.stillPaused?.length ? `Still paused: ${answer.stillPaused.map((one) => scopeText(one.of)).join(", ")}.` : "",
  ].join(" ").trim(),
});

export const cancel = (of, waiting) => ({
  label: "Cancel waiting pushes…", yes: "Cancel them", title: `Cancel waiting pushes: ${scopeText(of)}`,
  will: () => [
    `Pushes that wait for it end as cancelled and reload nothing${waiting === undefined ? "" : `: ${count(waiting)} now`}. This cannot be undone.`,
    "Reloads that are on their way and timelines are not cancelled.",
  ],
  request: () => order("cancel", of), done: (answer) => `Cancelled: ${count(answer.matched)} ${answer.matched === 1 ? "push" : "pushes"} that waited.`,
});

export function grant(of, known) {
  const number = h("input", { type: "number", min: "1", max: "10000", value: "5", required: true });
  return {
    label: "Grant reloads…", yes: "Grant", title: `Grant reloads to ${scopeText(of)}`, fields: [["Reloads each", number]],
    will: () => [
      `Each ${known === undefined ? "of its widgets" : `of ${widgets(known)}`} may reload ${count(Number(number.value))} more times in its current window, also by pushes.`,
      "The pace and the minimum interval stay. This cannot be undone.",
    ],
    request: () => order("grant", of, { count: Number(number.value) }), done: (answer) => `Granted to ${widgets(answer.matched)}.`,
  };
}

export const reloadNow = (of, known) => ({
  label: "Reload now…", yes: "Reload", title: `Reload ${scopeText(of)} now`,
  will: () => [
    `${known === undefined ? "Each of its widgets" : `Each of ${widgets(known)}`} reloads as soon as its budget allows, as if the app had asked for it.`,
    "The reloads are charged, unless they are exempt.",
  ],
  request: () => order("reload", of), done: (answer) => `Asked for: ${widgets(answer.matched)}.`,
});

/// The orders about an app, a kind or a sender.
export const holding = (of, { isPaused, known, waiting } = {}) => [isPaused ? resume(of) : pause(of, known), cancel(of, waiting), ...(of.sender ? [] : [grant(of, known), reloadNow(of, known)])];

// MARK: Other changes

export const tryNow = (body, name, waiting) => ({
  label: "Try now…", yes: "Try now", title: `Try ${name} now`,
  will: () => [`Everything that waits for it is retried at once${waiting === undefined ? "" : `: ${count(waiting)}`}, without a pause after earlier failures.`, "A retry that fails waits again."],
  request: () => ["POST", "/v1/try-now", body],
  done: ({ tried }) => (tried.length === 0 ? "Nothing had failed, so nothing was retried." : `Tried: ${tried.map((one) => `${one.target} of ${one.kind ?? one.app} (${count(one.waiting)} waiting)`).join(", ")}.`),
});

// MARK: Nodes

const place = (action, more) => ["POST", "/v1/cluster/orders", { action, ...more }];

export const drain = (node) => ({
  label: `Drain ${node.name}…`, yes: "Drain", title: `Drain ${node.name}`,
  will: () => [
    `It hands over ${counted(node.partitions, "partition")}, one after the other, and takes none while another node is there.`,
    "It goes on answering. This holds until an operator undoes it, also after a restart.",
  ],
  request: () => place("drain", { node: node.name }), done: () => `Drained: ${node.name} hands over its partitions.`,
});

export const undrain = (node) => ({
  label: `Undrain ${node.name}…`, yes: "Undrain", title: `Undrain ${node.name}`,
  will: () => ["It gets its share of the partitions again, one after the other."],
  request: () => place("undrain", { node: node.name }), done: () => `Undrained: ${node.name} gets its share.`,
});

/// `nodes`: the names of those that may have it.
export function move(partition, nodes) {
  const to = choice([...nodes.map((name) => [name, name]), ["", "By the nodes' names again"]], partition.wished ?? partition.owner ?? "");
  return {
    label: `Move ${partition.partition}…`, yes: "Move", title: `Move partition ${partition.partition}`, fields: [["To", to]],
    will: () => [
      to.value ? `${to.value} has the partition while it runs. If it ends, another node has the partition until it is back.` : "The nodes' names decide which node has the partition.",
      "Decisions of this partition pause while the next owner reads its state; pushes are accepted meanwhile.",
    ],
    request: () => place("move", { partition: partition.partition, ...(to.value ? { to: to.value } : {}) }),
    done: () => (to.value ? `Partition ${partition.partition} moves to ${to.value}.` : `Partition ${partition.partition} moves back.`),
  };
}

export const readConfiguration = (difference) => ({
  label: "Read the configuration again…", yes: "Read it again", title: "Read the configuration again",
  will: () => [...difference(), "If the configuration has a fault, nothing changes."],
  request: () => ["POST", "/v1/config/reload", undefined],
  done: (report) => [`Read: ${report.result}.`, report.restartNeeded?.length ? `These keys need a restart: ${report.restartNeeded.join(", ")}.` : ""].join(" "),
});

const levels = ["trace", "debug", "info", "notice", "warning", "error", "critical"];

export function logLevel(subsystem, present, others) {
  const level = choice(levels.map((one) => [one, one]), present);
  return {
    label: "Change…", yes: "Set the level", title: `Log level of ${subsystem}`, fields: [["Level", level]],
    will: () => [`Messages of ${subsystem} are written from ${level.value} on; now from ${present} on.`, "The level holds until the gateway ends, or until you set it again."],
    request: () => ["PUT", "/v1/log-levels", { levels: { ...others, [subsystem]: level.value } }],
    done: () => `Set: ${subsystem} writes from ${level.value} on.`,
  };
}

export const removeHost = (app, host, instances) => ({
  label: "Remove the host…", yes: "Remove it", title: `Remove ${host} of ${app}`,
  will: () => [`The host and its ${widgets(instances)} are removed; pushes to its tokens are answered 410. If it registers again, it starts from the beginning.`, "This cannot be undone. Its history stays in the log."],
  request: () => ["DELETE", `/v1/hosts/${encodeURIComponent(app)}/${encodeURIComponent(host)}`, undefined],
  done: () => "Removed.",
});
