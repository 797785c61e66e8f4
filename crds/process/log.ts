import { pino, type DestinationStream, type Logger } from 'pino';
import { visibleJson } from '#crds/process/visible-text.ts';

export type Log = Logger;

const SECRET_NAMES = [
  'authorization',
  'cookie',
  'key',
  'secret',
  'token',
  'password',
  'signature',
  'url',
  'headers',
  // Property of Node.js' error with the text that is no valid URL.
  'input',
  'signing_secret',
  'pepper',
];

/**
 * Creates a process's log: JSON lines on standard output. Messages are static, facts are fields. Fields with names of
 * secrets are redacted in the first three levels. Lines are written synchronously: otherwise the flush at exit never
 * ends when the reader of the log has ended (sonic-boom 4.2 repeats a write to a broken pipe forever).
 */
export function makeLog(
  process: string,
  level: string,
  destination: DestinationStream = pino.destination({ dest: 1, sync: true }),
): Log {
  const options = {
    level,
    base: { process },
    timestamp: pino.stdTimeFunctions.isoTime,
    redact: {
      paths: SECRET_NAMES.flatMap((name) => [name, `*.${name}`, `*.*.${name}`]),
      censor: '[redacted]',
    },
    // Callers' names reach terminals: JSON does not escape 8-bit control characters and direction overrides.
    hooks: { streamWrite: visibleJson },
  };
  return pino(options, destination);
}
