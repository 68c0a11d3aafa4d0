// How numbers and times are written.

const whole = new Intl.NumberFormat("en");
const one = new Intl.NumberFormat("en", { maximumFractionDigits: 1 });
const written = (options) => new Intl.DateTimeFormat("en-GB", options);
const hms = { hour: "2-digit", minute: "2-digit", second: "2-digit" };
const clock = written(hms);
const shortClock = written({ hour: "2-digit", minute: "2-digit" });
const dayOnly = written({ day: "numeric", month: "short" });
const dayOfYear = written({ day: "numeric", month: "short", year: "numeric" });
const zoned = written({ day: "numeric", month: "short", ...hms, timeZoneName: "short" });
const complete = written({ day: "numeric", month: "short", year: "numeric", ...hms, timeZoneName: "short" });

export const unknown = "–";

export const count = (value) => (value === undefined || value === null ? unknown : whole.format(value));

/// A number with its noun, in the singular for one.
export const counted = (value, one, many = `${one}s`) => `${count(value)} ${value === 1 ? one : many}`;

export function rate(value) {
  if (value === undefined || value === null || Number.isNaN(value)) return unknown;
  return value >= 100 ? whole.format(Math.round(value)) : one.format(value);
}

export function percent(part, all) {
  if (!all) return unknown;
  const value = (100 * part) / all;
  if (value > 0 && value < 0.1) return "< 0.1 %";
  // Nearly all is not all.
  if (value > 99 && value < 100) return "> 99 %";
  return `${value < 10 ? one.format(value) : Math.round(value)} %`;
}

export function duration(milliseconds) {
  if (milliseconds === undefined || milliseconds === null) return unknown;
  if (milliseconds === 0) return "0 s";
  if (milliseconds < 1000) return `${Math.round(milliseconds)} ms`;
  const seconds = milliseconds / 1000;
  if (seconds < 60) return `${one.format(seconds)} s`;
  if (seconds < 3570) return pair(Math.round(seconds), 60, "min", "s");
  if (seconds < 172_800) return pair(Math.round(seconds / 60), 60, "h", "min");
  return `${Math.round(seconds / 86_400)} days`;
}

function pair(value, of, large, small) {
  const rest = value % of;
  return rest ? `${Math.floor(value / of)} ${large} ${rest} ${small}` : `${value / of} ${large}`;
}

export function bytes(value) {
  if (value === undefined || value === null) return unknown;
  const units = ["B", "KiB", "MiB", "GiB", "TiB"];
  let unit = 0;
  while (value >= 1024 && unit < units.length - 1) { value /= 1024; unit += 1; }
  return `${one.format(value)} ${units[unit]}`;
}

export const ms = (instant) => (typeof instant === "number" ? instant : Date.parse(instant));

let ahead = 0;

/// The gateway's clock, as its newest answer tells it: ages are by it, whatever the browser's own says.
export const now = () => Date.now() + ahead;
export const setNow = (instant) => { ahead = ms(instant) - Date.now(); };

/// A time of day, where the date stands beside it or is that of now.
export const time = (instant) => (instant === undefined || instant === null ? unknown : clock.format(ms(instant)));
export const minute = (instant) => shortClock.format(ms(instant));
export const day = (instant) => dayOnly.format(ms(instant));

/// Half a year ahead or ago, the year matters more than the minute.
const isFar = (instant) => Math.abs(ms(instant) - now()) > 15_552_000_000;

/// A time with its date and zone, for a sentence.
export function moment(instant) {
  if (instant === undefined || instant === null) return unknown;
  return isFar(instant) ? dayOfYear.format(ms(instant)) : zoned.format(ms(instant));
}

/// The same without the zone, for a column.
export function brief(instant) {
  if (instant === undefined || instant === null) return unknown;
  return isFar(instant) ? dayOfYear.format(ms(instant)) : `${day(instant)}, ${time(instant)}`;
}

/// All of it: date, year, time and zone.
export const stamp = (instant) => complete.format(ms(instant));

/// Outcomes in the order of a push's life; each has a colour of its name.
export const outcomes = [
  ["reloaded", "Reloaded"], ["exempt", "Exempt"], ["coalesced", "Coalesced"], ["issued", "On its way"],
  ["deferred", "Deferred"], ["unchanged", "Unchanged"], ["superseded", "Superseded"], ["expired", "Expired"],
  ["failed", "Failed"], ["removed", "Removed"], ["cancelled", "Cancelled"],
];

export const meanings = {
  reloaded: "the host confirmed the reload; it was charged",
  exempt: "reloaded without a charge",
  coalesced: "came with a reload that was due anyway",
  issued: "sent, not yet confirmed by the host",
  deferred: "waits until the budget allows it",
  unchanged: "the widget already shows this content",
  superseded: "a later push with the same collapse id replaced it",
  expired: "it expired before the budget allowed it",
  failed: "the reload failed",
  removed: "the widget or its host was removed",
  cancelled: "cancelled by an operator or the sender",
};

/// The causes of reloads, and why one is not charged, by the gateway's word for it.
export const sources = {
  added: "widget added", configured: "widget configured", policy: "timeline", push: "push", appRequest: "the app asked", appIntent: "button or toggle",
  becameVisible: "became visible", significantLocationChange: "new place", localeChanged: "language or region", dynamicTypeChanged: "text size",
  accessibilityChanged: "accessibility", appearanceChanged: "light or dark", appForeground: "app in the foreground", mediaSession: "media session",
  navigationSession: "navigation", locationSession: "location session", developerMode: "developer mode",
};
export const source = (name) => sources[name] ?? name;

/// Why a decision came out as it did, by the gateway's word for it.
export const because = {
  conforms: "the budget allows it", exempt: "not charged", pace: "the pace of its budget", minimumInterval: "too soon after another reload",
  allowance: "the budget of its window is used up", notBefore: "not before a later time", joinsPolicy: "joins a timeline reload that is due",
  waitsForAnother: "waits for another reload", exemptInterval: "too soon after another free reload", joined: "joined another reload",
  collapseID: "a later push replaced it", sameDigest: "it already shows this content", expiration: "it expired first",
  instanceRemoved: "the widget was removed", hostRemoved: "the host was removed", acknowledged: "the host has reloaded it",
  unacknowledged: "not acknowledged in time", refused: "the host refused it", pendingLimit: "too many pushes already wait for it",
  hidden: "held until it is visible", systemChange: "the host has just reloaded it by itself", paused: "paused", cancelled: "cancelled",
  collateral: "along with another widget of its token", collateralOver: "along with another widget of its token, over its budget",
  notPushEnabled: "takes no pushes", otherEnvironment: "its token belongs to APNs' other environment", lowPower: "its host is in low power mode",
};
