import type { Kind, Operation } from '#crds/catalogue/formats.ts';

export interface DemoWork {
  readonly operation: Operation;
  readonly options: Readonly<Record<string, unknown>>;
}

/** Default operation of the demo for each kind of file. */
export const USUAL_WORK: Readonly<Record<Kind, DemoWork>> = {
  video: { operation: 'compress', options: {} },
  word: { operation: 'convert', options: { convert: { to: 'pdf' } } },
  sheet: { operation: 'convert', options: { convert: { to: 'pdf' } } },
  presentation: { operation: 'convert', options: { convert: { to: 'pdf' } } },
  pdf: { operation: 'compress', options: {} },
  image: { operation: 'compress', options: {} },
  audio: { operation: 'compress', options: {} },
  table: { operation: 'convert', options: { convert: { to: 'xlsx' } } },
  font: { operation: 'convert', options: { convert: { to: 'woff2' } } },
};
