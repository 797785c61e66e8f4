import { describe, expect, it } from 'vitest';
import { detectDelimiter } from '#worker-image/engine/table/detect-delimiter.ts';

describe('detectDelimiter', () => {
  it.each([
    ['a,b\n1,2\n', ','],
    ['a;b\n1,5;2,5\n', ';'],
    ['a\tb\n1\t2\n', '\t'],
    ['a|b\r\n1|2\r\n', '|'],
    ['"a;b;c",d\n"1;2;3",4\n', ','],
    ['a;b;c\n1;2;3\n4,5,6,7;8;9\n', ';'],
    ['one column\nof words\n', null],
    ['words\nwith one | bar\nin one\ncell\n', null],
    ['1,5\n2,5\n3,5\n', ','],
    ['id,authors,year\n0,A; B\n1,A; B,2020\n2,C; D\n3,C; D,2021\n', ','],
    ['Report, 2024\na;b;c\n1,5;2,5;x\n3,5;4,5;y\n', ';'],
    ['Report\na;b\n1;2\n', ';'],
    ['', null],
    ['a,b', ','],
  ])('returns the delimiter of %j: %j', (sample, delimiter) => {
    expect(detectDelimiter(sample)).toBe(delimiter);
  });

  it('ignores the last row of a sample, which may be truncated', () => {
    expect(detectDelimiter('a;b;c\n1;2;3\n4|5|6|7')).toBe(';');
  });

  it('treats an unclosed quote as a cell up to the end', () => {
    expect(detectDelimiter(`a;b\n1;"${',x'.repeat(1000)}`)).toBe(';');
  });
});
