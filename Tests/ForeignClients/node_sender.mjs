// Sends widget pushes with Node.js' http2 over one connection: so many at once, then so many a second. Prints their
// outcome as one JSON object.

import { readFileSync } from "node:fs";
import { connect } from "node:http2";

const told = Object.fromEntries(process.argv.slice(2).map((argument) => {
  const [name, ...value] = argument.replace(/^--/, "").split("=");
  return [name, value.join("=")];
}));
const body = JSON.stringify({ aps: { "content-changed": true } });
const session = connect(`https://localhost:${told.port}`, { ca: readFileSync(told.ca) });
// Whatever ends the session ends its streams, each of which says why.
let end = "";
session.on("error", (error) => { end = `${error.code}`; });
session.on("goaway", (code, last, data) => { end = `GOAWAY ${code} ${data ?? ""}`; });

/// Resolves to nothing for a push that was answered 200, else to what it was.
function push() {
  return new Promise((resolve) => {
    let status = 0;
    let stream;
    try {
      stream = session.request({
        ":method": "POST", ":path": `/3/device/${told.token}`, "apns-topic": told.topic, "apns-push-type": "widgets",
        authorization: `bearer ${told.bearer}`,
      });
    } catch (error) {
      return resolve(`${error.code} ${end}`);
    }
    let fault = "";
    stream.on("response", (headers) => { status = headers[":status"]; });
    stream.on("error", (error) => { fault = error.code ?? `${error}`; });
    stream.on("close", () => resolve(fault ? `${fault} ${end}` : status === 200 ? "" : `${status} ${end}`));
    stream.resume();
    stream.end(body);
  });
}

function tally(faults) {
  const lost = {};
  for (const fault of faults) if (fault) lost[fault] = (lost[fault] ?? 0) + 1;
  return { sent: faults.length, lost };
}

// Before the SETTINGS have come it is not known how many streams may be open.
await new Promise((resolve) => session.once("remoteSettings", resolve));
const atOnce = tally(await Promise.all(Array.from({ length: Number(told.burst) }, push)));

// A client that cannot keep up is not waited for: pushes that are late are left out.
const pushes = [];
const start = performance.now();
await new Promise((resolve) => {
  const [rate, seconds] = [Number(told.rate), Number(told.seconds)];
  const timer = setInterval(() => {
    const passed = (performance.now() - start) / 1000;
    const due = Math.min(rate * seconds, Math.floor(passed * rate));
    if (passed < seconds) while (pushes.length < due) pushes.push(push());
    if (passed >= seconds || pushes.length === rate * seconds) { clearInterval(timer); resolve(); }
  }, 5);
});
const steady = tally(await Promise.all(pushes));
console.log(JSON.stringify({ burst: atOnce, steady }));
session.close();
