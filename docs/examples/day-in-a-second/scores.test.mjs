// Tests of a sender, here ../senders/sender.mjs, that show in a second the outcome of its pushes in hours.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import { Gateway } from "./gateway.mjs";

const sender = fileURLToPath(new URL("../senders/sender.mjs", import.meta.url));
const host = "17".repeat(32);
let gateway;

function send(match) {
  const environment = { ...process.env, ...gateway.environment };
  const said = execFileSync("node", [sender, "scores", JSON.stringify(match)], { encoding: "utf8", env: environment });
  return said.trim().replace("accepted ", "");
}

before(async () => {
  gateway = await Gateway.start();
  await gateway.register(host, { id: "w1", kind: "scores", family: "systemSmall", configuration: { team: "seahawks" } });
  await gateway.reload(host);
});
after(() => gateway.stop());

test("a goal reloads the widget, a second one two minutes later waits", async () => {
  const first = send({ team: ["seahawks"] });
  assert.equal(await gateway.reload(host), 1);
  await gateway.advance(2);
  const second = send({ team: ["seahawks"] });
  assert.deepEqual(await gateway.outcomes(second), { deferred: 1 });
  await gateway.advance(4);
  assert.equal(await gateway.reload(host), 1);
  for (const push of [first, second]) assert.deepEqual(await gateway.outcomes(push), { reloaded: 1 });
});
