// The page: which view is shown, asking again and again, and saying so when the gateway does not answer.

import { loadCharts } from "./charts.js";
import { field, h } from "./elements.js";
import { Away, forgetHistory, gateway, operator, Refused } from "./gateway.js";
import { pauseText } from "./advice.js";
import { duration, time } from "./numbers.js";
import * as budget from "./budget.js";
import * as forecast from "./forecast.js";
import * as hosts from "./hosts.js";
import * as instance from "./instance.js";
import * as now from "./now.js";
import * as push from "./push.js";
import * as senders from "./senders.js";
import * as system from "./system.js";
import * as upstreams from "./upstreams.js";

const views = { now, budget, instances: instance, pushes: push, senders, upstreams, hosts, forecast, system };
const waits = [1, 2, 4, 8, 15, 30];

const at = (id) => document.getElementById(id);
const main = at("main");
const absent = new Set();
const memory = new Map();

/// What is shown, since when, and what is waited for.
const state = { view: null, name: "", isLocked: false, seen: null, failures: 0, timer: null, nextTry: null, asking: null };

/// What views may ask of the page.
const context = {
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
  /// What changes slowly, asked for every five seconds at most.
  async sometimes(where, signal) {
    const kept = memory.get(where);
    if (kept && Date.now() - kept.at < 5000) return kept.value;
    const value = await this.optional(where, signal);
    memory.set(where, { at: Date.now(), value });
    return value;
  },
  again() { look(); },
  place: [],
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
  try {
    const [data, orders] = await Promise.all([view.ask(asking.signal), context.sometimes("/v1/orders", asking.signal)]);
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
  state.seen = { at: Date.now(), asOf: data?.stats?.asOf ?? data?.asOf };
  state.nextTry = null;
  view.show(data);
  main.dataset.shown = state.name;
  main.dataset.shows = String(Number(main.dataset.shows ?? 0) + 1);
  main.classList.remove("old");
  at("banner").hidden = true;
  say("live", "Live");
  at("asof").textContent = state.seen.asOf ? `as of ${time(state.seen.asOf)}` : "";
  state.timer = setTimeout(look, view.interval);
}

/// What is paused is said above every view: a pause that was forgotten looks like a fault of something else.
function showOrders(orders) {
  at("orders").hidden = orders.length === 0;
  at("orders").replaceChildren(...orders.map((order) => h("p", {}, pauseText(order))));
}

function missed(error) {
  if (error instanceof Refused && error.status === 401) {
    const fault = operator.token ? "That token is not known to this gateway." : "";
    operator.token = null;
    return askToken(fault);
  }
  if (error instanceof Refused && !state.seen) {
    say("failed", "Refused");
    main.replaceChildren(h("section", { class: "card" }, h("h2", {}, "The gateway will not say"), h("p", {}, error.message)));
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
    : "This page cannot show what the gateway answers; the console has the reason.";
  const text = state.seen ? `${reason} What is shown here is from ${time(state.seen.at)}.` : `${reason} Nothing is known yet.`;
  if (at("banner-text").textContent !== text) at("banner-text").textContent = text;
  say("away", "Away");
  tick();
}

/// What grows by itself: the age of what is shown, the wait until the next try.
function tick() {
  if (!state.nextTry) return;
  const wait = Math.max(0, Math.ceil((state.nextTry - Date.now()) / 1000));
  const age = state.seen ? `${duration(Math.floor((Date.now() - state.seen.at) / 1000) * 1000)} old. ` : "";
  at("banner-next").textContent = `${age}Trying again ${wait > 0 ? `in ${wait} s` : "now"}.`;
}

// MARK: Views

function route() {
  const hash = location.hash || "#/now";
  if (!hash.startsWith("#/")) return;
  const [name, ...rest] = hash.slice(2).split("/").map(decodeURIComponent);
  const module = views[name];
  if (!module) {
    location.replace("#/now");
    return;
  }
  for (const link of at("views").children) {
    if (link.getAttribute("href") === `#/${name}`) {
      link.setAttribute("aria-current", "page");
      // The strip of views on a phone shows where one is.
      at("views").scrollLeft = link.offsetLeft - (at("views").clientWidth - link.offsetWidth) / 2;
    } else link.removeAttribute("aria-current");
  }
  for (const chart of state.view?.charts ?? []) chart.close();
  context.place = rest;
  state.seen = null;
  state.failures = 0;
  state.nextTry = null;
  state.name = name;
  main.dataset.shown = "";
  at("banner").hidden = true;
  const opened = module.open(context);
  state.view = { interval: module.interval ?? 5000, ...opened };
  at("title").textContent = opened.title ?? module.title;
  at("subtitle").replaceChildren(opened.subtitle ?? "");
  document.title = `${opened.title ?? module.title} · Freshet`;
  state.isLocked = false;
  main.classList.remove("old");
  main.replaceChildren(opened.element);
  look();
}

/// The token is asked for once a tab; it is kept by this tab only.
function askToken(fault) {
  clearTimeout(state.timer);
  state.isLocked = true;
  say("waiting", "Locked");
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
        route();
        main.focus();
      },
    },
  }, h("h2", {}, "Operator token"),
  h("p", {}, "This gateway asks operators for a token. Where it runs, `freshet dashboard` prints an address that brings one along. It stays in this tab and ends with it."),
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
  operator.takeFrom(location);
  route();
});
at("banner-retry").addEventListener("click", () => look());
document.addEventListener("visibilitychange", () => {
  // A page that nobody sees asks nothing.
  if (document.hidden) {
    clearTimeout(state.timer);
    state.asking?.abort();
  } else look();
});
setInterval(tick, 1000);
operator.takeFrom(location);
await loadCharts();
document.documentElement.dataset.tables = String(!globalThis.Chart);
route();
sayVersion();
