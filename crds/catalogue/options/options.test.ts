import { describe, expect, it } from 'vitest';
import { CONVERT_TARGETS, KINDS } from '#crds/catalogue/formats.ts';
import { MediaError } from '#crds/contract/media-error.ts';
import { mergeOptions, parseJsonOptions, parseQueryOptions, resolveOptions } from '#crds/catalogue/options/options.ts';

const query = (entries: Record<string, string>) =>
  parseQueryOptions(new Map(Object.entries(entries)), ['to', 'page', 'dpi']);

function refusalOf(work: () => unknown): { code: string; param: string | null } {
  try {
    work();
  } catch (error) {
    if (error instanceof MediaError) return { code: error.code, param: error.param };
    throw error;
  }
  throw new Error('nothing was refused');
}

describe('options in JSON', () => {
  // Promise, Bad input, case by case: Invalid, too deep and too long JSON, `__proto__`
  // Promise, Bad input, case by case: Targets, pages, dpi
  // Promise, Bad input, case by case: Options
  // Promise, Direct endpoints: Compress options: defaults and ranges; box sides are clamped to 100 to 9,999
  // Promise, Direct endpoints: Unknown options are refused, those of other kinds ignored
  it.each([
    [{ image: { quality: 101 } }, 'image.quality'],
    [{ image: { quality: -1 } }, 'image.quality'],
    [{ image: { quality: 60.5 } }, 'image.quality'],
    [{ image: { quality: '60' } }, 'image.quality'],
    [{ image: { quality: null } }, 'image.quality'],
    [{ image: { format: 'tiff' } }, 'image.format'],
    [{ image: { resize: null } }, 'image.resize'],
    [{ image: { resize: { mode: 'stretch' } } }, 'image.resize.mode'],
    [{ image: { resize: { width: 0 } } }, 'image.resize.width'],
    [{ image: { resize: { width: 32_769 } } }, 'image.resize.width'],
    [{ image: { resize: { height: 0 } } }, 'image.resize.height'],
    [{ image: { resize: { height: 32_769 } } }, 'image.resize.height'],
    [{ image: { resize: { depth: 1 } } }, 'image.resize.depth'],
    [{ picture: {} }, 'picture'],
    [{ pdf: { quality: 'huge' } }, 'pdf.quality'],
    [{ audio: { bitrate_kbps: 15 } }, 'audio.bitrate_kbps'],
    [{ audio: { bitrate_kbps: 513 } }, 'audio.bitrate_kbps'],
    [{ audio: { sample_rate_hz: 7999 } }, 'audio.sample_rate_hz'],
    [{ audio: { sample_rate_hz: 192_001 } }, 'audio.sample_rate_hz'],
    [{ video: { resolution: 1000 } }, 'video.resolution'],
    [{ convert: { dpi: 35 } }, 'convert.dpi'],
    [{ convert: { dpi: 601 } }, 'convert.dpi'],
    [{ image: 'jpg' }, 'image'],
    [[], 'options'],
    [JSON.parse('{"__proto__": {"polluted": true}}'), '__proto__'],
  ])('refuses %j with the path in param', (options, param) => {
    expect(refusalOf(() => parseJsonOptions(options))).toEqual({ code: 'invalid_options', param });
    expect(({} as { polluted?: boolean }).polluted).toBeUndefined();
  });

  // Promise, Bad input, case by case: Targets, pages, dpi
  // Promise, Bad input, case by case: Options
  // Promise, Direct endpoints: Compress options: defaults and ranges; box sides are clamped to 100 to 9,999
  it.each([
    ['image.quality', 0, 100],
    ['image.resize.width', 1, 32_768],
    ['image.resize.height', 1, 32_768],
    ['audio.bitrate_kbps', 16, 512],
    ['audio.sample_rate_hz', 8000, 192_000],
    ['convert.dpi', 36, 600],
  ])('accepts %s of %i and of %i', (path, least, greatest) => {
    for (const value of [least, greatest]) {
      const nested = path.split('.').reduceRight<unknown>((inner, name) => ({ [name]: inner }), value);
      expect(parseJsonOptions(nested)).toEqual(new Map([[path, value]]));
    }
  });
});

