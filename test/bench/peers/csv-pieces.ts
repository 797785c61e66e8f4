const LINES = 10_000;

/** Yields a table of text, numbers and quoted cells in pieces, of at least that many bytes. */
export function* csvPieces(bytes: number): Generator<string> {
  yield 'id,name,note,amount\n';
  for (let written = 0, first = 0; written < bytes; first += LINES) {
    const lines = Array.from({ length: LINES }, (_, at) => {
      const id = String(first + at).padStart(20, '0');
      return `${id},"Name ${at}, of many","a ""quoted"" note about line ${at} of a longer text",${at}.50\n`;
    });
    const piece = lines.join('');
    written += piece.length;
    yield piece;
  }
}
