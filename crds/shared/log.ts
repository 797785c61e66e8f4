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
 */
export function makeLog(process: string, level: string): Log {
  return pino({
    level,
    base: { process },
    timestamp: pino.stdTimeFunctions.isoTime,
    redact: {
      paths: SECRET_NAMES.flatMap((name) => [name, `*.${name}`, `*.*.${name}`]),
      censor: '[redacted]',
    },
  });
}