describe('options in a query', () => {
  // Promise, Bad input, case by case: Targets, pages, dpi
  // Promise, Bad input, case by case: Options
  it.each([
    [{ 'image.quality': '60.5' }, 'image.quality'],
    [{ 'image.quality': '1e2' }, 'image.quality'],
    [{ 'image.quality': '' }, 'image.quality'],
    [{ 'image.strip_metadata': 'yes' }, 'image.strip_metadata'],
    [{ 'image.__proto__.x': '1' }, 'image.__proto__.x'],
    [{ quality: '60' }, 'quality'],
    [{ page: '0' }, 'convert.page'],
  ])('refuses %j', (entries, param) => {
    expect(refusalOf(() => query(entries))).toEqual({ code: 'invalid_options', param });
  });

  it.each(['60.5', '1e2', '1.0', 'x'])('name %s as no whole number', (text) => {
    expect(() => query({ 'image.quality': text })).toThrow(
      `\`image.quality\` is \`${text}\`: it has to be a whole number.`,
    );
  });

  // Promise, Direct endpoints: Convert: target, its spellings and case, page, dpi; larger results are returned
  it('are parsed as numbers, booleans, words and short names of convert', () => {
    const options = resolveOptions(query({ 'image.quality': '60', 'image.resize': 'false', to: 'JPEG', dpi: '300' }));
    expect(options.image).toMatchObject({ quality: 60, resize: null });
    expect(options.convert).toEqual({ to: 'jpg', page: 1, dpi: 300 });
  });
});

