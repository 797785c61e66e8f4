import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { MediaError } from '#crds/contract/media-error.ts';
import {
  mergeOptions,
  OPTION_PATHS,
  parseJsonOptions,
  parseQueryOptions,
  resolvedOptionsSchema,
  resolveOptions,
  type FlatOptions,
} from '#crds/catalogue/options/options.ts';

const VALUES = [
  'original',
  'jpg',
  'webp',
  'mp4',
  'h264',
  'vp9',
  'aac',
  'mono',
  'fit',
  'high',
  'low',
  'json',
  true,
  false,
  0,
  1,
  75,
  101,
  144,
  720,
  1080,
  5000,
  48_000,
] as const;
const RESIZE = /^image\.resize\./;

const value = fc.oneof(fc.constantFrom(...VALUES), fc.integer(), fc.string({ maxLength: 12 }));
const anyOptions = fc
  .dictionary(fc.constantFrom(...OPTION_PATHS), value, { maxKeys: 6 })
  .map((entries) => new Map(Object.entries(entries)));

/** Options that the query parser takes, as it reads them. */
const options: fc.Arbitrary<FlatOptions> = anyOptions.map(
  (entries) => new Map([...entries].flatMap(([path, text]) => readOne(path, String(text)))),
);

function readOne(path: string, text: string): [string, string | number | boolean][] {
  try {
    return [...parseQueryOptions(new Map([[path, text]]))];
  } catch (error) {
    if (error instanceof MediaError) return [];
    throw error;
  }
}

function nested(flat: ReadonlyMap<string, unknown>): Record<string, any> {
  const root: Record<string, any> = {};
  for (const [path, leaf] of flat) {
    const names = path.split('.');
    const last = names.pop() ?? '';
    const parent = names.reduce<Record<string, any>>((at, name) => {
      if (typeof at[name] !== 'object') at[name] = {};
      return at[name] as Record<string, any>;
    }, root);
    parent[last] = leaf;
  }
  return root;
}

const entriesOf = (flat: FlatOptions) => [...flat].toSorted(([a], [b]) => (a < b ? -1 : 1));
const endsResize = (flat: FlatOptions): boolean =>
  flat.get('image.resize') === false && ![...flat.keys()].some((path) => RESIZE.test(path));

describe('merging options', () => {
  it('changes nothing with an empty source, and with the same source again', () => {
    fc.assert(
      fc.property(options, (a) => {
        for (const merged of [
          mergeOptions(a),
          mergeOptions(a, new Map()),
          mergeOptions(new Map(), a),
          mergeOptions(a, a),
        ]) {
          expect(entriesOf(merged)).toEqual(entriesOf(a));
        }
      }),
    );
  });

  it('returns the same for one merge and for two', () => {
    fc.assert(
      fc.property(options, options, options, (a, b, c) => {
        expect(entriesOf(mergeOptions(a, b, c))).toEqual(entriesOf(mergeOptions(mergeOptions(a, b), c)));
      }),
    );
  });

  it('keeps the strongest source, and other paths of the weaker one', () => {
    fc.assert(
      fc.property(options, options, (weak, strong) => {
        const merged = mergeOptions(weak, strong);
        for (const [path, leaf] of strong) expect(merged.get(path)).toBe(leaf);
        const left = [...weak].filter(([path]) => !strong.has(path) && !(endsResize(strong) && RESIZE.test(path)));
        for (const [path, leaf] of left) expect(merged.get(path)).toBe(leaf);
        expect(merged.size).toBe(strong.size + left.length);
      }),
    );
  });
});

describe('reading and resolving options', () => {
  it('either refuses with the option that is wrong, or fills in every one', () => {
    fc.assert(
      fc.property(anyOptions, (sent) => {
        try {
          const resolved = resolveOptions(parseJsonOptions(nested(sent)));
          expect(resolvedOptionsSchema.parse(resolved)).toEqual(resolved);
        } catch (error) {
          if (!(error instanceof MediaError)) throw error;
          expect(['invalid_options', 'unsupported_target']).toContain(error.code);
          expect(error.param).not.toBeNull();
        }
      }),
      { numRuns: 500 },
    );
  });

  // Promise, Bad input, case by case: Options
  it('throws refusals only, for any JSON', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (sent) => {
        try {
          parseJsonOptions(sent);
        } catch (error) {
          expect(error).toMatchObject({ name: 'MediaError', code: 'invalid_options' });
        }
      }),
      { numRuns: 300 },
    );
  });

  it('does not depend on the order of the options', () => {
    fc.assert(
      fc.property(options, (flat) => {
        const outcome = (of: FlatOptions): unknown => {
          try {
            return resolveOptions(of);
          } catch (error) {
            return (error as MediaError).code;
          }
        };
        expect(outcome(new Map([...flat].toReversed()))).toEqual(outcome(flat));
      }),
    );
  });
});
