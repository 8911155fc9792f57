import type { UsageRow } from "@dataq/contract/wire";
import "uplot/dist/uPlot.min.css";
import { useEffect, useMemo, useRef } from "react";
import UPlot from "uplot";
import { useText } from "../../text/text.tsx";
import { TOKENS_PER_YUAN, useFormat } from "../../ui/format.tsx";
import { onLookChange } from "../../ui/look.ts";
import { type Part, partOfRow, succeeded } from "./part.ts";

type Measure = "tokens" | "calls";
/** The number of coloured groups. All further groups are combined. */
const PARTS = 5;

interface DayChartProps {
  readonly rows: readonly UsageRow[];
  /** The grouping of each day. If it is omitted, there is a single group. */
  readonly part?: Part | undefined;
  readonly nameOf?: (part: string) => string;
  readonly from: string;
  readonly to: string;
  readonly measure: Measure;
}

/** One stacked bar per day. A table shows the same figures to people who cannot see the chart. */
export function DayChart({ rows, part, nameOf, from, to, measure }: DayChartProps) {
  const t = useText();
  const format = useFormat();
  const box = useRef<HTMLDivElement>(null);
  const chart = useMemo(() => stack(rows, part, from, to, measure), [rows, part, from, to, measure]);
  const names = chart.parts.map((one) => (one === "" ? t.usage.others : (nameOf?.(one) ?? one)));
  const show = measure === "tokens" ? format.yuan : (value: number) => format.number(value);
  const namesText = names.join("\n");
  // biome-ignore lint/correctness/useExhaustiveDependencies: names by their text, show by the format
  useEffect(() => {
    const element = box.current;
    if (!element) return;
    const draw = () => {
      element.replaceChildren();
      return plot(element, chart, coloursOf(chart.parts, part), names, show, measure);
    };
    let drawn = draw();
    const observer = new ResizeObserver(() => drawn.setSize(sizeOf(element)));
    observer.observe(element);
    const stop = onLookChange(() => {
      drawn.destroy();
      drawn = draw();
    });
    return () => {
      stop();
      observer.disconnect();
      drawn.destroy();
    };
  }, [chart, part, namesText, format, measure]);
  return (
    <figure>
      <div ref={box} className="h-64 w-full" aria-hidden />
      {chart.parts.length > 1 && (
        <figcaption className="mt-3 flex flex-wrap gap-x-4 gap-y-1.5 text-xs text-soft">
          {names.map((name, index) => (
            <span key={name} className="flex min-w-0 items-center gap-1.5">
              <span
                className="size-2.5 shrink-0 rounded-xs"
                style={{ background: `var(${coloursOf(chart.parts, part)[index]})` }}
              />
              <span className="truncate">{name}</span>
            </span>
          ))}
        </figcaption>
      )}
      {/* A table cannot shrink, so the box around it is hidden instead. */}
      <div className="sr-only">
        <table>
          <caption>{t.usage.chart}</caption>
          <tbody>
            {chart.days.map((day, index) => (
              <tr key={day}>
                <th scope="row">{day}</th>
                <td>{show(chart.totals[index]!)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </figure>
  );
}

interface Stack {
  readonly days: readonly string[];
  /** The groups, largest first. The empty name stands for all groups that have no colour. */
  readonly parts: readonly string[];
  /** For each group and day: the height of the stack up to and including this group. */
  readonly heights: readonly (readonly number[])[];
  readonly totals: readonly number[];
}

function stack(
  rows: readonly UsageRow[],
  part: Part | undefined,
  from: string,
  to: string,
  measure: Measure,
): Stack {
  const days: string[] = [];
  for (let at = Date.parse(from); at <= Date.parse(to); at += 86_400_000)
    days.push(new Date(at).toISOString().slice(0, 10));
  const sums = new Map<string, number>();
  const partOf = (row: UsageRow) => (part === undefined ? "all" : partOfRow(row, part));
  for (const row of rows) sums.set(partOf(row), (sums.get(partOf(row)) ?? 0) + row[measure]);
  const sorted = [...sums].sort((a, b) => b[1] - a[1]);
  // A group without any value has no bar and needs no colour.
  const ordered = sorted.filter(([, sum], index) => index === 0 || sum > 0).map(([name]) => name);
  const parts = ordered.length > PARTS + 1 ? [...ordered.slice(0, PARTS), ""] : ordered;
  const values = parts.map(() => days.map(() => 0));
  for (const row of rows) {
    const at = days.indexOf(row.day ?? "");
    if (at < 0 || row[measure] === 0) continue;
    const known = parts.indexOf(partOf(row));
    values[known < 0 ? parts.length - 1 : known]![at]! += row[measure];
  }
  const totals = days.map((_, at) => values.reduce((sum, of) => sum + of[at]!, 0));
  const heights = values.map((_, index) =>
    days.map((_, at) => values.slice(0, index + 1).reduce((sum, of) => sum + of[at]!, 0)),
  );
  return { days, parts, heights, totals };
}

/** Errors are never in a colour that says that all is well. */
function coloursOf(parts: readonly string[], part: Part | undefined): readonly string[] {
  if (part !== "code") return parts.map((_, index) => `--chart-${index + 1}`);
  const ofErrors = ["--chart-3", "--chart-5", "--chart-4", "--bad", "--warn"];
  return parts.map((code) => {
    if (code === succeeded) return "--chart-1";
    return code === "" ? "--chart-6" : (ofErrors.shift() ?? "--chart-6");
  });
}

function plot(
  element: HTMLElement,
  chart: Stack,
  colours: readonly string[],
  names: readonly string[],
  show: (value: number) => string,
  measure: Measure,
): UPlot {
  const colour = readColours(element);
  const font = `11px ${getComputedStyle(element).fontFamily}`;
  const times = chart.days.map((day) => Date.parse(day) / 1000);
  const bars = UPlot.paths.bars!({ size: [0.72, 42], radius: [0.12, 0] });
  const order = chart.parts.map((_, index) => index).reverse();
  const tip = document.createElement("div");
  tip.className =
    "pointer-events-none absolute z-10 hidden rounded-md border border-line bg-surface px-2.5 py-1.5 text-xs shadow-float tabular";
  const axis = {
    stroke: colour("--faint"),
    font,
    ticks: { show: false },
    grid: { stroke: colour("--line"), width: 1 },
  };
  const scale = measure === "tokens" ? TOKENS_PER_YUAN : 1;
  const drawn = new UPlot(
    {
      ...sizeOf(element),
      tzDate: (seconds) => UPlot.tzDate(new Date(seconds * 1e3), "Etc/UTC"),
      legend: { show: false },
      padding: [8, 8, 0, 0],
      cursor: { y: false, points: { show: false }, drag: { x: false, y: false } },
      scales: {
        x: { range: () => [times[0]! - 43_200, times.at(-1)! + 43_200] },
        y: { range: (_, _min, max) => [0, Math.max(max * 1.08, measure === "tokens" ? 0.05 : 1)] },
      },
      axes: [
        {
          ...axis,
          grid: { show: false },
          size: 30,
          space: 56,
          values: (_, splits) => splits.map((at) => new Date(at * 1000).toISOString().slice(5, 10)),
        },
        {
          ...axis,
          size: 58,
          values: (_, splits) => {
            const digits = splits.some((value) => !Number.isInteger(value)) ? 2 : 0;
            return splits.map((value) =>
              measure === "tokens" ? `¥${value.toFixed(digits)}` : String(value),
            );
          },
        },
      ],
      series: [
        {},
        ...order.map((index) => ({
          fill: colour(colours[index]!),
          width: 0,
          paths: bars,
          points: { show: false },
        })),
      ],
      hooks: {
        setCursor: [
          (self) => {
            const at = self.cursor.idx;
            if (at === null || at === undefined || !chart.totals[at]) {
              tip.classList.add("hidden");
              return;
            }
            const lines = chart.parts.map((_, index) => {
              const value = chart.heights[index]![at]! - (chart.heights[index - 1]?.[at] ?? 0);
              return value > 0 && chart.parts.length > 1 ? `${names[index]}  ${show(value)}` : "";
            });
            const text = [chart.days[at]!, show(chart.totals[at]), ...lines].filter(Boolean);
            tip.replaceChildren(
              ...text.map((line, index) => {
                const row = document.createElement("div");
                row.textContent = line;
                row.className = index === 1 ? "font-medium text-ink" : "text-soft";
                return row;
              }),
            );
            tip.classList.remove("hidden");
            const left = self.cursor.left ?? 0;
            const isRight = left > self.over.clientWidth / 2;
            tip.style.left = isRight ? "" : `${left + 14}px`;
            tip.style.right = isRight ? `${self.over.clientWidth - left + 14}px` : "";
            tip.style.top = "6px";
          },
        ],
      },
    },
    [times, ...order.map((index) => chart.heights[index]!.map((value) => value / scale))],
    element,
  );
  drawn.over.append(tip);
  return drawn;
}

function sizeOf(element: HTMLElement): { width: number; height: number } {
  return { width: element.clientWidth, height: element.clientHeight };
}

/**
 * Resolves colours with a probe element, because a canvas cannot resolve custom properties or light-dark().
 */
function readColours(element: HTMLElement): (name: string) => string {
  return (name) => {
    // Each colour needs a new probe, because a reused one may still be in transition.
    const probe = document.createElement("span");
    probe.style.color = `var(${name})`;
    element.append(probe);
    const { color } = getComputedStyle(probe);
    probe.remove();
    return color;
  };
}
