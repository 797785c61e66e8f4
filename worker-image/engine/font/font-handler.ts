/** Converts fonts: changes the container only, the tables stay (docs/reference/formats.md#fonts). */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Format } from '#crds/catalogue/formats.ts';
import { MediaError } from '#crds/contract/media-error.ts';
import type { EngineDeps, KindHandler, Produced, Work } from '#worker-image/engine/handler.ts';
import { hasCffOutlines, MAX_FONT_BYTES, readSfnt, type Sfnt } from '#worker-image/engine/font/sfnt.ts';
import { readWoff, writeWoff } from '#worker-image/engine/font/woff.ts';
import { readWoff2, writeWoff2 } from '#worker-image/engine/font/woff2.ts';
import { writeWhole } from '#worker-image/engine/written-file.ts';
import { unsupportedTarget } from '#crds/contract/work-rules.ts';

type FontFormat = 'ttf' | 'otf' | 'woff' | 'woff2';

export const fontHandler: KindHandler = {
  inspect: (_deps, work) => {
    if (work.input.size <= MAX_FONT_BYTES) return Promise.resolve({});
    throw new MediaError(
      'processing_failed',
      `The font has ${work.input.size} bytes; the maximum is ${MAX_FONT_BYTES}. Send a smaller font.`,
    );
  },

  convert: async (deps, work): Promise<Produced> => {
    const target = fontFormat(work.options.convert.to);
    const font = await openFont(deps, work, work.input);
    const path = join(work.directory, `output.${target}`);
    const isSame = work.input.format === target;
    const written = await writeWhole(
      path,
      isSame ? await readFile(work.input.path) : await pack(deps, work, font, target),
    );
    return { path, format: target, facts: {}, warnings: outlineWarning(font, target), written };
  },

  verify: async (deps, work, _input, produced) => {
    const [before, after] = [await openFont(deps, work, work.input), await openFont(deps, work, produced)];
    if (before.glyphs !== after.glyphs)
      throw new Error(`the output has ${after.glyphs} glyphs, the input ${before.glyphs}`);
    const lost = tagsOf(before).filter((tag) => !tagsOf(after).includes(tag));
    if (lost.length > 0) throw new Error(`the output lost the tables ${lost.join(', ')}`);
  },
};

async function openFont(deps: EngineDeps, work: Work, file: { path: string; format: Format }): Promise<Sfnt> {
  try {
    const bytes = await readFile(file.path);
    return readSfnt(await unpack(deps, { bytes, directory: work.directory, format: file.format }));
  } catch (error) {
    deps.signal.throwIfAborted();
    // System errors and errors of `run` do not mean that the font is damaged.
    if (!(error instanceof Error) || error.constructor !== Error || 'syscall' in error) throw error;
    throw new MediaError('processing_failed', `The ${file.format} font could not be opened: ${error.message}.`, {
      cause: error,
    });
  }
}

interface Packed {
  readonly bytes: Buffer;
  readonly directory: string;
  readonly format: Format;
}

async function unpack(deps: EngineDeps, { bytes, directory, format }: Packed): Promise<Buffer> {
  if (format === 'woff') return readWoff(bytes);
  return format === 'woff2' ? readWoff2(deps, { bytes, directory, name: 'unpacked' }) : bytes;
}

async function pack(deps: EngineDeps, work: Work, font: Sfnt, target: FontFormat): Promise<Buffer> {
  switch (target) {
    case 'ttf':
    case 'otf':
      return font.bytes;
    case 'woff':
      return writeWoff(font);
    case 'woff2':
      return writeWoff2(deps, { bytes: font.bytes, directory: work.directory, name: 'packed' });
  }
}

/** Warns when the extension contradicts the kind of outlines, which conversion does not change. */
function outlineWarning(font: Sfnt, target: FontFormat): string[] {
  if (target === 'ttf' && hasCffOutlines(font))
    return [
      'The font keeps its CFF outlines, which are meant for .otf files: some programs reject them in a .ttf file.',
    ];
  if (target === 'otf' && !hasCffOutlines(font))
    return ['The font keeps its TrueType outlines; only the extension is .otf.'];
  return [];
}

/** Returns the tags without the signature, which WOFF2 conversion invalidates and therefore removes. */
function tagsOf({ tables }: Sfnt): string[] {
  return tables.map(({ tag }) => tag).filter((tag) => tag !== 'DSIG');
}

function fontFormat(target: Format | null): FontFormat {
  if (target === 'ttf' || target === 'otf' || target === 'woff' || target === 'woff2') return target;
  throw unsupportedTarget('font', target);
}
