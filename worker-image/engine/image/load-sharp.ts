/** sharp is loaded on first use: its library takes 25 MB, and many works never touch an image. */
import type { sharp } from '#worker-image/engine/image/configured-sharp.ts';

export type SharpFactory = typeof sharp;

export async function loadSharp(): Promise<SharpFactory> {
  return (await import('#worker-image/engine/image/configured-sharp.ts')).sharp;
}
