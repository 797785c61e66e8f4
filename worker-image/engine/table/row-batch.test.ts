import { describe, expect, it } from 'vitest';
import { packRows, RowBatch } from '#worker-image/engine/table/row-batch.ts';
import { MAX_COLUMNS, type TableRow } from '#worker-image/engine/table/table-row.ts';

async function packed(rows: readonly TableRow[]): Promise<{ batches: number; rows: TableRow[] }> {
  const found: { batches: number; rows: TableRow[] } = { batches: 0, rows: [] };
  const source = async function* (): AsyncGenerator<TableRow> {
    yield* rows;
  };
  for await (const batch of packRows(source())) {
    found.batches += 1;
    for (let row = 0; row < batch.rows; row += 1) found.rows.push(batch.textsOf(row));
  }
  return found;
}

describe('packRows', () => {
  it.each([
    ['no rows', [], 0],
    ['rows of different lengths', [['a', 'é'], [], ['', '日', '\ud800']], 1],
    ['many rows', Array.from({ length: 40_000 }, (_, row) => [String(row)]), 3],
    ['rows without cells', Array.from({ length: 20_000 }, () => []), 2],
    ['long cells', [['x'.repeat(300_000), 'é'.repeat(300_000)], ['y']], 2],
    ['wide rows', Array.from({ length: 3 }, () => Array.from({ length: MAX_COLUMNS }, String)), 3],
  ])('keeps %s', async (_name, rows, batches) => {
    expect(await packed(rows)).toEqual({ batches, rows });
  });

  it('refuses rows with too many columns', async () => {
    const wide = Array.from({ length: MAX_COLUMNS + 1 }, () => '');
    await expect(packed([wide])).rejects.toMatchObject({ code: 'limit_exceeded' });
  });
});

describe('RowBatch', () => {
  it('drops a row that is not ended', () => {
    const batch = new RowBatch();
    batch.push(['a']);
    batch.addCell(0, 1);
    batch.addCell(0, 1);
    expect(batch.columns).toBe(2);
    batch.dropRow();
    batch.push(['b']);
    expect([batch.columns, batch.textsOf(0), batch.textsOf(1)]).toEqual([0, ['a'], ['b']]);
  });
});
