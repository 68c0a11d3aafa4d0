// Asking the gateway. The operator's token lives in this tab's session storage and travels in a header only.

const tokenKey = "freshet.operator-token";
const patience = 10_000;

/// Nobody answered, or not in time.
export class Away extends Error {}

/// The gateway answered that it will not: a problem with a stable code.
export class Refused extends Error {
  constructor(status, problem) {
    super(problem.detail ?? `The gateway answered with status ${status}.`);
    this.status = status;
    this.code = problem.code ?? "";
    this.path = problem.path;
  }
}

export const operator = {
  get token() { return sessionStorage.getItem(tokenKey); },
  set token(value) {
    if (value) sessionStorage.setItem(tokenKey, value);
    else sessionStorage.removeItem(tokenKey);
  },
  /// Takes the token that an address carries behind the #, and takes it out of the address and of the tab's history.
  takeFrom(address) {
    if (!address.hash.startsWith("#token=")) return;
    this.token = new URLSearchParams(address.hash.slice(1)).get("token");
    globalThis.history.replaceState(null, "", address.pathname);
  },
};

async function request(method, path, body, signal) {
  const headers = { accept: "application/json" };
  if (operator.token) headers.authorization = `bearer ${operator.token}`;
  if (body !== undefined) headers["content-type"] = "application/json";
  const signals = [AbortSignal.timeout(patience)];
  if (signal) signals.push(signal);
  let response, text;
  try {
    response = await fetch(path, {
      method, headers, cache: "no-store", credentials: "omit", signal: AbortSignal.any(signals),
      body: body === undefined ? undefined : JSON.stringify(body),
    });
    text = await response.text();
  } catch (error) {
    if (signal?.aborted) throw error;
    throw new Away("The gateway does not answer.");
  }
  let value = {};
  try { value = text ? JSON.parse(text) : {}; } catch { /* Something else than JSON stands for an empty answer. */ }
  if (response.ok) return value;
  if (response.status >= 502 && response.status !== 503) throw new Away("Something before the gateway does not reach it.");
  throw new Refused(response.status, value);
}

/// The path with those query items that have a value.
export function path(base, query = {}) {
  const items = Object.entries(query).filter(([, value]) => value !== undefined && value !== null && value !== "");
  return items.length ? `${base}?${new URLSearchParams(items)}` : base;
}

export const gateway = {
  get: (where, signal) => request("GET", where, undefined, signal),
  post: (where, body, signal) => request("POST", where, body, signal),
};

// What the gateway has counted, second by second for ten minutes or minute by minute for a day: asked for once, then
// only for what is new.
const kept = { second: 600, minute: 1440 };
const histories = new Map();
const minuteChanges = 20_000;

export async function history(step, signal) {
  const before = histories.get(step);
  if (step === "minute" && before && Date.now() - before.askedAt < minuteChanges) return before;
  const known = before?.samples ?? [];
  const last = known.at(-1)?.at;
  const answer = await gateway.get(path("/v1/history", { step, after: last }), signal);
  const fresh = answer.samples.filter((sample) => !last || sample.at > last);
  const all = [...known, ...fresh].slice(-kept[step]);
  const now = { askedAt: Date.now(), samples: all };
  histories.set(step, now);
  return now;
}

export function forgetHistory() { histories.clear(); }
