/** WOFF2 by Google's tools, which choose the output path themselves: beside the input. */
import { readFile, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { MediaError } from '#crds/contract/media-error.ts';
import type { EngineDeps } from '#worker-image/engine/handler.ts';
import { isFlavor, MAX_FONT_BYTES } from '#worker-image/engine/font/sfnt.ts';

const SIGNATURE = 0x774f4632;
const HEADER_BYTES = 48;
/** Size up to which Google's tool decompresses fonts, in bytes. */
const MAX_UNPACKED_BYTES = 30 * 1024 ** 2;
/** Timeout of a tool, in seconds: a font of the maximum size takes three minutes of a busy processor. */
const TIMEOUT_SECONDS = 15 * 60;

interface Woff2Run {
  readonly bytes: Buffer;
  /** Private directory for files named after `name`. */
  readonly directory: string;
  readonly name: string;
}

/** Decompresses a WOFF2 font. @throws Error with the reason for a damaged font and for one that is too large. */
export async function readWoff2(deps: EngineDeps, { bytes, directory, name }: Woff2Run): Promise<Buffer> {
  refuseHeader(bytes);
  return runWoff2Tool(deps, 'woff2_decompress', { bytes, directory, from: `${name}.woff2`, to: `${name}.ttf` });
}

/** Compresses a font to WOFF2. @throws MediaError limit_exceeded; Error when the tool writes no file. */
export async function writeWoff2(deps: EngineDeps, { bytes, directory, name }: Woff2Run): Promise<Buffer> {
  if (bytes.length > MAX_UNPACKED_BYTES) throw tooLarge(bytes.length);
  return runWoff2Tool(deps, 'woff2_compress', { bytes, directory, from: `${name}.ttf`, to: `${name}.woff2` });
}

/** Refuses a font by the sizes in its header, before anything is decompressed. */
function refuseHeader(bytes: Buffer): void {
  if (bytes.length < HEADER_BYTES || bytes.readUInt32BE(0) !== SIGNATURE) throw new Error('the file is no WOFF2 font');
  if (!isFlavor(bytes.readUInt32BE(4))) throw new Error('the WOFF2 file does not contain a single font');
  if (bytes.readUInt32BE(8) !== bytes.length) throw new Error('the WOFF2 font is truncated');
  const unpacked = bytes.readUInt32BE(16);
  if (unpacked > MAX_UNPACKED_BYTES)
    throw new Error(`the font decompresses to ${unpacked} bytes; the maximum is ${MAX_UNPACKED_BYTES}`);
}

function tooLarge(bytes: number): MediaError {
  const message = `The font has ${bytes} bytes uncompressed; a WOFF2 font may have at most ${MAX_UNPACKED_BYTES}. Send a font with fewer glyphs, or choose woff.`;
  return new MediaError('limit_exceeded', message);
}

interface Woff2ToolRun {
  readonly bytes: Buffer;
  readonly directory: string;
  readonly from: string;
  readonly to: string;
}

async function runWoff2Tool(
  deps: EngineDeps,
  tool: string,
  { bytes, directory, from, to }: Woff2ToolRun,
): Promise<Buffer> {
  const output = join(directory, to);
  await Promise.all([writeFile(join(directory, from), bytes), rm(output, { force: true })]);
  const { exitCode } = await deps.run({
    file: tool,
    args: [join(directory, from)],
    directory,
    signal: deps.signal,
    timeoutSeconds: TIMEOUT_SECONDS,
    maxFileBytes: MAX_FONT_BYTES,
  });
  const size = await stat(output).then(
    (file) => file.size,
    () => 0,
  );
  if (exitCode !== 0 || size === 0) throw new Error(`${tool} wrote no output: the font is damaged`);
  return readFile(output);
}
