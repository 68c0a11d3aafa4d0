// The page: it shows a view, feeds it with events and answers, and says so when the gateway does not answer.

import { pauseText } from "./advice.js";
import { actions, resume } from "./actions.js";
import { loadCharts } from "./charts.js";
import { field, h } from "./elements.js";
import { Away, forgetHistory, gateway, operator, Refused } from "./gateway.js";
import { live } from "./live.js";
import { duration, moment, setNow, stamp } from "./numbers.js";
import { startSearch } from "./search.js";
import * as apps from "./apps.js";
import * as cluster from "./cluster.js";
import * as forecast from "./forecast.js";
import * as hosts from "./hosts.js";
import * as instances from "./instances.js";
import * as now from "./now.js";
import * as pushes from "./pushes.js";
import * as senders from "./senders.js";
import * as system from "./system.js";
import * as upstreams from "./upstreams.js";

const views = { now, instances, hosts, pushes, senders, apps, upstreams, forecast, cluster, system };
/// The views that a sender whose key reads sees of its team; the others are about the gateway as a whole.
const ofTeams = ["apps", "instances", "hosts", "pushes", "senders", "upstreams"];
const waits = [1, 2, 4, 8, 15, 30];
/// The page asks for facts that events do not tell every ten seconds; without events, more often.
const often = { live: 10_000, alone: 5000 };

const at = (id) => document.getElementById(id);
const main = at("main");
const absent = new Set();
const memory = new Map();

/// The shown view, since when, and the request or timer that the page waits for.
const state = { view: null, name: "", isLocked: false, seen: null, failures: 0, timer: null, nextTry: null, asking: null };

/// The page's services for its views.
const context = {
  place: [],
  query: {},
  /// A route that this gateway may not have: null then, and not asked again.
  async optional(where, signal) {
    const route = where.split("?")[0];
    if (absent.has(route)) return null;
    try {
      return await gateway.get(where, signal);
    } catch (error) {
      if (!(error instanceof Refused) || error.status !== 404) throw error;
      absent.add(route);
      return null;
    }
  },
  /// An answer that changes slowly, asked for every so many seconds at most.
  async sometimes(where, signal, seconds = 25) {
    const kept = memory.get(where);
    if (kept && Date.now() - kept.at < seconds * 1000) return kept.value;
    const value = await this.optional(where, signal);
    memory.set(where, { at: Date.now(), value });
    return value;
  },
  /// The caller, and its rights.
  session() { return this.sometimes("/v1/session", undefined, 600); },
  /// The same, as far as it is known already.
  who: () => memory.get("/v1/session")?.value,
  /// An answer about the gateway as a whole: null for a sender whose key reads.
  async whole(where, signal, seconds = 0) {
    if ((await this.session()).team) return null;
    return seconds > 0 ? this.sometimes(where, signal, seconds) : gateway.get(where, signal);
  },
  /// The names that there are, to choose from.
  async known() {
    const [one, other] = await Promise.all([this.sometimes("/v1/apps"), this.sometimes("/v1/senders")]);
    return { apps: one?.apps ?? [], senders: other?.senders ?? [] };
  },
  views: () => [...at("views").children].filter((link) => !link.hidden).map((link) => ({ title: link.textContent, href: link.getAttribute("href") })),
  again() { look(); },
  /// Something was changed: the kept answers no longer hold.
  changed() {
    memory.clear();
    look();
  },
};

function say(level, text) {
  at("status").dataset.state = level;
  const words = at("status").querySelector("span");
  if (words.textContent !== text) words.textContent = text;
}

// MARK: Asking

async function look() {
  clearTimeout(state.timer);
  state.asking?.abort();
  const view = state.view;
  if (!view || state.isLocked) return;
  const asking = new AbortController();
  state.asking = asking;
  gateway.partial = null;
  try {
    const [data, orders] = await Promise.all([view.ask(asking.signal), context.sometimes("/v1/orders", asking.signal, 9)]);
    if (asking.signal.aborted) return;
    showOrders(orders?.orders ?? []);
    answered(view, data);
  } catch (error) {
    if (asking.signal.aborted) return;
    missed(error);
  }
}

