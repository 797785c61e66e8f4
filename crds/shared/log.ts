import { pino, type Logger } from 'pino';

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
  'signing_secret',
  'pepper',
];

/**
 * A process's log: JSON lines on standard output. Messages are static, facts are fields. Fields whose
 * name says that they hold a secret are redacted wherever they stand in the first three levels.
 * Lines are written at once: what is buffered is flushed at exit, and that flush never ends when the
 * reader of the log is gone (sonic-boom 4.2 repeats a write to a broken pipe for ever).
 */
export function makeLog(process: string, level: string): Log {
  const options = {
    level,
    base: { process },
    timestamp: pino.stdTimeFunctions.isoTime,
    redact: {
      paths: SECRET_NAMES.flatMap((name) => [name, `*.${name}`, `*.*.${name}`]),
      censor: '[redacted]',
    },
  };
  return pino(options, pino.destination({ dest: 1, sync: true }));
}
