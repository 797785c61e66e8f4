import type { EngineDeps, InspectedFile, Produced } from '#worker-image/engine/handler.ts';

export type HandlerOperation = 'compress' | 'convert' | 'stripMetadata';

/** Runs an operation of the file's handler. @throws TypeError when the handler lacks it; what the operation throws. */
export function runOperation(
  engine: EngineDeps,
  { handler, work, facts }: InspectedFile,
  operation: HandlerOperation,
): Promise<Produced> {
  const produced = handler[operation]?.(engine, work, facts);
  if (produced === undefined) throw new TypeError(`the handler of ${work.input.kind} lacks ${operation}`);
  return produced;
}