function answered(view, data) {
  state.failures = 0;
  state.nextTry = null;
  sawAt(data?.stats?.asOf ?? data?.asOf);
  view.show(data);
  main.dataset.shown = state.name;
  main.dataset.shows = String(Number(main.dataset.shows ?? 0) + 1);
  main.classList.remove("old");
  at("banner").hidden = true;
  state.timer = setTimeout(look, view.interval ?? (live.isOn ? often.live : often.alone));
  say("live", live.isOn ? "Live" : "Asking");
  if (!live.asking) listen();
}

function sawAt(instant) {
  if (instant) setNow(instant);
  state.seen = { at: Date.now(), asOf: instant ?? state.seen?.asOf };
  const partial = gateway.partial;
  const lack = partial ? `Only ${partial.answered} of ${partial.of} partitions answered.` : "";
  at("asof").textContent = [state.seen.asOf ? stamp(state.seen.asOf) : "", lack].filter(Boolean).join(" – ");
}

/// Follows the live events, as far as this operator may know them.
async function listen() {
  const session = await context.session().catch(() => null);
  if (session?.team) return;
  const types = ["sample", "configuration", "partition", ...(session?.scopes.includes("admin") ? ["order"] : [])];
  live.start(types, (type, value) => {
    if (type === "sample") {
      // While the page waits for the gateway, a sample says that it is back.
      if (state.nextTry) return look();
      if (!state.seen) return;
      sawAt(value.at);
      state.view.sample?.(value);
    } else {
      context.changed();
    }
  }, (fault) => {
    // The stream began: the kept seconds have no gap then. Or it ended: a request shows whether the gateway is away.
    if (fault instanceof Refused && fault.status !== 401) say("live", "Asking");
    else look();
  });
}

/// Every view shows the pauses at its top: a forgotten pause looks like a fault of something else.
function showOrders(orders) {
  const words = JSON.stringify(orders);
  if (at("orders").dataset.words === words) return;
  at("orders").dataset.words = words;
  at("orders").hidden = orders.length === 0;
  at("orders").replaceChildren(...orders.map((order) => h("div", {}, h("p", {}, pauseText(order)), actions(context, "write", [resume(order.of)]))));
}

function missed(error) {
  if (error instanceof Refused && error.status === 401) {
    const fault = operator.token ? `${error.message[0].toUpperCase()}${error.message.slice(1)}.` : "";
    operator.token = null;
    return askToken(fault);
  }
  if (error instanceof Refused && !state.seen) {
    say("failed", "Refused");
    main.replaceChildren(h("section", { class: "card" }, h("h2", {}, "The gateway gave no reason"), h("p", {}, error.message)));
    return;
  }
  if (!(error instanceof Away) && !(error instanceof Refused)) console.error(error);
  const wait = waits[Math.min(state.failures, waits.length - 1)] * 1000;
  state.failures += 1;
  state.nextTry = Date.now() + wait;
  state.timer = setTimeout(look, wait);
  main.classList.toggle("old", state.seen !== null);
  main.dataset.shown = "";
  at("banner").hidden = false;
  const reason = error instanceof Refused ? error.message : error instanceof Away ? "The gateway does not answer."
    : "This page cannot show the gateway's answer; the browser's console says why.";
  const text = state.seen ? `${reason} This page shows the state at ${moment(state.seen.at)}.` : `${reason} This page has no data yet.`;
  if (at("banner-text").textContent !== text) at("banner-text").textContent = text;
  say("away", "Away");
  tick();
}

/// Redraws the texts that change by themselves: the age of the shown data, the wait until the next try.
function tick() {
  if (!state.nextTry) return;
  const wait = Math.max(0, Math.ceil((state.nextTry - Date.now()) / 1000));
  const age = state.seen ? `${duration(Math.floor((Date.now() - state.seen.at) / 1000) * 1000)} old. ` : "";
  at("banner-next").textContent = `${age}Trying again ${wait > 0 ? `in ${wait} s` : "now"}.`;
}

// MARK: Views

