// The events that the gateway tells: one stream for the page, begun anew when it ends.

import { follow, forgetHistory, keepSample, Refused } from "./gateway.js";

const again = 2000;
/// A stream brings a sample a second; one that is silent for so long is dead.
const silence = 6000;

/// The live events: `isOn` while the stream runs.
export const live = {
  isOn: false,
  asking: null,
  timer: null,

  /// Follows until `stop`. `heard(type, value)` hears each event, `changed(error)` that the stream began or ended.
  async start(types, heard, changed) {
    this.stop();
    const asking = new AbortController();
    this.asking = asking;
    let watch = null;
    const alive = () => {
      clearTimeout(watch);
      watch = setTimeout(() => inner.abort(), silence);
    };
    const inner = new AbortController();
    let fault = null;
    alive();
    try {
      await follow(types, (type, value) => {
        alive();
        if (!this.isOn) {
          this.isOn = true;
          // The seconds since the request are not known.
          forgetHistory();
          changed(null);
        }
        if (type === "sample") keepSample(value);
        heard(type, value);
      }, AbortSignal.any([asking.signal, inner.signal]));
    } catch (error) {
      fault = error;
    }
    clearTimeout(watch);
    if (this.asking !== asking) return;
    const wasOn = this.isOn;
    this.isOn = false;
    // The seconds without a stream are not known: they are asked for anew.
    forgetHistory();
    if (wasOn) changed(fault);
    // Too many readers, or none may read: then the page asks instead, and tries again later.
    const wait = fault instanceof Refused ? 15 * again : again;
    this.timer = setTimeout(() => this.start(types, heard, changed), wait);
  },

  stop() {
    clearTimeout(this.timer);
    const asking = this.asking;
    this.asking = null;
    this.isOn = false;
    asking?.abort();
  },
};
