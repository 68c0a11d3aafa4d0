// Draws the report that stands in the page.

import { bench } from "./bench.js";
import { loadCharts } from "./charts.js";
import { fill, h } from "./elements.js";
import { simulation } from "./simulation.js";
import { whatIf } from "./what-if.js";

const report = JSON.parse(document.getElementById("report").textContent);
const draw = { bench, simulation, whatIf }[document.documentElement.dataset.kind];
await loadCharts();
const [head, ...cards] = draw(report);
fill(document.getElementById("main"), head, h("div", { class: "view" }, cards.filter(Boolean)));
document.documentElement.dataset.drawn = "yes";
