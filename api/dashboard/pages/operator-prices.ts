import { usdOf } from '#api/billing/usd.ts';
import { html } from '#api/dashboard/html.ts';
import { forOperator, type Route } from '#api/dashboard/route.ts';
import { table } from '#api/dashboard/table.ts';
import { number, usd } from '#api/dashboard/format-values.ts';
import { PRICE_BOOK } from '#crds/catalogue/prices.ts';

const UNITS = {
  pdfs: 'started hundred pages compressed',
  documents: 'office document converted',
  audio_minutes: 'started minute',
  video_units: 'video unit',
  files: 'font or table converted',
} as const;

/** Page with the price book. */
export const operatorPriceRoutes: readonly Route[] = [
  forOperator('GET', '/operator/prices', () => ({
    kind: 'page',
    title: 'Price book',
    body: html`<h1>Price book</h1>
      <p>Version <code>${PRICE_BOOK.version}</code>. It is part of this version of the service.</p>
      ${table({
        caption: 'Unit prices',
        columns: ['Meter', 'Unit', '#Price'],
        rows: [
          ...PRICE_BOOK.images.map(({ upTo, microUsd }) => [
            'images',
            Number.isFinite(upTo) ? `image, up to ${number(upTo)} a month` : 'each further image',
            usd(usdOf(microUsd)),
          ]),
          ...Object.entries(PRICE_BOOK.flat).map(([meter, microUsd]) => [
            meter,
            UNITS[meter as keyof typeof UNITS],
            usd(usdOf(microUsd)),
          ]),
        ],
        empty: null,
      })}
      ${table({
        caption: 'Video units of a started minute, before the codec',
        columns: ['Output, pixels of a frame', '#Units'],
        rows: PRICE_BOOK.videoUnitsPerMinute.map(({ pixels, units }) => [
          Number.isFinite(pixels) ? `up to ${number(pixels)}` : 'more',
          units,
        ]),
        empty: null,
      })}
      ${table({
        caption: 'Factor of the output codec',
        columns: ['Codec', '#Factor'],
        rows: Object.entries(PRICE_BOOK.videoCodecFactor),
        empty: null,
      })}`,
  })),
];
