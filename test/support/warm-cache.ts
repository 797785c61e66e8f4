/** Vitest's global set-up: the compile cache and the bundles, which services that start at the same time would remake. */
import { PROCESSES } from '#api/embedded/process-list.ts';
import { warmCodeCache } from '#api/embedded/warm-code-cache.ts';

export default function warmCache(): Promise<void> {
  return warmCodeCache(PROCESSES.map(({ script }) => script));
}
