// One box that finds everything: a host, a widget, a push, a kind, an app, a sender, a view.

import { h, to } from "./elements.js";
import { gateway, path, Refused } from "./gateway.js";
import { count } from "./numbers.js";

const pause = 150;
const foundMax = 12;
const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;
const hex = /^([0-9a-f]{2}){8,}$/i;

/// The gateway's answer; null if it does not know the thing.
async function ifThere(where, signal) {
  try {
    return await gateway.get(where, signal);
  } catch (error) {
    if (error instanceof Refused && (error.status === 404 || error.status === 400)) return null;
    throw error;
  }
}

/// The finds of the gateway's own look-ups: `{ type, name, about, href }`.
async function lookUp(text, signal) {
  const found = [];
  if (uuid.test(text)) {
    const push = await ifThere(`/v1/pushes/${text.toLowerCase()}`, signal);
    if (push) found.push({ type: "Push", name: push.id, about: `${push.app ?? push.team}${push.kind ? `, ${push.kind}` : ""}`, href: to("pushes", [push.id]) });
  }
  // <app>/<host>:<instance>, <host>:<instance>, <app>/<host> or <host>; all of a token.
  const slash = text.indexOf("/");
  const app = slash > 0 ? text.slice(0, slash) : undefined;
  const rest = text.slice(slash + 1);
  // The first colon ends the host's id; an instance's may have colons itself.
  const colon = rest.indexOf(":");
  const asked = [colon > 0 ? { app, host: rest.slice(0, colon), instance: rest.slice(colon + 1) } : { app, host: rest }];
  if (hex.test(text)) asked.push({ token: text });
  for (const { instance, ...query } of asked) {
    const answer = await ifThere(path("/v1/hosts", query), signal);
    for (const host of answer?.hosts ?? []) {
      if (instance === undefined) {
        found.push({ type: "Host", name: host.host, about: `${host.app}, ${count(host.instances)} widgets`, href: to("hosts", [host.app, host.host]) });
        continue;
      }
      const rows = (await ifThere(path("/v1/instances", { app: host.app, host: host.host }), signal))?.instances ?? [];
      for (const row of rows.filter((one) => one.id.slice(`${host.app}/${host.host}:`.length).startsWith(instance))) {
        found.push({ type: "Widget", name: row.id, about: row.kind, href: to("instances", [row.id]) });
      }
    }
  }
  return found;
}

/// The finds among the names that are known already.
function known(text, { apps, senders }, views) {
  const wanted = text.toLowerCase();
  const has = (name) => name.toLowerCase().includes(wanted);
  return [
    ...views.filter((one) => one.title.toLowerCase().startsWith(wanted)).map((one) => ({ type: "View", name: one.title, about: "", href: one.href })),
    ...apps.filter((one) => has(one.app)).map((one) => ({ type: "App", name: one.app, about: `${count(one.hosts)} hosts`, href: to("apps", [], { app: one.app }) })),
    ...apps.flatMap((one) => one.kinds.filter(has).map((kind) => ({ type: "Kind", name: kind, about: one.app, href: to("instances", [], { app: one.app, kind }) }))),
    ...senders.filter((one) => has(one.team)).map((one) => ({ type: "Sender", name: one.team, about: `${count(one.pushes)} pushes`, href: to("pushes", [], { sender: one.team }) })),
  ];
}

/// Lets the box at the top find things; `/` brings the keyboard to it.
export function startSearch(context) {
  const form = document.getElementById("search");
  const input = document.getElementById("find");
  const list = document.getElementById("found");
  const note = document.getElementById("found-note");
  let rows = [];
  let chosen = -1;
  let asking = null;
  let timer = null;

  function close() {
    clearTimeout(timer);
    asking?.abort();
    rows = [];
    show("");
  }

  function show(text) {
    chosen = rows.length > 0 ? Math.max(0, Math.min(chosen, rows.length - 1)) : -1;
    list.hidden = rows.length === 0;
    input.setAttribute("aria-expanded", String(rows.length > 0));
    list.replaceChildren(...rows.map((row, index) => h("div", {
      id: `found-${index}`, role: "option", "aria-selected": String(index === chosen),
      on: { mousedown: (event) => { event.preventDefault(); go(row); } },
    }, h("span", { class: "soft" }, row.type), h("b", { class: "id" }, row.name), h("span", { class: "soft" }, row.about))));
    if (chosen >= 0) input.setAttribute("aria-activedescendant", `found-${chosen}`);
    else input.removeAttribute("aria-activedescendant");
    note.textContent = text;
  }

  function go(row) {
    input.value = "";
    close();
    location.hash = row.href;
    document.getElementById("main").focus();
  }

  async function find() {
    const text = input.value.trim();
    asking?.abort();
    chosen = -1;
    if (!text) return close();
    const own = asking = new AbortController();
    try {
      rows = known(text, await context.known(), context.views()).slice(0, foundMax);
      show("Still searching…");
      const more = await lookUp(text, own.signal);
      if (own.signal.aborted) return;
      rows = [...more, ...rows].slice(0, foundMax);
      show(rows.length > 0 ? "" : "Nothing has this name. Give the whole name of a host or a token; a part is enough for everything else.");
    } catch (error) {
      if (!own.signal.aborted) show(error.message);
    }
  }

  input.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(find, pause);
  });
  input.addEventListener("blur", close);
  input.addEventListener("keydown", (event) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step && rows.length > 0) {
      event.preventDefault();
      chosen = (chosen + step + rows.length) % rows.length;
      show(note.textContent);
    } else if (event.key === "Escape") {
      input.value = "";
      close();
    }
  });
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    if (chosen < 0) await find();
    if (chosen >= 0) go(rows[chosen]);
  });
  addEventListener("keydown", (event) => {
    const isTyping = event.target.closest?.("input, textarea, select, dialog");
    if (event.key !== "/" || isTyping || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    input.focus();
    input.select();
  });
}
