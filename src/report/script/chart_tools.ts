/** What a reader can do with a chart: choose its scale, smooth it, look at a part, hide curves, take it along. */
/// <reference lib="dom" />
/// <reference lib="dom.iterable" />
import type { ChartData } from "../chart.ts";
import { chartCsv, type ChartView, curveNames, xEnds } from "./chart_view.ts";

/** A chart to which tools are added. */
interface Tooled {
  /** What it draws now: a run that is being watched grows. */
  dataOf(): ChartData;
  viewOf(): ChartView;
  onChange(change: Partial<ChartView>): void;
}

/** The largest weight of the past that the slider offers. */
const MOST_SMOOTHING = 0.95;

/** A drag shorter than this is a click. */
const LEAST_DRAG_PIXELS = 8;

function element<Name extends keyof HTMLElementTagNameMap>(
  name: Name,
  properties: Partial<HTMLElementTagNameMap[Name]>,
  children: readonly (Node | string)[] = [],
): HTMLElementTagNameMap[Name] {
  const made = Object.assign(document.createElement(name), properties);
  made.append(...children);
  return made;
}

function save(name: string, blob: Blob): void {
  const href = URL.createObjectURL(blob);
  element("a", { href, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(href), 10_000);
}

/** The drawing on the page's colour, since the canvas itself has none. */
function savePicture(name: string, canvas: HTMLCanvasElement): void {
  const copy = element("canvas", { width: canvas.width, height: canvas.height });
  const context = copy.getContext("2d");
  if (!context) return;
  context.fillStyle = getComputedStyle(document.body).backgroundColor;
  context.fillRect(0, 0, copy.width, copy.height);
  context.drawImage(canvas, 0, 0);
  copy.toBlob((blob) => blob && save(name, blob), "image/png");
}

/** The ends of the part that is shown, as fields; they follow a drag over the chart. */
function rangeFields(canvas: HTMLCanvasElement, { dataOf, viewOf, onChange }: Tooled): Node[] {
  const fields = [0, 1].map(() => element("input", { type: "number", step: "any" }));
  const fill = () => {
    const range = viewOf().range ?? xEnds(dataOf());
    fields.forEach((field, i) => field.value = String(Number(range[i].toPrecision(6))));
  };
  const read = () => {
    const [from, to] = fields.map(({ valueAsNumber }) => valueAsNumber);
    if (from < to) onChange({ range: [from, to] });
    else fill();
  };
  for (const field of fields) field.addEventListener("change", read);
  canvas.addEventListener("viewchange", fill);
  fill();
  const whole = element("button", { type: "button" }, ["Whole"]);
  whole.addEventListener("click", () => onChange({ range: undefined }));
  return [
    element("label", {}, [`${dataOf().xLabel} from `, fields[0]]),
    element("label", {}, ["to ", fields[1]]),
    whole,
  ];
}

/** A box for each curve and range, since the legend in the drawing is out of the keyboard's reach. */
function curveBoxes(canvas: HTMLCanvasElement, { dataOf, viewOf, onChange }: Tooled): Node[] {
  const names = curveNames(dataOf());
  if (names.length < 2) return [];
  return names.map((name) => {
    const box = element("input", { type: "checkbox", checked: !viewOf().hidden.has(name) });
    box.addEventListener("change", () => {
      const hidden = new Set(viewOf().hidden);
      if (box.checked) hidden.delete(name);
      else hidden.add(name);
      onChange({ hidden });
    });
    canvas.addEventListener("viewchange", () => box.checked = !viewOf().hidden.has(name));
    return element("label", {}, [box, ` ${name}`]);
  });
}

/** Adds the tools below a chart, folded, or in place of earlier ones. */
export function addChartTools(canvas: HTMLCanvasElement, tooled: Tooled): void {
  const { dataOf, viewOf, onChange } = tooled;
  const data = dataOf();
  const log = element("input", { type: "checkbox" });
  const fillLog = () => {
    log.checked = viewOf().log;
    log.disabled = !dataOf().canBeLog;
  };
  fillLog();
  canvas.addEventListener("viewchange", fillLog);
  log.addEventListener("change", () => onChange({ log: log.checked }));
  const smoothing = element("input", {
    type: "range",
    min: "0",
    max: String(MOST_SMOOTHING),
    step: "0.05",
    value: String(viewOf().smoothing),
  });
  smoothing.addEventListener("input", () => onChange({ smoothing: smoothing.valueAsNumber }));
  const picture = element("button", { type: "button" }, ["Save PNG"]);
  picture.addEventListener("click", () => savePicture(`${data.id}.png`, canvas));
  const csv = element("button", { type: "button" }, ["Save CSV"]);
  csv.addEventListener("click", () => {
    save(`${data.id}.csv`, new Blob([chartCsv(dataOf())], { type: "text/csv" }));
  });
  const isLine = data.series.some(({ style }) => style === "line");
  const tools = element("div", {}, [
    element("label", {}, [log, " logarithmic"]),
    ...(isLine ? [element("label", {}, ["smoothing ", smoothing])] : []),
    ...rangeFields(canvas, tooled),
    ...curveBoxes(canvas, tooled),
    picture,
    csv,
  ]);
  const folded = element("details", { className: "tools" }, [
    element("summary", {}, [`Scale, zoom, download`]),
    tools,
  ]);
  const { parentElement: plot } = canvas;
  // Of a chart that has got another curve the old ones give way.
  const old = plot?.nextElementSibling;
  if (old instanceof HTMLDetailsElement && old.className === "tools") {
    folded.open = old.open;
    old.replaceWith(folded);
  } else plot?.after(folded);
}

/** Lets a drag over the chart choose the part that is shown, and a double click show the whole again. */
export function zoomByDragging(
  canvas: HTMLCanvasElement,
  { xOf, onChange }: {
    /** The x at a distance from the left edge of the canvas. */
    xOf(offset: number): number | undefined;
    onChange(change: Partial<ChartView>): void;
  },
): void {
  const { parentElement: plot } = canvas;
  if (!plot) return;
  const mark = element("div", { className: "drag", hidden: true });
  plot.append(mark);
  let begin: number | undefined;
  canvas.addEventListener("pointerdown", ({ offsetX, button, pointerType }) => {
    // A finger that moves scrolls the page.
    if (button === 0 && pointerType !== "touch") begin = offsetX;
  });
  canvas.addEventListener("pointermove", ({ offsetX }) => {
    if (begin === undefined) return;
    mark.hidden = Math.abs(offsetX - begin) < LEAST_DRAG_PIXELS;
    mark.style.left = `${Math.min(begin, offsetX)}px`;
    mark.style.width = `${Math.abs(offsetX - begin)}px`;
  });
  addEventListener("pointerup", (event) => {
    if (begin === undefined) return;
    const end = event.clientX - canvas.getBoundingClientRect().left;
    const [from, to] = [Math.min(begin, end), Math.max(begin, end)].map(xOf);
    const isDrag = Math.abs(end - begin) >= LEAST_DRAG_PIXELS;
    begin = undefined;
    mark.hidden = true;
    if (isDrag && from !== undefined && to !== undefined) onChange({ range: [from, to] });
  });
  canvas.addEventListener("dblclick", () => onChange({ range: undefined }));
}
