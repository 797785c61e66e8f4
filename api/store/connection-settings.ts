/** Settings of every connection to PostgreSQL: its socket, and the parsers of values. */
import pg from 'pg';
import { GatheringSocket } from '#api/store/gathering-socket.ts';

/** Returns the settings of every connection, in the pool or of its own. */
export function connectionSettings(url: string): pg.ClientConfig {
  return {
    connectionString: url,
    application_name: 'mediajobs',
    keepAlive: true,
    stream: () => new GatheringSocket(),
    types: { getTypeParser },
  };
}

type Parser = (text: string) => unknown;

const PARSERS: ReadonlyMap<number, Parser> = new Map<number, Parser>([
  [pg.types.builtins.INT8, safeInteger],
  [pg.types.builtins.NUMERIC, Number],
  [pg.types.builtins.DATE, String],
]);

function getTypeParser(oid: number, format?: 'text' | 'binary'): Parser {
  const own = format === 'binary' ? undefined : PARSERS.get(oid);
  return own ?? (pg.types.getTypeParser(oid, format ?? 'text') as Parser);
}

function safeInteger(text: string): number {
  const value = Number(text);
  if (!Number.isSafeInteger(value)) throw new RangeError(`${text} from the database is too large for a number`);
  return value;
}
