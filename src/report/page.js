/** The script of a report in the browser: draws charts when they come into view, answers the triage map and the keyboard. */
"use strict";
(() => {
  const root = document.documentElement;
  const data = JSON.parse(document.getElementById("report-data").textContent);
  // From here on the tables stand behind the charts, not in their place.
  root.classList.add("js");
  for (const table of document.querySelectorAll("details.data")) table.open = false;
  // Where they do not stand beside the text, the contents would fill the first screen.
  document.querySelector("nav details").open = matchMedia("(min-width: 75rem)").matches;

  // --- Numbers -------------------------------------------------------------------------------------------------------

  const show = (value) => value === null ? "not finite" : String(Number(value.toPrecision(3)));

  /** Where a value stands on the axis: powers of ten where the scale is logarithmic, zeros one decade below the rest. */
  const toAxis = ({ log, zeroAt }, y) => {
    if (y === null) return NaN;
    if (!log) return y;
    return y === 0 ? zeroAt : Math.log10(y);
  };

  /** At most six powers of ten, and 0 where it stands. */
  const logTicks = ({ zeroAt }, min, max) => {
    const first = zeroAt === null ? Math.ceil(min) : zeroAt + 1;
    const stride = Math.max(1, Math.ceil((Math.floor(max) - first + 1) / 5));
    const ticks = zeroAt === null ? [] : [{ value: zeroAt, label: "0" }];
    for (let power = first; power <= max; power += stride) {
      const label = power >= -3 && power <= 4 ? show(10 ** power) : `1e${power}`;
      ticks.push({ value: power, label });
    }
    return ticks;
  };

  // --- Charts --------------------------------------------------------------------------------------------------------

  const DASHES = {
    first: [],
    second: [7, 3],
    third: [2, 3],
    fourth: [9, 3, 2, 3],
    fifth: [12, 3],
    level: [4, 4],
  };
  const MARKS = {
    first: "circle",
    second: "triangle",
    third: "rect",
    fourth: "rectRot",
    fifth: "crossRot",
    level: "star",
  };

  /** Colours of the theme that holds now. */
  const colour = (name) => getComputedStyle(root).getPropertyValue(`--${name}`).trim();

  /** Few points are marked, so that single evaluations can be seen; many make a line. */
  const radiusOf = ({ style, tone, x }) => {
    if (style === "points") return 5;
    return tone === "level" || x.length > 30 || x.length === 2 ? 0 : 2.5;
  };

  /** Later curves lie on top, dashed, so that two equal ones both show. */
  const lineDataset = (chart, series, index) => {
    const { name, style, tone, x, y } = series;
    return {
      label: name,
      data: x.map((value, i) => ({ x: value, y: toAxis(chart, y[i]), shown: y[i] })),
      showLine: style === "line",
      borderColor: colour(tone),
      backgroundColor: colour(tone),
      borderDash: style === "line" ? DASHES[tone] : [],
      borderWidth: 1.8,
      pointStyle: MARKS[tone],
      pointRadius: radiusOf(series),
      pointHoverRadius: 5,
      order: -index,
      clip: 8, // Marks at the ends stay whole.
    };
  };

  const bandDatasets = (chart) => {
    const { band } = chart;
    if (!band) return [];
    const edge = (xs, ys, fill) => ({
      label: band.name,
      data: xs.map((x, i) => ({ x, y: toAxis(chart, ys[i]), shown: ys[i] })),
      borderWidth: 0,
      pointRadius: 0,
      pointHoverRadius: 0,
      pointStyle: "rect",
      backgroundColor: colour("band"),
      borderColor: colour("band"),
      fill,
      order: 1,
      isBand: true,
      isLowEdge: fill === false,
    });
    return [edge(band.lowX, band.low, false), edge(band.highX, band.high, "-1")];
  };

  /** Triangles on the x axis: checkpoints below the line, recorded steps filled. */
  const eventMarks = {
    id: "eventMarks",
    afterDatasetsDraw({ ctx, chartArea, scales }, _, { events = [] }) {
      ctx.save();
      ctx.strokeStyle = ctx.fillStyle = colour("text-quiet");
      for (const { x, kind } of events) {
        const [left, bottom] = [scales.x.getPixelForValue(x), chartArea.bottom];
        ctx.beginPath();
        ctx.moveTo(left - 4, bottom);
        ctx.lineTo(left + 4, bottom);
        ctx.lineTo(left, bottom - 7);
        ctx.closePath();
        if (kind === "recorded") ctx.fill();
        else ctx.stroke();
      }
      ctx.restore();
    },
  };

  /** Whole powers of ten; from 0 up where nothing is negative; a curve of exact zeros lies on the axis. */
  const yLimits = (chart) => {
    const { log, zeroAt, series, band } = chart;
    const values = [...series.flatMap(({ y }) => y), ...(band ? [...band.low, ...band.high] : [])]
      .filter((y) => y !== null);
    if (log) {
      const powers = values.map((y) => toAxis(chart, y));
      const [low, high] = [Math.min(...powers), Math.max(...powers)];
      return { min: zeroAt ?? Math.floor(low), max: Math.ceil(high) };
    }
    if (values.some((y) => y < 0)) return { grace: "5%" };
    return values.some((y) => y > 0) ? { beginAtZero: true } : { min: 0, max: 1 };
  };

  const axes = (chart) => {
    const grid = { color: colour("grid"), drawTicks: false };
    const ticks = { color: colour("text-quiet"), maxRotation: 0, padding: 6, font: { size: 12 } };
    const title = (text) => ({
      display: text !== "",
      text,
      color: colour("text-quiet"),
      font: { size: 12 },
    });
    const [min, max] = chart.xRange ?? [];
    return {
      x: {
        type: "linear",
        min,
        max,
        grid: { ...grid, display: false },
        border: { color: colour("text-quiet") },
        ticks: { ...ticks, maxTicksLimit: 7, callback: show, includeBounds: false },
        title: title(chart.xLabel),
      },
      y: {
        type: "linear",
        ...yLimits(chart),
        grid,
        border: { display: false },
        ticks: {
          ...ticks,
          maxTicksLimit: 6,
          callback: (value, i, all) => all[i].label ?? show(value),
        },
        title: title(chart.yLabel),
        // Charts above one another have their axes in one line.
        afterFit(axis) {
          axis.width = Math.max(axis.width, 64);
        },
        afterBuildTicks(axis) {
          if (chart.log) axis.ticks = logTicks(chart, axis.min, axis.max);
        },
      },
    };
  };

  const configOf = (chart) => ({
    type: "line",
    data: {
      datasets: [
        ...bandDatasets(chart),
        ...chart.series.map((one, i) => lineDataset(chart, one, i)),
      ],
    },
    options: {
      animation: false,
      responsive: true,
      maintainAspectRatio: false,
      parsing: false,
      normalized: true,
      interaction: { mode: "nearest", axis: "x", intersect: false },
      scales: axes(chart),
      plugins: {
        eventMarks: { events: chart.events },
        legend: {
          display: chart.series.length > 1 || Boolean(chart.band),
          position: "bottom",
          align: "start",
          labels: {
            color: colour("text"),
            usePointStyle: true,
            boxWidth: 22,
            boxHeight: 7,
            padding: 8,
            font: { size: 12 },
            generateLabels: (drawing) =>
              Chart.defaults.plugins.legend.labels.generateLabels(drawing).map((item) => ({
                ...item,
                ...(drawing.data.datasets[item.datasetIndex].isBand &&
                  { strokeStyle: colour("text-quiet"), lineWidth: 1 }),
              })),
            sort: (a, b) => a.datasetIndex - b.datasetIndex,
            filter: (item, { datasets }) => !datasets[item.datasetIndex].isLowEdge,
          },
          onClick: () => {},
        },
        tooltip: {
          callbacks: {
            title: ([item]) => item ? `${chart.xLabel} ${show(item.raw.x)}` : "",
            label: ({ dataset, raw }) => {
              const edge = dataset.isBand ? (dataset.isLowEdge ? ", low" : ", high") : "";
              return `${dataset.label}${edge}: ${show(raw.shown)}`;
            },
          },
        },
      },
    },
    plugins: [eventMarks],
  });

  const drawn = new Map();
  const specs = new Map(data.charts.map((chart) => [chart.id, chart]));

  const draw = (canvas) => {
    drawn.get(canvas)?.destroy();
    drawn.set(canvas, new Chart(canvas, configOf(specs.get(canvas.id))));
  };

  const inView = new IntersectionObserver((entries) => {
    for (const { target, isIntersecting } of entries) {
      if (isIntersecting && !drawn.has(target)) draw(target);
    }
  }, { rootMargin: "300px" });
  const canvases = [...document.querySelectorAll(".plot canvas")].filter(({ id }) => specs.has(id));
  for (const canvas of canvases) inView.observe(canvas);

  const redraw = () => {
    for (const canvas of drawn.keys()) draw(canvas);
  };
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);
  // Paper is white, and every chart is on it.
  addEventListener("beforeprint", () => {
    root.classList.add("printing");
    for (const canvas of canvases) draw(canvas);
  });
  addEventListener("afterprint", () => {
    root.classList.remove("printing");
    redraw();
  });

  // --- Triage map ----------------------------------------------------------------------------------------------------

  for (const map of document.querySelectorAll(".triage-map")) {
    const symptoms = [...map.querySelectorAll("[data-rule]")];
    const answer = map.querySelector("[aria-live]");
    const choose = (chosen) => {
      const { tests, causes, answer: text } = data.triage[Number(chosen.dataset.rule)];
      for (const symptom of symptoms) {
        symptom.setAttribute("aria-pressed", String(symptom === chosen));
      }
      for (const item of map.querySelectorAll("[data-test]")) {
        item.classList.toggle("on", tests.includes(item.dataset.test));
      }
      for (const item of map.querySelectorAll("[data-cause]")) {
        item.classList.toggle("on", causes.includes(item.dataset.cause));
      }
      map.classList.add("chosen");
      answer.textContent = text;
    };
    for (const symptom of symptoms) symptom.addEventListener("click", () => choose(symptom));
  }

  // --- Transcripts and the matrix: one stop of the tab key each, arrow keys within ------------------------------------------

  for (const group of document.querySelectorAll(".roving, .matrix")) {
    const items = [...group.querySelectorAll("[tabindex]")];
    for (const item of items.slice(1)) item.tabIndex = -1;
    group.addEventListener("keydown", (event) => {
      const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
      const next = step && items[items.indexOf(document.activeElement) + step];
      if (!next) return;
      event.preventDefault();
      document.activeElement.tabIndex = -1;
      next.tabIndex = 0;
      next.focus();
    });
  }
})();
