import { ERROR_ADVICE } from './error-advice.ts';
import { GATES } from '#api/http/gates.ts';
import { ERROR_CODES, errorRow, type ErrorCode, type ErrorType } from '#crds/contract/error-codes.ts';

const CODES = Object.keys(ERROR_CODES) as ErrorCode[];
/** Whether to retry, by type of error. */
const RETRY: Readonly<Record<ErrorType, string>> = {
  invalid_request_error: 'no, change the request',
  authentication_error: 'no, use another key',
  billing_error: 'no, first settle the account',
  permission_error: 'no, first change what is allowed',
  rate_limit_error: 'yes, after `Retry-After` seconds',
  processing_error: 'no, the same file fails again',
  api_error: 'yes',
};

/** Whether to retry, for codes that differ from others of their type. */
const RETRY_OF_CODE: Readonly<Partial<Record<ErrorCode, string>>> = {
  missing_key: 'no, send a key',
  job_not_finished: 'yes, unchanged, when the job has ended',
  upload_incomplete: 'yes, unchanged, when all parts are sent',
};

/** Refusals of the server and its router before the gates, in order. */
const BEFORE_GATES = [
  'Plain http (403).',
  'A path that does not exist (404), a method that the path does not support (405).',
];
/** Refusals of an endpoint after the gates, in order. */
const AFTER_GATES = [
  'The size of the body, its JSON, the form of `Idempotency-Key` (413, 400), then a key that was used before (409).',
  'The fields of the body (400), a preset that does not exist (400), the options (400), an upload that does not exist (404).',
  'A test key with another file than the samples (402), too many unfinished jobs (429), work that could pass the spend cap (402).',
];

const INTRODUCTION = `# Errors

Each code has a section with its meaning, its causes and what to do. A failed request is never billed.

## Error object

Body of every response with a status of 400 or above. \`param\` is the field, option, header or parameter at fault, or
null. The message may change; the code does not.

\`\`\`json
{
  "error": {
    "type": "invalid_request_error",
    "code": "invalid_options",
    "message": "…",
    "param": "image.quality",
    "request_id": "req_…",
    "doc_url": "…/reference/errors#invalid_options"
  }
}
\`\`\`

A failed or canceled job has \`type\`, \`code\` and \`message\` in its \`error\`.
`;

/** Returns docs/reference/errors.md. Each code is a heading, because `doc_url` links to its anchor. */
export function errorReference(): string {
  const codes = CODES.map(section);
  return [INTRODUCTION, typesAndStatuses(), allCodes(), ...codes, orderOfRefusals()].join('\n');
}

function typesAndStatuses(): string {
  const rows = Object.entries(RETRY).map(([type, retry]) => {
    const statuses = CODES.map(errorRow).flatMap((row) =>
      row.type === type && row.status !== null ? [row.status] : [],
    );
    const wrongMethod = type === errorRow('bad_request').type ? [405] : [];
    const numbers = [...new Set([...statuses, ...wrongMethod])].toSorted((a, b) => a - b);
    return `| \`${type}\` | ${numbers.join(', ')} | ${retry} |`;
  });
  return `## Types and statuses

Whether to retry depends on the type; the sections of the codes have the exceptions.

| type | statuses | retry |
|---|---|---|
${rows.join('\n')}
`;
}

function allCodes(): string {
  const rows = CODES.map((code) => `| [\`${code}\`](#${code}) | ${statusOf(code) ?? 'job'} | ${errorRow(code).when} |`);
  return `## All codes

Those with “job” in place of a status are only in the \`error\` of a job.

| code | status | meaning |
|---|---|---|
${rows.join('\n')}
`;
}

function section(code: ErrorCode): string {
  const { type, when } = errorRow(code);
  const { why, fix } = ERROR_ADVICE[code];
  const status = statusOf(code);
  const about = status === null ? "Only in a job's `error`" : `Status ${status}`;
  return `## ${code}

${when}

${about} · \`${type}\`${status === null ? '' : ` · Retry: ${retry(code)}`}

${why.map((cause) => `- ${cause}`).join('\n')}

**What to do:** ${fix}
`;
}

/** Returns the statuses of a code; null for a code that only jobs have. */
function statusOf(code: ErrorCode): string | null {
  const { status } = errorRow(code);
  return code === 'bad_request' ? `${status}, 405` : (status?.toString() ?? null);
}

function retry(code: ErrorCode): string {
  const own = RETRY_OF_CODE[code];
  if (own !== undefined) return own;
  const { type, retryAfterSeconds } = errorRow(code);
  if (type === 'rate_limit_error' || retryAfterSeconds === undefined) return RETRY[type];
  return 'yes, unchanged, after `Retry-After` seconds';
}

function orderOfRefusals(): string {
  const steps = [...BEFORE_GATES, ...GATES.map(({ refuses }) => refuses), ...AFTER_GATES];
  return `## Order of refusals

A request that is wrong in several ways gets the first of these.

${steps.map((step, index) => `${index + 1}. ${step}`).join('\n')}
`;
}
