import type { Kind, Operation } from '#crds/formats.ts';

export interface Work {
  readonly operation: Operation;
  readonly options: Readonly<Record<string, unknown>>;
}

/** What the demo does with a file of each kind when nobody says otherwise. */
export const USUAL_WORK: Readonly<Record<Kind, Work>> = {
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
