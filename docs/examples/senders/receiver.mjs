// Takes receipts from Freshet, in Node.js without dependencies: receiver.mjs. Settings: PORT, CERTIFICATE, CERTIFICATE_KEY, SECRET.
import { createHmac, timingSafeEqual } from "node:crypto";
import { readFileSync } from "node:fs";
import { createSecureServer } from "node:http2";

const { PORT = "7443", CERTIFICATE, CERTIFICATE_KEY, SECRET } = process.env;
const secret = readFileSync(SECRET, "utf8").replace(/\s/g, "");
// A receipt comes again if its answer was lost. A back end keeps these in its database.
const known = new Set();

// HMAC-SHA256 over the time, a dot, the id of the request, a dot, and the body as it came. What is old is no answer of today.
export function isSigned(headers, body, now = Date.now() / 1000) {
  const [, t, v1] = /^t=(\d+),v1=([0-9a-f]{64})$/.exec(headers["freshet-signature"] ?? "") ?? [];
  if (!t || Math.abs(now - Number(t)) > 300) return false;
  const expected = createHmac("sha256", secret).update(`${t}.${headers["freshet-id"]}.`).update(body).digest();
  return timingSafeEqual(expected, Buffer.from(v1, "hex"));
}

function take({ app, receipts, mayMiss }) {
  if (mayMiss) console.log(`${app}: receipts may be missing`);
  for (const { id, acceptedAt, matched, outcomes } of receipts) {
    if (known.has(`${id} ${acceptedAt}`)) continue;
    known.add(`${id} ${acceptedAt}`);
    console.log(`${id} matched ${matched}: ${JSON.stringify(outcomes)}`);
  }
}

const server = createSecureServer({ cert: readFileSync(CERTIFICATE), key: readFileSync(CERTIFICATE_KEY) });
server.on("stream", (stream, headers) => {
  const parts = [];
  stream.on("data", (part) => parts.push(part)).on("error", () => {}).on("end", () => {
    const body = Buffer.concat(parts);
    const isGood = isSigned(headers, body);
    if (isGood) take(JSON.parse(body));
    stream.respond({ ":status": isGood ? 204 : 403 });
    stream.end();
  });
});
server.listen(Number(PORT), "localhost", () => console.log(`takes receipts at https://localhost:${PORT}`));
