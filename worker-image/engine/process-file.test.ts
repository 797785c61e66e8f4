import { createHash } from 'node:crypto';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { FORMATS, type Format } from '#crds/catalogue/formats.ts';
import { resolveOptions } from '#crds/catalogue/options/options.ts';
import { fileLimits, type PlanName } from '#crds/catalogue/plans.ts';
import { MediaError } from '#crds/contract/media-error.ts';
import type { KindHandler, Produced, Work, Facts } from '#worker-image/engine/handler.ts';
import { processFile, type FileTask, type PipelineDeps, refuseOverLimits } from '#worker-image/engine/process-file.ts';
import { MissingTool } from '#worker-image/tools/find-tool.ts';
import { makeRunCommand } from '#worker-image/tools/run-command.ts';

const INPUT = Buffer.concat([Buffer.from('\xff\xd8\xff\xe0', 'latin1'), Buffer.alloc(996, 'i')]);
/** Facts of the input, as the handler's inspection returns them. */
const SHAPE = { width: 60, height: 40 };
let directory: string;

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'process-file-'));
});
afterEach(() => rm(directory, { recursive: true }));

describe('processFile', () => {
  // Promise, Conventions and objects: Result object, in the header on one line of printable ASCII
  it('returns the smaller file with its report', async () => {
    const small = Buffer.alloc(700, 'o');
    const { path, report } = await run({ compress: writes(small) });
    expect(await readFile(path)).toEqual(small);
    expect(report).toEqual({
      result: {
        kind: 'image',
        input_format: 'jpg',
        output_format: 'webp',
        original_size: 1000,
        output_size: 700,
        savings_percent: 30,
        kept_original: false,
        increased: false,
        width: 30,
        height: 20,
        pages: null,
        duration_seconds: null,
        video_codec: null,
        warnings: ['from the handler'],
      },
      inputSha256: digestOf(INPUT),
      outputSha256: digestOf(small),
      tools: { sharp: '1.2.3' },
    });
  });

  it('does not count silence that the codec adds at the end', async () => {
    const inspect: KindHandler['inspect'] = () => Promise.resolve({ durationSeconds: 60 });
    const lasting = (durationSeconds: number): NonNullable<KindHandler['compress']> => {
      return async (...work) => {
        const produced = await writes(Buffer.alloc(1))(...work);
        return { ...produced, facts: { ...produced.facts, durationSeconds } };
      };
    };
    const padded = await run({ inspect, compress: lasting(60.0236) });
    expect(padded.report.result.duration_seconds).toBe(60);
  });

  it('passes the handler a file named by its content and an empty directory', async () => {
    let seen: Work | null = null;
    await run(
      { compress: (deps, work, facts) => ((seen = work), writes(Buffer.alloc(1))(deps, work, facts)) },
      { filename: 'a.png' },
    );
    expect(seen).toMatchObject({
      input: { path: join(directory, 'in/input.jpg'), size: 1000 },
      directory: join(directory, 'out'),
    });
  });

  it('warns when name and content disagree', async () => {
    const { report } = await run({ compress: writes(Buffer.alloc(1)) }, { filename: 'a.png' });
    expect(report.result.warnings[0]).toContain('The file name indicates png');
  });

  it('lists the tools that ran with their versions', async () => {
    const compress: KindHandler['compress'] = async (deps, work, facts) => {
      await deps.run({ file: 'true', args: [], directory: work.directory, signal: deps.signal, timeoutSeconds: 5 });
      return writes(Buffer.alloc(1))(deps, work, facts);
    };
    expect((await run({ compress })).report.tools).toEqual({ sharp: '1.2.3', true: '9.1' });
  });

  // Promise, States: Processing begins with the worker's first heartbeat; percent never decreases
  it('reports percents that never fall', async () => {
    const percents: number[] = [];
    const compress: KindHandler['compress'] = (deps, work, facts) => {
      deps.onProgress(50);
      deps.onProgress(100);
      return writes(Buffer.alloc(1))(deps, work, facts);
    };
    await run({ compress }, {}, { onProgress: (percent) => percents.push(percent) });
    expect(percents).toEqual([2, 49, 96, 96]);
  });

  it.each<Partial<FileTask>>([{}, toPng()])(
    'throws a TypeError, which is a bug, when the handler lacks the operation',
    async (task) => {
      await expect(run({}, task)).rejects.toThrow(TypeError);
    },
  );

  it('refuses before the handler is loaded', async () => {
    const loadHandler = () => Promise.reject(new Error('loaded'));
    const refused = run({}, { operation: 'convert' }, { loadHandler });
    await expect(refused).rejects.toMatchObject({ code: 'invalid_options', param: 'convert.to' });
  });

  // Promise, Bad input, case by case: Pixels, frames, pages, durations
  // Promise, Limits and versions: Length, pixels, pages and frames of the plan
  // Promise, Direct endpoints: Unsupported_input, use_async_job, encrypted_pdf, processing_failed, limit_exceeded with value and limit
  it('refuses a file over a limit before processing it', async () => {
    const refused = run({ inspect: () => Promise.resolve({ width: 30_000, height: 30_000 }) });
    await expect(refused).rejects.toMatchObject({
      code: 'limit_exceeded',
      message: expect.stringContaining('900000000'),
    });
  });

  it.each<[string, Partial<KindHandler>, Partial<FileTask>, string]>([
    ['inspection that fails', { inspect: () => Promise.reject(new Error('bad header')) }, {}, 'processing_failed'],
    ['a step that fails', { compress: () => Promise.reject(new Error('bad data')) }, {}, 'processing_failed'],
    [
      'a refusal of the handler',
      { compress: () => Promise.reject(new MediaError('invalid_options', 'no')) },
      {},
      'invalid_options',
    ],
    [
      'a conversion that fails its check',
      { convert: writes(Buffer.alloc(1)), verify: () => Promise.reject(new Error('2 pages, not 3')) },
      toPng(),
      'processing_failed',
    ],
  ])('refuses with the right code after %s', async (_what, handler, task, code) => {
    await expect(run(handler, task)).rejects.toMatchObject({ name: 'MediaError', code });
  });

  it.each<[string, Error]>([
    ['a bug', new TypeError('x is undefined')],
    ['a missing tool', new MissingTool('no ffmpeg')],
    ['a full disk', Object.assign(new Error('no space left'), { code: 'ENOSPC', syscall: 'write' })],
  ])('rethrows %s, for which the file is not refused', async (_what, error) => {
    await expect(run({ compress: () => Promise.reject(error) })).rejects.toBe(error);
  });

  it('throws the reason of an abort, whatever the handler threw', async () => {
    const stop = new AbortController();
    const compress = () => (stop.abort(new MediaError('timeout', 'too long')), Promise.reject(new Error('killed')));
    await expect(run({ compress }, {}, { signal: stop.signal })).rejects.toMatchObject({ code: 'timeout' });
  });

  // Promise, Direct endpoints: Convert: target, its spellings and case, page, dpi; larger results are returned
  it('returns a conversion even when it is larger', async () => {
    const { report } = await run({ convert: writes(Buffer.alloc(2000)) }, toPng());
    expect(report.result).toMatchObject({ increased: true, kept_original: false, savings_percent: -100 });
  });
});