describe('resolveOptions', () => {
  // Promise, Direct endpoints: Compress options: defaults and ranges; box sides are clamped to 100 to 9,999
  it('fills in every default', () => {
    expect(resolveOptions(new Map())).toEqual({
      image: {
        format: 'original',
        quality: 75,
        resize: { mode: 'fit', width: 2000, height: 2000 },
        strip_metadata: true,
      },
      pdf: { quality: 'medium' },
      video: { format: 'mp4', codec: 'h265', quality: 'balanced', resolution: null },
      audio: {
        format: 'aac',
        quality: 'high',
        channels: 'stereo',
        strip_metadata: false,
        bitrate_kbps: null,
        sample_rate_hz: null,
      },
      convert: { to: null, page: 1, dpi: 144 },
    });
  });

  // Promise, Bad input, case by case: Options
  // Promise, Direct endpoints: Compress options: defaults and ranges; box sides are clamped to 100 to 9,999
  it.each([
    [1, 100],
    [99, 100],
    [100, 100],
    [9999, 9999],
    [10_000, 9999],
    [32_768, 9999],
  ])('clamps a box side of %i to %i', (sent, side) => {
    for (const name of ['width', 'height']) {
      const { image } = resolveOptions(parseJsonOptions({ image: { resize: { [name]: sent } } }));
      expect(image.resize).toMatchObject({ [name]: side });
    }
  });

  // Promise, Direct endpoints: Compress options: defaults and ranges; box sides are clamped to 100 to 9,999
  it.each([
    ['a box turns resize on in the same source', { 'image.resize': 'false', 'image.resize.width': '300' }, 300],
    ['an empty object turns it on', { 'image.resize': 'true' }, 2000],
  ])('%s', (_name, entries, width) => {
    expect(resolveOptions(query(entries)).image.resize).toMatchObject({ width });
  });

  // Promise, Direct endpoints: Preset, then JSON, then query
  it('uses the strongest source of each path', () => {
    const preset = parseJsonOptions({ image: { quality: 10, format: 'webp' } });
    const json = parseJsonOptions({ image: { quality: 20, strip_metadata: false } });
    const image = resolveOptions(mergeOptions(preset, json, query({ 'image.quality': '30' }))).image;
    expect(image).toMatchObject({ format: 'webp', quality: 30, strip_metadata: false });
  });

  it('drops the box of a weaker source when a stronger one switches resize off', () => {
    const merged = mergeOptions(
      parseJsonOptions({ image: { resize: { width: 300 } } }),
      query({ 'image.resize': 'false' }),
    );
    expect(resolveOptions(merged).image.resize).toBeNull();
  });

  it('keeps the box of a weaker source when a stronger one switches resize on', () => {
    const box = parseJsonOptions({ image: { resize: { width: 300 } } });
    expect(resolveOptions(mergeOptions(box, query({ 'image.resize': 'true' }))).image.resize).toMatchObject({
      width: 300,
    });
  });

  it('keeps the box of the weakest source when the strongest one switches resize on again', () => {
    const box = parseJsonOptions({ image: { resize: { width: 300 } } });
    const merged = mergeOptions(box, parseJsonOptions({ image: { resize: false } }), query({ 'image.resize': 'true' }));
    expect(resolveOptions(merged).image.resize).toMatchObject({ width: 300 });
  });

  it('treats a target of digits as a word', () => {
    expect(refusalOf(() => resolveOptions(query({ to: '123' })))).toEqual({
      code: 'unsupported_target',
      param: 'convert.to',
    });
  });

  it('selects vp9 for webm when no codec is given', () => {
    expect(resolveOptions(parseJsonOptions({ video: { format: 'webm' } })).video.codec).toBe('vp9');
  });

  // Promise, Bad input, case by case: Sample rates
  // Promise, Bad input, case by case: Options
  it.each([
    [{ video: { format: 'webm', codec: 'h264' } }, 'invalid_options', 'video.codec'],
    [{ video: { format: 'mov', codec: 'vp9' } }, 'invalid_options', 'video.codec'],
    [{ audio: { format: 'opus', sample_rate_hz: 44_100 } }, 'invalid_options', 'audio.sample_rate_hz'],
    [{ audio: { format: 'mp3', sample_rate_hz: 96_000 } }, 'invalid_options', 'audio.sample_rate_hz'],
    [{ audio: { format: 'aac', sample_rate_hz: 192_000 } }, 'invalid_options', 'audio.sample_rate_hz'],
    [{ convert: { to: 'docm2' } }, 'unsupported_target', 'convert.to'],
    [{ convert: { to: 'opendocumentspreadsheet' } }, 'unsupported_target', 'convert.to'],
  ])('refuses %j', (options, code, param) => {
    expect(refusalOf(() => resolveOptions(parseJsonOptions(options)))).toEqual({ code, param });
  });

  // Promise, Bad input, case by case: Sample rates
  it('leaves a sample rate to the engine when no output format is chosen', () => {
    const sent = parseJsonOptions({ audio: { sample_rate_hz: 192_000 } });
    expect(resolveOptions(sent).audio).toMatchObject({ format: 'aac', sample_rate_hz: 192_000 });
    expect(refusalOf(() => resolveOptions(mergeOptions(sent, parseJsonOptions({ audio: { format: 'mp3' } }))))).toEqual(
      { code: 'invalid_options', param: 'audio.sample_rate_hz' },
    );
  });

  it.each(['compress', 'strip_metadata', null] as const)(
    'refuses an unknown target as invalid option for %s',
    (operation) => {
      const sent = parseJsonOptions({ convert: { to: 'exe' } });
      expect(refusalOf(() => resolveOptions(sent, operation))).toEqual({
        code: 'invalid_options',
        param: 'convert.to',
      });
    },
  );

  // Promise, Direct endpoints: Unsupported_target lists the targets
  it.each(KINDS)('lists the targets of %s files when it refuses a target', (kind) => {
    expect(() => resolveOptions(parseJsonOptions({ convert: { to: 'exe' } }))).toThrow(
      `${kind} to ${CONVERT_TARGETS[kind].join(', ')}`,
    );
  });
});
