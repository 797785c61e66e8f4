import { setTimeout as delay } from 'node:timers/promises';

/** Polls until the result is neither null nor false, and returns it. @throws Error after the time limit */
export async function until<T>(
  what: string,
  ask: () => Promise<T | null | false> | T | null | false,
  { seconds = 60, everyMs = 50 }: { seconds?: number; everyMs?: number } = {},
): Promise<T> {
  const endsAt = performance.now() + seconds * 1000;
  for (;;) {
    const response = await ask();
    if (response !== null && response !== false) return response;
    if (performance.now() > endsAt) throw new Error(`${what}: not within ${seconds} seconds`);
    await delay(everyMs);
  }
}