describe('processFile when compression gains nothing', () => {
  const larger = writes(Buffer.alloc(2000));

  // Promise, Bad input, case by case: Kept, stripped
  // Promise, Direct endpoints: What cannot be made smaller is returned unchanged and free
  it('keeps the original', async () => {
    const { path, report } = await run({ compress: larger }, keepMetadata());
    expect(await readFile(path)).toEqual(INPUT);
    expect(report.result).toMatchObject({
      kept_original: true,
      output_format: 'jpg',
      output_size: 1000,
      savings_percent: 0,
      increased: false,
    });
    expect(report.outputSha256).toBe(report.inputSha256);
  });

  it('keeps the original with a warning when the result fails its check', async () => {
    const { report } = await run(
      { compress: writes(Buffer.alloc(1)), verify: () => Promise.reject(new Error('it is black')) },
      keepMetadata(),
    );
    expect(report.result).toMatchObject({
      kept_original: true,
      warnings: ['The compressed file did not pass verification (it is black).'],
    });
  });

  // Promise, Bad input, case by case: Kept, stripped
  it('returns the stripped file rather than an original with metadata', async () => {
    const stripped = Buffer.alloc(900, 's');
    const { path, report } = await run({ compress: larger, stripMetadata: writes(stripped) });
    expect(await readFile(path)).toEqual(stripped);
    expect(report.result).toMatchObject({ kept_original: false, output_size: 900 });
  });

  it('returns a stripped file of the same size when its bytes differ', async () => {
    const { report } = await run({ compress: larger, stripMetadata: writes(Buffer.alloc(1000, 's')) });
    expect(report.result.kept_original).toBe(false);
  });

  it('keeps the original when there was nothing to strip', async () => {
    const sameShape = { format: 'jpg', facts: SHAPE } as const;
    const { report } = await run({ compress: writes(Buffer.alloc(2000), sameShape), stripMetadata: writes(INPUT) });
    expect(report.result).toMatchObject({ kept_original: true, warnings: [] });
  });

  const toPngOfSameSize = { produced: { format: 'png', facts: SHAPE }, requested: { 'image.format': 'png' } } as const;
  const toOtherSize = { produced: { format: 'jpg' }, requested: { 'image.resize.mode': 'fill' } } as const;
  it.each([
    ['format', 'kept', toPngOfSameSize, INPUT, 'The png would have 2000 bytes'],
    ['format', 'stripped', toPngOfSameSize, Buffer.alloc(900), 'The png would have 2000 bytes'],
    ['size', 'kept', toOtherSize, INPUT, 'The jpg of 30x20 would have 2000 bytes'],
    ['size', 'stripped', toOtherSize, Buffer.alloc(900), 'The jpg of 30x20 would have 2000 bytes'],
  ])(
    'warns that the requested %s was not applied when the original is %s',
    async (_what, how, step, strip, warning) => {
      const options = resolveOptions(new Map(Object.entries(step.requested)));
      const compress = writes(Buffer.alloc(2000), step.produced);
      const { report } = await run({ compress, stripMetadata: writes(strip, { format: 'jpg' }) }, { options });
      expect(report.result).toMatchObject({ kept_original: how === 'kept', output_format: 'jpg' });
      expect(report.result.warnings[0]).toContain(warning);
    },
  );

  it.each<[string, KindHandler['stripMetadata']]>([
    ['is larger', writes(Buffer.alloc(1001))],
    ['fails', () => Promise.reject(new Error('unknown segment'))],
  ])('warns of remaining metadata when the strip %s', async (_what, stripMetadata) => {
    const { report } = await run({ compress: larger, ...(stripMetadata === undefined ? {} : { stripMetadata }) });
    expect(report.result.kept_original).toBe(true);
    expect(report.result.warnings[0]).toContain('The original was kept with its metadata');
  });

  it('does not strip when the caller keeps metadata', async () => {
    const { report } = await run({ compress: larger, stripMetadata: writes(Buffer.alloc(900)) }, keepMetadata());
    expect(report.result.kept_original).toBe(true);
  });
});

