import { html, type Html } from '#api/dashboard/html.ts';

const WIDTH = 720;
const HEIGHT = 200;
/** Height of the highest bar, as a share of the chart. */
const HEADROOM = 0.95;

/** One bar: its parts from bottom to top, each with the class of its color. */
export interface Bar {
  readonly label: string;
  readonly parts: readonly { readonly name: string; readonly style: string; readonly value: number }[];
}

interface BarChart {
  /** Text of the whole chart, also for screen readers. */
  readonly caption: string;
  readonly bars: readonly Bar[];
  /** Formats a value on the axis and in the text at a bar. */
  readonly format: (value: number) => string;
}

/** Returns a chart with an axis on each side; the browser shows the values of a bar under the pointer. */
export function barChart({ caption, bars, format }: BarChart): Html {
  const max = axisEnd(bars.map((bar) => sumOf(bar)));
  const width = WIDTH / Math.max(1, bars.length);
  return html`<figure class="chart">
    <figcaption>${caption}</figcaption>
    <div class="plot">
      <div class="values" aria-hidden="true">
        <span>${format(max)}</span><span>${format(max / 2)}</span><span>${format(0)}</span>
      </div>
      <svg viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" aria-label="${caption}" preserveAspectRatio="none">
        ${[0, 0.5, 1].map((share) => gridLine(HEIGHT * (1 - share * HEADROOM)))}
        ${bars.map((bar, index) => group(bar, { x: index * width, width, max, format }))}
      </svg>
      <div class="labels" aria-hidden="true">${labelsOf(bars).map((label) => html`<span>${label}</span>`)}</div>
    </div>
  </figure>`;
}

function gridLine(y: number): Html {
  return html`<line x1="0" y1="${y.toFixed(1)}" x2="${WIDTH}" y2="${y.toFixed(1)}" class="axis"></line>`;
}

interface Scale extends Pick<BarChart, 'format'> {
  readonly x: number;
  readonly width: number;
  readonly max: number;
}

function group(bar: Bar, { x, width, max, format }: Scale): Html {
  const shown = bar.parts.filter(({ value }) => value > 0);
  const lines = shown.map(({ name, value }) => `${name}: ${format(value)}`);
  const total = shown.length > 1 ? [`total: ${format(sumOf(bar))}`] : [];
  let top = HEIGHT;
  const rects = shown.map(({ style, value }) => {
    const height = (value / max) * HEIGHT * HEADROOM;
    top -= height;
    return rect(style, { x: x + width * 0.12, y: top, width: width * 0.76, height });
  });
  return html`<g class="bar">
    <title>${[bar.label, ...(lines.length === 0 ? ['nothing'] : lines), ...total].join('\n')}</title>
    ${rect('hit', { x, y: 0, width, height: HEIGHT })} ${rects}
  </g>`;
}

function rect(style: string, { x, y, width, height }: { x: number; y: number; width: number; height: number }): Html {
  const [left, top, wide, high] = [x, y, width, height].map((length) => length.toFixed(1));
  return html`<rect
    class="${style}"
    x="${left ?? ''}"
    y="${top ?? ''}"
    width="${wide ?? ''}"
    height="${high ?? ''}"
  ></rect>`;
}

function sumOf({ parts }: Bar): number {
  return parts.reduce((sum, { value }) => sum + value, 0);
}

/** Returns the labels of the first, the middle and the last bar. */
function labelsOf(bars: readonly Bar[]): readonly string[] {
  const shown = bars.length < 3 ? bars : [bars[0], bars[Math.floor((bars.length - 1) / 2)], bars.at(-1)];
  return shown.map((bar) => bar?.label ?? '');
}

/** Returns the end of the axis. That of whole numbers is even, so that there is a whole one in its middle. */
export function axisEnd(values: readonly number[]): number {
  const highest = Math.max(...values, 0);
  return values.every((value) => Number.isInteger(value))
    ? 2 * Math.max(1, niceMaximum(highest / 2))
    : niceMaximum(highest);
}

/** Returns the next number above that is 1, 2 or 5 with zeros, so that the axis has round values. */
function niceMaximum(value: number): number {
  if (value <= 0) return 1;
  const power = 10 ** Math.floor(Math.log10(value));
  const factor = [1, 2, 5, 10].find((step) => step * power >= value * (1 - 1e-9)) ?? 10;
  return factor * power;
}
