import { setFlagsFromString } from 'node:v8';

/** Growth of the old generation before V8 collects it, in percent. */
const GROWTH_PERCENT = 150;

/**
 * Lets the old generation of V8 grow more before it is collected. For processes that copy files: the bytes that they copy
 * count as its growth, and by default V8 marks the whole heap after every 8 MB of them. To be called once all code is
 * loaded, because V8 ignores code caches of other settings.
 */
export function allowHeapGrowth(): void {
  setFlagsFromString(`--heap-growing-percent=${GROWTH_PERCENT}`);
}
