/** sharp is loaded on first use: its library takes 25 MB, and many works never touch an image. */

export type SharpFactory = (typeof import('#worker-image/engine/image/configured-sharp.ts'))['sharp'];

export async function loadSharp(): Promise<SharpFactory> {
  return (await import('#worker-image/engine/image/configured-sharp.ts')).sharp;
}
