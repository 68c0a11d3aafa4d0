// Charts by Chart.js where the machine has it, and the same numbers as a table always.

import { fill, h, newID } from "./elements.js";
import { count, day, minute, ms, stamp, time } from "./numbers.js";

let Chart = null;
const drawn = new Set();

/// Takes the chart library that is there, or loads it if the gateway has one.
export async function loadCharts() {
  if (document.documentElement.dataset.chart !== "yes") return;
  try {
    if (!globalThis.Chart) await import("./chart.js");
    Chart = globalThis.Chart ?? null;
  } catch {
    Chart = null;
  }
  if (!Chart) return;
  Chart.defaults.animation = false;
  Chart.defaults.font.family = getComputedStyle(document.body).fontFamily;
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => { for (const chart of drawn) chart.recolour(); });
}

export const hasCharts = () => Chart !== null;

const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

const tableRowsMax = 48;
const seconds = [1, 5, 10, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10_800, 21_600, 43_200, 86_400, 172_800, 432_000];

/// Whole minutes, hours or the like between two times, in the reader's own time zone.
function timeTicks(from, until, countMax) {
  const step = 1000 * (seconds.find((one) => (until - from) / 1000 / one <= countMax) ?? 864_000);
  const zone = new Date(from).getTimezoneOffset() * 60_000;
  const ticks = [];
  for (let at = Math.ceil((from - zone) / step) * step + zone; at <= until; at += step) ticks.push({ value: at, step });
  return ticks;
}

/// The text at a mark: the day where one begins, else the time.
function tickText(at, step) {
  const date = new Date(at);
  if (date.getHours() === 0 && date.getMinutes() === 0 && date.getSeconds() === 0) return day(at);
  return step < 60_000 ? time(at) : minute(at);
}

/// Upright lines where something happened that is not in the numbers: `{ at, kind, text }`.
const markLines = {
  id: "marks",
  afterDatasetsDraw(chart) {
    const { ctx, chartArea: area, scales } = chart;
    ctx.save();
    ctx.lineWidth = 1;
    for (const mark of chart.$marks ?? []) {
      const x = scales.x.getPixelForValue(ms(mark.at));
      if (x < area.left || x > area.right) continue;
      ctx.strokeStyle = ctx.fillStyle = colour(markColours[mark.kind]);
      ctx.setLineDash([4, 3]);
      ctx.beginPath();
      ctx.moveTo(x, area.top);
      ctx.lineTo(x, area.bottom);
      ctx.stroke();
      ctx.setLineDash([]);
      ctx.beginPath();
      ctx.moveTo(x - 5, area.top - 1);
      ctx.lineTo(x + 5, area.top - 1);
      ctx.lineTo(x, area.top + 7);
      ctx.fill();
    }
    ctx.restore();
  },
};

export const markColours = { start: "--soft", configuration: "--exempt", order: "--coalesced", outage: "--failed" };

/// A number beside a narrow scale.
const shortly = (value) => shortNumber.format(value);
const shortNumber = new Intl.NumberFormat("en", { notation: "compact", maximumFractionDigits: 1 });

