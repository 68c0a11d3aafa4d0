// Sends a targeted push from Node.js without dependencies: sender.mjs KIND MATCH. Settings: GATEWAY, CA, APP, KEY, KID, TEAM.
import { connect } from "node:http2";
import { createPrivateKey, randomUUID, sign } from "node:crypto";
import { readFileSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";

const { GATEWAY = "https://localhost:2197", CA, APP, KEY, KID, TEAM } = process.env;
const key = createPrivateKey(readFileSync(KEY));
const token = { text: "", minted: -Infinity };

function authorization() {
  // A token is valid for an hour. Renew it every 20 minutes at most.
  if (performance.now() - token.minted > 2_400_000) {
    const parts = [{ alg: "ES256", kid: KID }, { iss: TEAM, iat: Math.floor(Date.now() / 1000) }];
    const input = parts.map((part) => Buffer.from(JSON.stringify(part)).toString("base64url")).join(".");
    const signature = sign("sha256", Buffer.from(input), { key, dsaEncoding: "ieee-p1363" });
    Object.assign(token, { text: `${input}.${signature.toString("base64url")}`, minted: performance.now() });
  }
  return `bearer ${token.text}`;
}

// One request on a connection; a back end keeps the connection for all of its pushes.
const post = (path, headers, body) => new Promise((resolve, reject) => {
  const session = connect(GATEWAY, { ca: CA && readFileSync(CA) }).on("error", reject);
  const stream = session.request({ ":method": "POST", ":path": path, ...headers }).on("error", reject).setEncoding("utf8");
  let answer, text = "";
  stream.on("response", (head) => { answer = head; }).on("data", (part) => { text += part; });
  stream.on("end", () => { session.close(); resolve({ status: answer[":status"], headers: answer, text }); }).end(body);
});

// The push's id stays the same in every attempt, so that the push counts once.
async function send(kind, match, { priority = 10, attempts = 60 } = {}) {
  const id = randomUUID();
  const body = JSON.stringify({ aps: { "content-changed": true }, freshet: { kind, match } });
  for (let attempt = 0; attempt < attempts; attempt += 1) {
    const headers = { authorization: authorization(), "apns-id": id, "apns-priority": priority };
    const answer = await post(`/v1/apps/${APP}/pushes`, headers, body).catch((error) => ({ status: 0, headers: {}, text: error.message }));
    if (answer.status === 200) return id;
    if (![0, 429, 500, 503].includes(answer.status)) throw new Error(`refused ${answer.status} ${answer.text}`);
    await pause(1000 * (answer.headers["retry-after"] ?? Math.min(2 ** attempt, 30)));
  }
  throw new Error("the gateway does not answer");
}

console.log("accepted", await send(process.argv[2], JSON.parse(process.argv[3])));