/** Returns a handler with the given methods. */
function handlerOf(steps: Partial<KindHandler>): KindHandler {
  return {
    inspect: () => Promise.resolve(SHAPE),
    verify: () => Promise.resolve(),
    ...steps,
  };
}

function writes(bytes: Buffer, over: Partial<Produced> = {}): NonNullable<KindHandler['compress']> {
  return async (_deps, work): Promise<Produced> => {
    const path = join(work.directory, 'made');
    await writeFile(path, bytes);
    const facts = { width: 30, height: 20 };
    return { path, format: 'webp', facts, warnings: ['from the handler'], ...over };
  };
}

async function run(steps: Partial<KindHandler>, task: Partial<FileTask> = {}, deps: Partial<PipelineDeps> = {}) {
  const path = join(directory, 'input');
  await writeFile(path, INPUT);
  return processFile(
    {
      run: makeRunCommand(),
      onProgress: () => undefined,
      signal: new AbortController().signal,
      loadHandler: () => Promise.resolve(handlerOf(steps)),
      versions: { sharp: '1.2.3', true: '9.1', ffmpeg: '5' },
      ...deps,
    },
    {
      operation: 'compress',
      options: resolveOptions(new Map()),
      limits: fileLimits('payg'),
      features: { video: false, heicOutput: false },
      lane: 'job',
      path,
      filename: null,
      directory,
      ...task,
    },
  );
}

