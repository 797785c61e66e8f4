/** Compares converted fonts: the same characters, and the same glyphs as drawn by another program. */
import { join } from 'node:path';
import sharp from 'sharp';
import { expect } from 'vitest';
import { runTool } from '#test/fixtures/run-tool.ts';
import type { Comparison } from '#test/matrix/comparison.ts';
import { readOnce } from '#test/matrix/read-once.ts';

const charactersOfSource = readOnce(charactersOf);
const drawnSource = readOnce(drawn);

export async function compareFont({ file, source, directory }: Comparison): Promise<void> {
  expect(await charactersOf(file.path, directory)).toBe(await charactersOfSource(source, directory));
  const [before, after] = [await drawnSource(source, directory), await drawn(file.path, directory)];
  expect(after.equals(before)).toBe(true);
  expect(new Set(after).size).toBeGreaterThan(1);
}

function charactersOf(path: string, directory: string): Promise<string> {
  return runTool(directory, 'fc-query', ['--format', '%{charset}|%{family}|%{style}', path]);
}

let files = 0;

async function drawn(font: string, directory: string): Promise<Buffer> {
  const path = join(directory, `letters-${(files += 1)}.png`);
  const draw = `drawtext=fontfile=${font}:text='ABC abg 0123':fontsize=40:x=10:y=10:fontcolor=black`;
  const blank = ['-f', 'lavfi', '-i', 'color=white:s=400x70:d=1'];
  await runTool(directory, 'ffmpeg', ['-v', 'error', '-nostdin', ...blank, '-vf', draw, '-frames:v', '1', path]);
  return sharp(path).raw().toBuffer();
}
