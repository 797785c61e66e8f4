/** Writes what was measured into the documents: the page of the benchmarks, and the sizing table of the operators' page. */
import { readFileSync, writeFileSync } from 'node:fs';
import { benchmarksPage, sizingTable } from './benchmarks-page.ts';

const BENCHMARKS = new URL('../../../docs/benchmarks.md', import.meta.url);
const OPERATIONS = new URL('../../../docs/operations.md', import.meta.url);
const SIZING = /(?<=<!-- sizing:start -->\n)[^]*(?=<!-- sizing:end -->)/;

/** @throws Error when the operators' page has no place for the table. */
export function writePages(): void {
  writeFileSync(BENCHMARKS, benchmarksPage());
  const page = readFileSync(OPERATIONS, 'utf8');
  if (!SIZING.test(page)) throw new Error('docs/operations.md has no section between sizing:start and sizing:end.');
  writeFileSync(
    OPERATIONS,
    page.replace(SIZING, () => `\n${sizingTable()}\n`),
  );
}