/// A chart with its legend and its table.
///
/// `set({ x, series, summary })` draws: `x` are positions, `series` are `{ name, values, colour, kind, fill, stack, axis }`
/// with a value, or null for none, for each position. `ticks` are the marks, where they are no times and not the positions.
///
/// - `kind`: "line" or "bar".
/// - `format`: how a position and a value are written, and a mark, where it is shorter than its position.
/// - `isTime`: whether positions are milliseconds; else they are marked as they are.
/// - `logTicks`: the marks of a logarithmic scale, null for a linear one.
/// - `panels`: the titles of vertical scales, one above the other, each for the series of its place.
/// - `scales`: other vertical scales than one.
/// - `marks` of the drawn data: where something happened, see `markLines`.
export function chart(title, { kind = "line", format = {}, height = 220, isTime = true, logTicks = null, xTitle = "", scales = null, panels = null, legend = true } = {}) {
  const writeX = format.x ?? (isTime ? stamp : String);
  const writeY = format.y ?? count;
  const canvas = h("canvas", { role: "img", "aria-label": title });
  const holder = h("div", { class: "canvas", style: { height: `${height}px` } }, canvas);
  const names = h("ul", { class: "series", hidden: !legend });
  const caption = h("p", { class: "summary soft" });
  const body = h("tbody");
  const head = h("tr");
  const tableElement = h("div", { class: "table plain", role: "region", tabindex: "0", "aria-label": `${title}, as a table` },
    h("table", {}, h("caption", { class: "hidden" }, title), h("thead", {}, head), body));
  const details = h("details", { class: "numbers", on: { toggle: () => writeTable() } },
    h("summary", { "data-key": newID("numbers") }, "As a table"), tableElement);
  const drawing = h("div", { hidden: true }, Chart ? [names, holder, details] : tableElement);
  const element = h("figure", { class: "chart", "data-chart": title }, caption, drawing);
  let data = { x: [], series: [] };
  let instance = null;

  function writeTable() {
    if (Chart && !details.open) return;
    const step = Math.max(1, Math.ceil(data.x.length / tableRowsMax));
    head.replaceChildren(h("th", { scope: "col" }, xTitle || "At"),
      ...data.series.map((series) => h("th", { scope: "col", class: "number" }, series.name)));
    const rows = [];
    for (let index = data.x.length - 1; index >= 0; index -= step) {
      rows.push(h("tr", {}, h("th", { scope: "row" }, writeX(data.x[index])),
        data.series.map((series) => h("td", { class: "number" },
          series.values[index] === null || series.values[index] === undefined ? "–" : (series.format ?? writeY)(series.values[index])))));
    }
    fill(body, rows.length ? rows : h("tr", {}, h("td", {}, "Nothing yet.")));
  }

  function datasets() {
    return data.series.map((series, index) => {
      const own = colour(series.colour);
      return {
        label: series.name, type: series.kind ?? kind,
        data: data.x.map((x, index) => ({ x, y: series.values[index] ?? null })),
        borderColor: own,
        backgroundColor: (series.kind ?? kind) === "bar" ? own : series.fill ? `${own}2b` : own,
        borderWidth: (series.kind ?? kind) === "bar" ? 0 : 2, pointBackgroundColor: own, borderDash: series.dash ?? [],
        fill: series.fill ?? false, stepped: series.stepped ?? false, spanGaps: false, showLine: series.line ?? true,
        pointRadius: series.points ?? 0, pointHitRadius: 8, tension: 0,
        stack: series.stack, yAxisID: series.axis ?? (panels ? `panel${index}` : "y"), borderRadius: 3, borderSkipped: "start", clip: series.points ? 5 : undefined,
        barPercentage: series.width ?? 0.92, categoryPercentage: 1, order: series.order ?? 0,
      };
    });
  }

  function options() {
    const grid = { color: colour("--line"), drawBorder: false };
    const ticks = { color: colour("--soft"), font: { size: 11 } };
    const marksMax = matchMedia("(max-width: 40rem)").matches ? 4 : 8;
    const [first, last] = [data.min ?? data.x[0], data.max ?? data.x.at(-1)];
    const x = {
      // Columns at the ends get room by the distance of marks, which says nothing where marks are given.
      type: "linear", min: first, max: last, offset: data.ticks ? false : undefined, grid: { display: false, drawBorder: false }, bounds: "data",
      ticks: { ...ticks, autoSkip: false, maxRotation: 0, callback: (value, index, marks) => (format.tick ? format.tick(value) : isTime ? tickText(value, marks[index].step) : writeX(value)) },
      afterBuildTicks: (axis) => {
        const marks = data.ticks ?? data.x;
        const every = Math.ceil(marks.length / (marksMax + 2));
        axis.ticks = isTime ? timeTicks(axis.min, axis.max, marksMax)
          : marks.filter((_, index) => index % every === 0).map((value) => ({ value }));
      },
      title: { display: xTitle !== "", text: xTitle, color: colour("--soft"), font: { size: 11 } },
    };
    const y = logTicks
      ? { type: "logarithmic", grid, ticks: { ...ticks, callback: (value) => writeY(value) }, min: logTicks[0],
        afterBuildTicks: (axis) => { axis.ticks = logTicks.filter((value) => value <= axis.max).map((value) => ({ value })); } }
      : { beginAtZero: true, grid, suggestedMax: data.top ?? 1, ticks: { ...ticks, maxTicksLimit: 5, precision: 0, callback: (value) => writeY(value) } };
    return {
      responsive: true, maintainAspectRatio: false, animation: false, normalized: true,
      interaction: { mode: "index", intersect: false },
      plugins: {
        legend: { display: false },
        tooltip: {
          backgroundColor: colour("--ink"), titleColor: colour("--paper"), bodyColor: colour("--paper"), padding: 10, cornerRadius: 8,
          boxPadding: 4, usePointStyle: true,
          callbacks: {
            title: (items) => (items.length ? writeX(items[0].parsed.x) : ""),
            label: (item) => {
              const series = data.series[item.datasetIndex];
              return ` ${item.dataset.label}: ${(series?.format ?? writeY)(item.parsed.y)}`;
            },
          },
        },
      },
      scales: { x, ...(panels ? stacked(grid, ticks) : scales ? scales({ grid, ticks, colour }) : { y }) },
    };
  }

  /// Scales one above the other, the first one on top.
  function stacked(grid, ticks) {
    return Object.fromEntries(panels.map((text, index) => [`panel${index}`, {
      type: "linear", position: "left", stack: "panels", stackWeight: 1, weight: panels.length - index, beginAtZero: true,
      suggestedMax: 1, grid, ticks: { ...ticks, maxTicksLimit: 3, precision: 0, callback: shortly },
      title: { display: true, text, color: ticks.color, font: { size: 11 } },
      // A lower scale leaves its top mark to the upper one's zero; all labels are equally wide, so that nothing moves.
      afterBuildTicks: (axis) => { if (index > 0 && axis.ticks.length > 1) axis.ticks.pop(); },
      afterFit: (axis) => { axis.width = 64; },
    }]));
  }

  const self = {
    element,
    set(next) {
      data = next;
      caption.textContent = next.summary ?? "";
      canvas.setAttribute("aria-label", next.summary ? `${title}. ${next.summary}` : title);
      if (!names.hidden) {
        names.replaceChildren(...next.series.map((series) =>
          h("li", {}, h("i", { style: { background: `var(${series.colour})` } }), series.name)));
      }
      drawing.hidden = next.x.length === 0;
      writeTable();
      if (!Chart || drawing.hidden) return;
      if (!canvas.isConnected) return requestAnimationFrame(() => { if (canvas.isConnected) self.draw(); });
      self.draw();
    },
    /// Describes the chart in words, for those who do not see it.
    say(text) { canvas.setAttribute("aria-label", `${title}. ${text}`); },
    draw() {
      if (instance) {
        instance.options = options();
      } else {
        instance = new Chart(canvas, { type: kind, data: { datasets: [] }, options: options(), plugins: [markLines] });
        drawn.add(self);
      }
      instance.$marks = data.marks;
      instance.data.datasets = datasets();
      instance.update("none");
    },
    recolour() { if (instance) self.draw(); },
    close() {
      drawn.delete(self);
      instance?.destroy();
      instance = null;
    },
  };
  return self;
}
