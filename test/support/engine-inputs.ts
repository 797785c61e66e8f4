/** Inputs of engine processes: each file in its own directory. */
import { mkdtemp, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import sharp from 'sharp';
import { resolveOptions } from '#crds/catalogue/options/options.ts';
import { fileLimits } from '#crds/catalogue/plans.ts';
import type { FileTask } from '#worker-image/engine/process-file.ts';
import type { ChildInput } from '#worker-image/sandbox/engine-process.ts';

/** Returns a PNG image of 200 × 100 pixels that compression makes smaller. */
export function noisyPng(): Promise<Buffer> {
  const noise = { type: 'gaussian', mean: 128, sigma: 40 } as const;
  return sharp({ create: { width: 200, height: 100, channels: 3, background: '#888', noise } })
    .png()
    .toBuffer();
}

/** Writes the file into its own directory of the folder. Returns the input, by default with a task to compress it. */
export async function writeEngineInput(
  folder: string,
  bytes: Buffer,
  task: Partial<FileTask> = {},
): Promise<ChildInput> {
  const directory = await mkdtemp(join(folder, 'task-'));
  const path = join(directory, 'input');
  await writeFile(path, bytes);
  return {
    task: {
      operation: 'compress',
      options: resolveOptions(new Map()),
      limits: fileLimits('payg'),
      features: { video: false, heicOutput: false },
      lane: 'direct',
      path,
      filename: null,
      directory,
      ...task,
    },
    versions: {},
    onProgress: () => undefined,
    signal: new AbortController().signal,
  };
}