/// Shows the views that this caller may see, once its session is known. A caller without a good token is asked for one: the views' many
/// requests would each be one more refusal of this connection.
async function enter() {
  let session = null;
  try {
    session = await context.session();
  } catch (error) {
    if (error instanceof Refused && error.status === 401) return missed(error);
  }
  const shared = session && !session.team ? await context.sometimes("/v1/cluster", undefined, 9).catch(() => null) : null;
  for (const link of at("views").children) {
    const name = link.getAttribute("href").slice(2);
    link.hidden = session?.team ? !ofTeams.includes(name) : name === "cluster" && !shared?.nodes.length;
  }
  at("team").textContent = session?.team ? `Team ${session.team}` : "";
  route();
}

function route() {
  const shown = context.who()?.team ? ofTeams : Object.keys(views);
  const hash = location.hash || `#/${shown[0]}`;
  if (!hash.startsWith("#/")) return;
  const [places, query = ""] = hash.slice(2).split("?");
  const [name, ...rest] = places.split("/").map(decodeURIComponent);
  const module = shown.includes(name) && views[name];
  if (!module) {
    location.replace(`#/${shown[0]}`);
    return;
  }
  for (const link of at("views").children) {
    if (link.getAttribute("href") === `#/${name}`) {
      link.setAttribute("aria-current", "page");
      // The strip of views on a phone shows where one is.
      at("views").scrollLeft = link.offsetLeft - (at("views").clientWidth - link.offsetWidth) / 2;
    } else link.removeAttribute("aria-current");
  }
  // A filter that was changed keeps the keyboard.
  const key = name === state.name ? document.activeElement?.dataset.key : null;
  for (const chart of state.view?.charts ?? []) chart.close();
  Object.assign(context, { place: rest, query: Object.fromEntries(new URLSearchParams(query)) });
  Object.assign(state, { seen: null, failures: 0, nextTry: null, name, isLocked: false });
  main.dataset.shown = "";
  at("banner").hidden = true;
  const opened = module.open({ ...context });
  state.view = opened;
  at("title").textContent = opened.title ?? module.title;
  at("subtitle").replaceChildren(opened.subtitle ?? "");
  document.title = `${opened.title ?? module.title} · Freshet`;
  main.classList.remove("old");
  main.replaceChildren(opened.element);
  if (key) [...main.querySelectorAll("[data-key]")].find((one) => one.dataset.key === key)?.focus({ preventScroll: true });
  look();
}

/// The token is asked for once a tab; it is kept by this tab only.
function askToken(fault) {
  clearTimeout(state.timer);
  live.stop();
  state.isLocked = true;
  say("waiting", "Locked");
  at("title").textContent = "Locked";
  at("subtitle").replaceChildren();
  main.dataset.shown = "";
  at("banner").hidden = true;
  const input = h("input", { type: "password", autocomplete: "off", required: true, spellcheck: "false", id: "token" });
  const message = h("p", { class: "fault", role: "alert" }, fault);
  const form = h("form", {
    class: "card token",
    on: {
      submit: (event) => {
        event.preventDefault();
        operator.token = input.value.trim();
        forgetHistory();
        absent.clear();
        memory.clear();
        enter().then(() => { if (!state.isLocked) main.focus(); });
      },
    },
  }, h("h2", {}, "Token"),
  h("p", {}, "This gateway asks operators for a token. On its machine, `freshet dashboard` prints an address that contains the token. Senders whose key reads get one from `freshet dashboard --key`, valid for an hour. The page keeps the token until you close this tab."),
  field("Token", input), message, h("button", { type: "submit", class: "primary" }, "Open"));
  main.replaceChildren(form);
  input.focus();
}

async function sayVersion() {
  try {
    const version = await gateway.get("/version");
    at("version").textContent = `Freshet ${version.version}`;
  } catch { /* The views say that the gateway is away. */ }
}

addEventListener("hashchange", () => {
  if (!operator.takeFrom(location)) return route();
  forgetHistory();
  memory.clear();
  enter();
});
at("banner-retry").addEventListener("click", () => look());
at("status").addEventListener("click", () => look());
document.addEventListener("visibilitychange", () => {
  // A page that is not looked at asks nothing.
  if (document.hidden) {
    clearTimeout(state.timer);
    state.asking?.abort();
    live.stop();
  } else look();
});
setInterval(tick, 1000);
operator.takeFrom(location);
await loadCharts();
document.documentElement.dataset.tables = String(!globalThis.Chart);
startSearch(context);
await enter();
sayVersion();
