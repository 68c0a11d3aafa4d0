// A gateway for tests of a sender, whose clock the test moves. Node.js only; it needs `freshet` on the PATH and freshet.yaml in
// the working directory.
import { execFileSync, spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { request } from "node:https";
import { createInterface } from "node:readline";

const [app, team, kid] = ["com.example.scores", "A1B2C3D4E5", "F6G7H8J9K0"];

export class Gateway {
  // Starts one in memory, on ports that the system chooses.
  static async start() {
    const gateway = new Gateway();
    execFileSync("freshet", ["certs", "--out", "certs"]);
    const mint = ["token", "mint", "--header", "--key", "certs/provider-key.p8", "--kid", kid, "--team", team];
    gateway.authorization = execFileSync("freshet", mint, { encoding: "utf8" }).trim().replace("authorization: ", "");
    gateway.ca = readFileSync("certs/ca.pem");
    const settings = ["ops.open=true", "log.format=json", ...["push", "host", "ops"].map((name) => `listeners.${name}.port=0`)];
    const options = ["serve", "--config", "freshet.yaml", "--in-memory", "--movable-clock"];
    gateway.process = spawn("freshet", [...options, ...settings.map((setting) => `--set=${setting}`)],
                            { stdio: ["ignore", "ignore", "pipe"] });
    const log = [];
    gateway.ports = await new Promise((resolve, reject) => {
      createInterface({ input: gateway.process.stderr }).on("line", (line) => {
        log.push(line);
        const entry = line.startsWith("{") ? JSON.parse(line) : {};
        if (entry.message === "ready") resolve(entry);
      });
      gateway.process.on("exit", () => reject(new Error(`the gateway did not start:\n${log.join("\n")}`)));
    });
    // The settings of the sender under test.
    gateway.environment = { GATEWAY: `https://localhost:${gateway.ports.push}`, CA: "certs/ca.pem", APP: app,
                            KEY: "certs/provider-key.p8", KID: kid, TEAM: team };
    return gateway;
  }

  stop() {
    return new Promise((resolve) => this.process.on("exit", resolve).kill());
  }

  // Status and JSON of a route's answer; the host and ops listeners speak HTTP/1.1, too.
  call(method, listener, path, body) {
    return new Promise((resolve, reject) => {
      const headers = { authorization: this.authorization, "content-type": "application/json" };
      request({ method, host: "localhost", port: this.ports[listener], path, headers, ca: this.ca }, async (answer) => {
        let text = "";
        for await (const part of answer) text += part;
        resolve({ status: answer.statusCode, json: text ? JSON.parse(text) : {} });
      }).on("error", reject).end(body && JSON.stringify(body));
    });
  }

  // Moves the clock; all events until then happen.
  advance(minutes) {
    return this.call("POST", "ops", "/v1/clock", { advance: Math.round(minutes * 60) });
  }

  // A host that shows these widgets. `host` is its push token in hex.
  register(host, ...instances) {
    return this.call("PUT", "host", `/v1/hosts/${host}/widgets`, { app, instances });
  }

  // The host does its reloads; returns their number.
  async reload(host) {
    const told = (await this.call("GET", "host", `/v1/hosts/${host}/state`)).json.outstanding ?? [];
    const signals = told.map(({ id }) => ({ signal: "reloaded", reload: id }));
    if (told.length) await this.call("POST", "host", `/v1/hosts/${host}/signals`, { signals });
    return told.length;
  }

  // The outcomes of a push: { reloaded: 2, deferred: 1 }.
  async outcomes(push) {
    for (;;) {
      const { status, json } = await this.call("GET", "ops", `/v1/pushes/${push}`);
      if (status === 200 && json.appliedBy === json.partitions) return json.outcomes;
      if (status !== 200 && status !== 404) throw new Error(`${status} ${JSON.stringify(json)}`);
      await new Promise((resolve) => setTimeout(resolve, 10)); // It is accepted, and applied in a moment.
    }
  }
}
