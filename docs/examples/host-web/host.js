// A widget host in a web page: it registers its widgets, reads its event stream with fetch(), draws timelines, and
// reports the shown entries.
//
// Its settings follow the # of its address; browsers send that part to no server:
//   #gateway=https://localhost:8443&app=com.example.scores&token=<push token, hex>&credential=<host credential>

import { draw } from "./widgets.js";

const settings = Object.fromEntries(new URLSearchParams(location.hash.slice(1)));
const widgets = [
  { id: "seahawks", kind: "scores", family: "systemMedium", configuration: { team: "seahawks" } },
  { id: "bears", kind: "scores", family: "systemMedium", configuration: { team: "bears" } },
  { id: "panda", kind: "character", family: "systemSmall", configuration: { character: "panda" } },
  { id: "spouty", kind: "character", family: "systemSmall", configuration: { character: "spouty" } },
];
const eventsShown = 6;
const missing = ["gateway", "app", "token", "credential"].filter((name) => !settings[name]);

// An error that another try does not mend.
class Refusal extends Error {}

function call(method, route, { body, ...options } = {}) {
  return fetch(`${settings.gateway}/v1/hosts/${settings.token}/${route}`, {
    method,
    headers: { authorization: `bearer ${settings.credential}`, ...options.headers },
    body: body && JSON.stringify(body),
    cache: "no-store",
    ...(options.signal && { signal: options.signal }),
  });
}

function say(state, text) {
  const status = document.getElementById("status");
  status.dataset.state = state;
  status.querySelector("span").textContent = text;
}

function log(text) {
  const list = document.getElementById("events");
  const item = document.createElement("li");
  for (const part of [text, new Date().toLocaleTimeString()]) {
    item.append(Object.assign(document.createElement("span"), { textContent: part }));
  }
  list.prepend(item);
  while (list.children.length > eventsShown) list.lastChild.remove();
}

async function register() {
  const answer = await call("PUT", "widgets", {
    body: {
      app: settings.app,
      revision: Date.now(),
      context: {
        displaySize: { width: 340, height: 160 },
        locale: navigator.language,
        timeZone: Intl.DateTimeFormat().resolvedOptions().timeZone,
        environmentVariants: { colorScheme: ["light", "dark"] },
      },
      instances: widgets,
    },
  });
  await check(answer);
}

// Throws for a refusal: a final error, or one to try again after.
async function check(answer) {
  if (answer.ok) return;
  const problem = await answer.json().catch(() => ({}));
  const isForNow = answer.status >= 500 || answer.status === 429;
  throw new (isForNow ? Error : Refusal)(problem.detail ?? `The gateway answered with status ${answer.status}.`);
}

// Draws an entry, and reports to the gateway that it is shown. The gateway measures the news's age by that report.
async function show(entry) {
  if (!draw(entry)) return;
  log(`${entry.instance}: new entry`);
  if (!entry.reload) return;
  await call("POST", "signals", {
    body: { signal: "entryShown", reload: entry.reload, date: entry.date },
  });
}

async function readState() {
  const state = await (await call("GET", "state")).json();
  for (const placeholder of state.placeholders ?? []) draw(placeholder);
  for (const timeline of state.entries ?? []) {
    const current = timeline.entries.filter((entry) => Date.parse(entry.date) <= Date.now()).at(-1);
    if (current) await show({ ...timeline, ...current });
  }
}

const handlers = {
  placeholder: draw,
  entry: show,
  gap: readState,
  // A kind without a timeline provider: this host cannot reload it, and reports that.
  reload: (reload) =>
    call("POST", "signals", {
      body: { signal: "refused", reload: reload.id, reason: "this host draws what providers make" },
    }),
};

// Server-Sent Events by fetch(): EventSource can send a credential only in the address.
async function* events(response, place) {
  let text = "";
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    text += value;
    const blocks = text.split("\n\n");
    text = blocks.pop();
    for (const block of blocks) {
      const event = { name: "message", data: "" };
      for (const line of block.split("\n")) {
        const [field, rest] = [line.split(":", 1)[0], line.slice(line.indexOf(":") + 1).trimStart()];
        if (field === "id") place.id = rest;
        else if (field === "retry") place.retry = Number(rest);
        else if (field === "event") event.name = rest;
        else if (field === "data") event.data += rest;
      }
      if (event.data) yield event;
    }
  }
}

async function follow() {
  const place = { id: "", retry: 1000 };
  let isRegistered = false;
  for (;;) {
    try {
      if (!isRegistered) await register();
      isRegistered = true;
      const headers = place.id ? { "last-event-id": place.id } : {};
      const response = await call("GET", "events", { headers });
      // The gateway has lost the host: register it again.
      isRegistered = response.status !== 404;
      if (isRegistered) await check(response);
      else throw new Error("The gateway does not know this host any more.");
      say("live", "Live");
      for await (const event of events(response, place)) {
        await handlers[event.name]?.(JSON.parse(event.data));
      }
    } catch (error) {
      console.warn(error);
      if (error instanceof Refusal) return say("failed", error.message);
    }
    say("waiting", isRegistered ? "Reconnecting" : "Waiting for the gateway");
    await new Promise((resolve) => setTimeout(resolve, place.retry));
  }
}

document.getElementById("today").textContent = new Date().toLocaleDateString(undefined, {
  weekday: "long", month: "long", day: "numeric",
});
for (const widget of widgets) draw({ instance: widget.id, content: null, kind: widget.kind, configuration: widget.configuration });
if (missing.length > 0) {
  say("failed", `The address has no ${missing.join(", ")} behind the #: see README.md`);
} else {
  await follow();
}
