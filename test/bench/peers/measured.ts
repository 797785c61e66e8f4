/** What the bench found, as it is kept: one file per row of the bench, one entry per case, with all samples. */
import { readFileSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { z } from 'zod';

/** The service, among its peers. */
export const OURS = 'mediajobs';

const figureSchema = z.object({
  who: z.string(),
  metric: z.string(),
  /** One per round; rounds of all peers alternate, so those at one place belong together. */
  samples: z.array(z.number()).min(1),
});

const caseSchema = z.object({
  name: z.string(),
  date: z.iso.date(),
  cores: z.int(),
  memoryGib: z.int(),
  versions: z.record(z.string(), z.string()),
  figures: z.array(figureSchema),
  /** What a table cannot hold, by who it is about, such as what a result lost. */
  remarks: z.record(z.string(), z.string()),
});

export type Figure = z.infer<typeof figureSchema>;
export type MeasuredCase = z.infer<typeof caseSchema>;

const FOLDER = new URL('./measured/', import.meta.url);

/** Returns the cases in the order of their first measurement; none when the row was never measured. */
export function readMeasured(row: string): MeasuredCase[] {
  try {
    return z.array(caseSchema).parse(JSON.parse(readFileSync(new URL(`${row}.json`, FOLDER), 'utf8')));
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return [];
    throw error;
  }
}

/** Replaces the entry of the case. */
export async function keepMeasured(row: string, measured: MeasuredCase): Promise<void> {
  const all = readMeasured(row);
  const at = all.findIndex(({ name }) => name === measured.name);
  const kept = at < 0 ? [...all, measured] : all.with(at, measured);
  await mkdir(FOLDER, { recursive: true });
  await writeFile(new URL(`${row}.json`, FOLDER), `${JSON.stringify(kept, roundNumber, 1)}\n`);
}

function roundNumber(_name: string, value: unknown): unknown {
  return typeof value === 'number' && !Number.isInteger(value) ? Number(value.toPrecision(5)) : value;
}

/** Returns the samples of one figure; none when it was not measured. */
export function samplesOf(
  { figures }: { readonly figures: readonly Figure[] },
  who: string,
  metric: string,
): readonly number[] {
  return figures.find((figure) => figure.who === who && figure.metric === metric)?.samples ?? [];
}
