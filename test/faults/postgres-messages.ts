/** Parser of a client's messages to PostgreSQL. */

export interface StatementReader {
  /** Parses the next bytes and returns the statements in them, in order. */
  read(chunk: Buffer): string[];
}

/** Returns a parser for protocol 3.0: a start-up message without a type, then type, length, payload. */
export function makeStatementReader(): StatementReader {
  const prepared = new Map<string, string>();
  let rest = Buffer.alloc(0);
  let isStarted = false;
  const statementOf = (type: string, payload: Buffer): string | null => {
    const [first = '', second = ''] = payload.toString('utf8').split('\0', 2);
    if (type === 'Q') return first;
    if (type === 'P') prepared.set(first, second);
    return type === 'B' ? (prepared.get(second) ?? '') : null;
  };
  return {
    read: (chunk) => {
      rest = Buffer.concat([rest, chunk]);
      const statements: string[] = [];
      for (;;) {
        const head = isStarted ? 1 : 0;
        if (rest.length < head + 4 || rest.length < head + rest.readInt32BE(head)) return statements;
        const end = head + rest.readInt32BE(head);
        const statement = isStarted ? statementOf(String.fromCharCode(rest[0] ?? 0), rest.subarray(5, end)) : null;
        if (statement !== null) statements.push(statement);
        isStarted = true;
        rest = rest.subarray(end);
      }
    },
  };
}
