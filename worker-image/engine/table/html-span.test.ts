import { describe, expect, it } from 'vitest';
import { colspanOf, rowspanOf } from '#worker-image/engine/table/html-span.ts';

describe('colspanOf', () => {
  it.each([
    [undefined, 1],
    ['', 1],
    ['x', 1],
    ['0', 1],
    ['-3', 1],
    ['7', 7],
    ['7.9x', 7],
    ['999999999999', 1000],
  ])('of %j is %d', (colspan, columns) => {
    expect(colspanOf(colspan === undefined ? {} : { colspan })).toBe(columns);
  });
});

describe('rowspanOf', () => {
  it.each([
    [undefined, 1],
    ['x', 1],
    ['0', 65_534],
    ['-3', 1],
    ['7', 7],
    ['999999999999', 65_534],
  ])('of %j is %d', (rowspan, rows) => {
    expect(rowspanOf(rowspan === undefined ? {} : { rowspan })).toBe(rows);
  });
});
