import { usdOf } from '#api/billing/usd.ts';
import { figures } from '#api/dashboard/figures.ts';
import { bytes, counted, duration, number, usd } from '#api/dashboard/format-values.ts';
import { html, type Html } from '#api/dashboard/html.ts';
import { icon } from '#api/dashboard/icons.ts';
import type { JobCharge } from '#api/receipts/receipt-payload.ts';
import type { EngineResult } from '#crds/contract/result.ts';

/** Returns the figures of a result with its price, and its warnings. @param charge null: it was not billed; undefined: no price. */
export function resultFigures(result: EngineResult, charge: JobCharge | null | undefined): Html {
  const { kept_original: isKept, savings_percent: saved, warnings } = result;
  return html`${figures([
    ['Saved', isKept ? 'Original kept' : `${number(saved, 1)} %`, isKept ? 'it could not be made smaller' : null],
    ['Size', bytes(result.output_size), `from ${bytes(result.original_size)}`],
    ['Format', result.output_format, [`from ${result.input_format}`, ...dimensions(result)].join(', ')],
    ...(charge === undefined ? [] : [priceFigure(charge)]),
  ])}
  ${
    warnings.length > 0 &&
    html`<section class="notice warning">
      <p>${icon('warning')}<strong>${counted(warnings.length, 'warning')}</strong></p>
      <ul>
        ${warnings.map((text) => html`<li>${text}</li>`)}
      </ul>
    </section>`
  }`;
}

function dimensions({ width, height, pages, duration_seconds: length, video_codec: codec }: EngineResult): string[] {
  return [
    ...(width !== null && height !== null ? [`${width} × ${height} pixels`] : []),
    ...(pages !== null ? [counted(pages, 'page')] : []),
    ...(length !== null ? [duration(length)] : []),
    ...(codec !== null ? [codec] : []),
  ];
}

function priceFigure(charge: JobCharge | null): readonly [string, string, string] {
  if (charge === null || charge.amountMicroUsd === 0) return ['Price', usd(0), 'not billed'];
  const { meter, quantity, amountMicroUsd } = charge;
  return ['Price', usd(usdOf(amountMicroUsd)), `${meter.replace('_', ' ')}: ${number(quantity, 2)}`];
}
