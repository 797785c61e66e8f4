import type { EngineDeps, InspectedFile, Produced } from '#worker-image/engine/handler.ts';
import { requireWritten } from '#worker-image/engine/written-file.ts';

/** Verifies that a result is what was written and, by its handler, complete and like the input. @throws Error otherwise. */
export async function verifyOutput(
  engine: EngineDeps,
  { handler, work, facts }: InspectedFile,
  produced: Produced,
): Promise<void> {
  if (produced.written !== undefined) await requireWritten(produced.path, produced.written, engine.signal);
  await handler.verify(engine, work, facts, produced);
}
