import { refuseLong } from '#worker-image/engine/table/table-row.ts';

/** Yields the lines of a text without their line ends. @throws MediaError limit_exceeded for a line that is too long. */
export async function* linesOf(text: AsyncIterable<string>): AsyncGenerator<string> {
  let rest = '';
  for await (const piece of text) {
    const lines = piece.split('\n');
    const last = lines.pop() ?? '';
    for (const line of lines) {
      yield withoutReturn(rest + line);
      rest = '';
    }
    rest += last;
    refuseLong(rest.length);
  }
  if (rest !== '') yield withoutReturn(rest);
}

function withoutReturn(line: string): string {
  return line.endsWith('\r') ? line.slice(0, -1) : line;
}
