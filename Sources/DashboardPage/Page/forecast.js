// Timelines that ask for the same instant, and how their reloads are spread.

import { missing, notCounted } from "./apps.js";
import { chart } from "./charts.js";
import { card, h, table, tile, tiles, when as at } from "./elements.js";
import { count, moment, ms, rate } from "./numbers.js";

export const title = "Forecast";

export function open(context) {
  const asked = tile("Peak asked for", "timeline reloads in one second, next hour");
  const planned = tile("Peak after smoothing", "in one second, next hour");
  const less = tile("Smaller by");
  const hour = chart("Timeline reloads a second, the next hour", {
    // The planned reloads have a scale of their own: smoothed, they would be a flat line beside the peaks of the asked
    // ones.
    format: { y: rate }, height: 300, panels: ["asked for", "planned"],
  });
  const past = chart("Timeline reloads issued", { format: { y: rate }, height: 180, legend: false });
  const largest = table("The times that most timelines ask for", [
    { title: "At", cell: (row) => at(row.at) },
    { title: "Widgets", number: true, cell: (row) => count(row.asked) },
  ], "No timeline asks for a reload in the next hour.");
  const when = h("span");
  const counting = h("p", { class: "card empty", role: "status", hidden: true });
  const element = h("div", { class: "view" }, counting, tiles(asked, planned, less), card("The next hour", { note: when }, hour.element),
    h("div", { class: "columns" }, card("Largest peaks", largest.element), card("The last ten minutes", past.element)));
  return {
    element,
    charts: [hour, past],
    subtitle: "Timeline reloads before and after smoothing",
    ask: (signal) => context.optional("/v1/forecast", signal),
    show(data) {
      if (!data) return missing(element, "/v1/forecast");
      notCounted(counting, data);
      if (!data.survey) return;
      when.textContent = `before and after smoothing, counted at ${moment(data.survey.until)}`;
      asked.set(count(data.askedPeak));
      planned.set(count(data.plannedPeak));
      less.set(data.askedPeak > 0 && data.plannedPeak > 0 ? `${rate(data.askedPeak / data.plannedPeak)} ×` : "–");
      const from = ms(data.from);
      const width = data.bucketSeconds;
      hour.set({
        x: data.buckets.map((_, index) => from + index * width * 1000),
        summary: data.askedPeak > 0 ? `Timelines ask for up to ${count(data.askedPeak)} reloads in one second; at most ${count(data.plannedPeak)} are planned in one.` : "No timeline asks for a reload in the next hour.",
        series: [
          { name: "Asked for", values: data.buckets.map((bucket) => bucket.asked / width), colour: "--deferred", fill: true, stepped: true },
          { name: "Planned", values: data.buckets.map((bucket) => bucket.planned / width), colour: "--accent", fill: true, stepped: true },
        ],
      });
      largest.set(data.largest ?? []);
      const recent = data.recent ?? [];
      const tens = recent.filter((_, index) => index % 10 === 0);
      past.set({
        x: tens.map((one) => ms(one.at)),
        summary: `${count(recent.reduce((sum, one) => sum + one.policy, 0))} in all.`,
        series: [{ name: "Timeline reloads a second", values: tens.map((_, index) => recent.slice(index * 10, index * 10 + 10).reduce((sum, one, _, all) => sum + one.policy / all.length, 0)), colour: "--reloaded", fill: true, stepped: true }],
      });
    },
  };
}
