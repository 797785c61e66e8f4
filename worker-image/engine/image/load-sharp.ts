/** Loads sharp on first use: its library takes 25 MB, and many files are no images. */
import type { sharp } from '#worker-image/engine/image/configured-sharp.ts';

export type SharpFactory = typeof sharp;

export async function loadSharp(): Promise<SharpFactory> {
  return (await import('#worker-image/engine/image/configured-sharp.ts')).sharp;
}
