import { Gauge, Registry } from 'prom-client';
import { describe, expect, it } from 'vitest';
import { scrapedFromDatabase } from '#api/store/scraped-from-database.ts';

describe('a gauge that is scraped from the database', () => {
  const registry = new Registry();
  let isAvailable = true;
  const failing = (): void => {
    if (!isAvailable) throw new Error('the database does not answer');
  };
  new Gauge({
    name: 'labelled',
    help: 'With a label.',
    labelNames: ['kind'],
    registers: [registry],
    collect: scrapedFromDatabase(async (gauge) => {
      failing();
      gauge.set({ kind: 'pdf' }, 3);
    }),
  });
  new Gauge({
    name: 'plain',
    help: 'Without one.',
    registers: [registry],
    collect: scrapedFromDatabase(async (gauge) => {
      failing();
      gauge.set(5);
    }),
  });
  new Gauge({ name: 'other', help: 'From this process.', registers: [registry] }).set(7);
  const samples = async (): Promise<string[]> =>
    (await registry.metrics()).split('\n').filter((line) => line !== '' && !line.startsWith('#'));

  it('has no value while the database is not available, beside metrics that have', async () => {
    expect(await samples()).toEqual(['labelled{kind="pdf"} 3', 'plain 5', 'other 7']);
    isAvailable = false;
    expect(await samples()).toEqual(['other 7']);
    isAvailable = true;
    expect(await samples()).toHaveLength(3);
  });
});