function toPng(): Partial<FileTask> {
  return { operation: 'convert', options: resolveOptions(new Map([['convert.to', 'png']])) };
}

function keepMetadata(): Partial<FileTask> {
  return { options: resolveOptions(new Map([['image.strip_metadata', false]])) };
}

function digestOf(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('hex');
}

const LIMITS = { maxPixels: 100, maxFrames: 20, maxPages: 30, maxSeconds: 40 };

describe('refuseOverLimits', () => {
  // Promise, Bad input, case by case: Pixels, frames, pages, durations
  // Promise, Limits and versions: Length, pixels, pages and frames of the plan
  // Promise, Direct endpoints: Unsupported_input, use_async_job, encrypted_pdf, processing_failed, limit_exceeded with value and limit
  it.each<[Partial<Facts>, string | null]>([
    [{ width: 10, height: 10 }, null],
    [{ width: 101, height: 1 }, '101 pixels (width times height); at most 100'],
    [{ frames: 21 }, '21 frames; at most 20'],
    [{ pages: 31 }, '31 pages; at most 30'],
    [{ durationSeconds: 40.24 }, '40.2 seconds; at most 40'],
    [{ durationSeconds: 40 }, null],
  ])('compares %j with the limits', (facts, words) => {
    const check = (): void => refuseOverLimits(identified('jpg'), facts, LIMITS);
    if (words === null) expect(check).not.toThrow();
    else expect(check).toThrow(words);
  });

  // Promise, Bad input, case by case: Pixels, frames, pages, durations
  // Promise, Limits and versions: Length, pixels, pages and frames of the plan
  it.each<[PlanName, { megapixels: number; pages: number; minutes: number }]>([
    ['none', { megapixels: 50, pages: 200, minutes: 1 }],
    ['payg', { megapixels: 100, pages: 1000, minutes: 10 }],
    ['starter', { megapixels: 100, pages: 2000, minutes: 60 }],
    ['growth', { megapixels: 100, pages: 2000, minutes: 180 }],
    ['scale', { megapixels: 100, pages: 2000, minutes: 180 }],
    ['enterprise', { megapixels: 100, pages: 2000, minutes: 180 }],
  ])('accepts files at the limits of the plan %s and refuses larger ones', (plan, { megapixels, pages, minutes }) => {
    const check = (format: Format, facts: Partial<Facts>) => (): void =>
      refuseOverLimits(identified(format), facts, fileLimits(plan));
    const [width, height, seconds] = [10_000, megapixels * 100, minutes * 60];
    const overLimit = expect.objectContaining({ code: 'limit_exceeded' });
    expect(check('jpg', { width, height })).not.toThrow();
    expect(check('jpg', { width, height: height + 1 })).toThrow(overLimit);
    expect(check('mp4', { width, height: height + 1 })).toThrow(overLimit);
    expect(check('gif', { frames: 2000 })).not.toThrow();
    expect(check('gif', { frames: 2001 })).toThrow(overLimit);
    expect(check('pdf', { pages })).not.toThrow();
    expect(check('pdf', { pages: pages + 1 })).toThrow(overLimit);
    expect(check('mp3', { durationSeconds: seconds })).not.toThrow();
    expect(check('mp3', { durationSeconds: seconds + 1 })).toThrow(overLimit);
  });

  // Promise, Settled where the interface leaves it open: Many large frames are legal: the time limit ends them
  it('accepts as many frames as allowed of as many pixels as allowed', () => {
    const facts = { width: 10_000, height: 10_000, frames: 2000 };
    expect(() => refuseOverLimits(identified('webp'), facts, fileLimits('growth'))).not.toThrow();
  });
});

function identified(format: Format): Work['input'] {
  return { kind: FORMATS[format].kind, format, warning: null, path: 'file', size: 1 };
}
