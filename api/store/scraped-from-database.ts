import type { Gauge } from 'prom-client';

/**
 * Returns a function that sets a gauge by a query while metrics are read. When the query fails, the gauge has no value and
 * the other metrics are still served: they say what else works while PostgreSQL does not.
 */
export function scrapedFromDatabase<Label extends string>(set: (gauge: Gauge<Label>) => Promise<void>) {
  return async function collect(this: Gauge<Label>): Promise<void> {
    await set(this).catch(() => removeValues(this));
  };
}

function removeValues(gauge: Gauge): void {
  gauge.reset();
  // Without labels, that is a value of 0.
  if ('labelNames' in gauge && Array.isArray(gauge.labelNames) && gauge.labelNames.length === 0) gauge.remove();
}
