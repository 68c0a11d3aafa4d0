// Asking the gateway. The operator's token lives in this tab's session storage and travels in a header only.

const tokenKey = "freshet.operator-token";
const patience = 10_000;

/// The gateway did not answer, or not in time.
export class Away extends Error {}

/// The gateway answered that it will not: a problem with a stable code.
export class Refused extends Error {
  constructor(status, problem) {
    super(problem.detail ?? `The gateway answered with status ${status}.`);
    this.status = status;
    this.code = problem.code ?? "";
    this.path = problem.path;
    this.answer = problem;
  }
}

export const operator = {
  get token() { return sessionStorage.getItem(tokenKey); },
  set token(value) {
    if (value) sessionStorage.setItem(tokenKey, value);
    else sessionStorage.removeItem(tokenKey);
  },
  /// Takes the token that an address carries behind the #, and takes it out of the address and of the tab's history; whether it had one.
  takeFrom(address) {
    if (!address.hash.startsWith("#token=")) return false;
    this.token = new URLSearchParams(address.hash.slice(1)).get("token");
    globalThis.history.replaceState(null, "", address.pathname);
    return true;
  },
};

/// Sends a request; the answer's status may be any.
async function send(method, where, body, signal, accept = "application/json") {
  const headers = { accept };
  if (operator.token) headers.authorization = `bearer ${operator.token}`;
  if (body !== undefined) headers["content-type"] = "application/json";
  return fetch(where, {
    method, headers, cache: "no-store", credentials: "omit", signal, body: body === undefined ? undefined : JSON.stringify(body),
  });
}

async function problem(response, text) {
  let value = {};
  try { value = text ? JSON.parse(text) : {}; } catch { /* Something else than JSON stands for an empty answer. */ }
  if (value.partial) gateway.partial = value.partial;
  if (response.ok) return value;
  if (response.status >= 502 && response.status !== 503) throw new Away("A proxy answers, but does not reach the gateway.");
  throw new Refused(response.status, value);
}

async function request(method, where, body, signal) {
  const signals = [AbortSignal.timeout(patience)];
  if (signal) signals.push(signal);
  let response, text;
  try {
    response = await send(method, where, body, AbortSignal.any(signals));
    text = await response.text();
  } catch (error) {
    if (signal?.aborted) throw error;
    throw new Away("The gateway does not answer.");
  }
  return problem(response, text);
}

/// The path with those query items that have a value.
export function path(base, query = {}) {
  const items = Object.entries(query).filter(([, value]) => value !== undefined && value !== null && value !== "");
  return items.length ? `${base}?${new URLSearchParams(items)}` : base;
}

export const gateway = {
  get: (where, signal) => request("GET", where, undefined, signal),
  post: (where, body, signal) => request("POST", where, body, signal),
  send: (method, where, body) => request(method, where, body),
};

/// Follows `/v1/events` until the stream ends: `tell(type, value)` for each event.
///
/// - Throws: `Refused` if it does not begin.
export async function follow(types, tell, signal) {
  const response = await send("GET", path("/v1/events", { types: types.join(",") }), undefined, signal, "text/event-stream");
  if (!response.ok) await problem(response, await response.text());
  let rest = "";
  for await (const part of chunks(response.body.getReader())) {
    const events = (rest + part).split("\n\n");
    rest = events.pop();
    for (const event of events) {
      const lines = event.split("\n");
      const of = (name) => lines.find((line) => line.startsWith(`${name}: `))?.slice(name.length + 2);
      const data = of("data");
      if (data) tell(of("event"), JSON.parse(data));
    }
  }
}

async function* chunks(reader) {
  const decoder = new TextDecoder();
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    yield decoder.decode(value, { stream: true });
  }
}

// The gateway's counts: second by second for ten minutes, minute by minute for a day, hour by hour for thirty days. Seconds are asked for
// once and then come as events; minutes and hours are asked for again when there can be new ones.
const kept = new Map();
const askedEvery = { second: 0, minute: 30_000, hour: 60_000 };
const secondsMax = 600;

export async function history(step, isLive, signal) {
  const before = kept.get(step);
  const isFresh = before && (step === "second" ? isLive : Date.now() - before.at < askedEvery[step]);
  if (isFresh) return before.samples;
  const last = step === "hour" ? undefined : before?.samples.at(-1)?.at;
  const answer = await gateway.get(path("/v1/history", { step, after: last }), signal);
  const known = last ? kept.get(step).samples : [];
  const newest = known.at(-1)?.at ?? "";
  const samples = [...known, ...answer.samples.filter((sample) => sample.at > newest)].slice(-1440);
  kept.set(step, { at: Date.now(), samples });
  return samples;
}

/// Takes a sample that came as an event.
export function keepSample(sample) {
  const seconds = kept.get("second");
  if (!seconds || seconds.samples.at(-1)?.at >= sample.at) return;
  seconds.samples = [...seconds.samples, sample].slice(-secondsMax);
}

/// The costs of senders by the hour, asked for every so many seconds at most: all of them once, then the newest one and those after it.
export async function senderHours(signal, seconds = 9) {
  const before = kept.get("senders");
  if (before && Date.now() - before.at < seconds * 1000) return before.hours;
  const whole = before?.hours.slice(0, -1) ?? [];
  const answer = await gateway.get(path("/v1/history/senders", { after: whole.at(-1)?.until }), signal);
  const hours = [...whole, ...answer.hours].slice(-720);
  kept.set("senders", { at: Date.now(), hours });
  return hours;
}

export const forgetHistory = () => kept.clear();
