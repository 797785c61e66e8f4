import { GATES } from '#api/http/gates.ts';
import { ERROR_CODES, errorRow, type ErrorCode, type ErrorType } from '#crds/error-codes.ts';

/** Spec: Errors / Types and statuses. */
const RETRY: Readonly<Record<ErrorType, string>> = {
  invalid_request_error: 'no, change the request',
  authentication_error: 'no, use another key',
  billing_error: 'no, first settle the account',
  permission_error: 'no, first change what is allowed',
  rate_limit_error: 'yes, after `Retry-After` seconds',
  processing_error: 'no, the same file fails again',
  api_error: 'yes',
};

/** What the server and its router refuse before the gates, and what an endpoint refuses after them. */
const BEFORE_GATES = [
  'Plain http (403).',
  'A path that does not exist (404), a method that the path does not support (405).',
];
const AFTER_GATES = [
  'The size of the body, its JSON, the form of `Idempotency-Key` (413, 400), then a key that was used (409).',
  'The fields of the body (400), a preset that does not exist (400), the options (400), an upload that is not there (404).',
  'A test key with another file than the samples (402), too many unfinished jobs (429), work that could pass the spend cap (402).',
];

const INTRODUCTION = `# Errors

Every response with a status of 400 or above has this body; \`param\` names the field, header or parameter at fault,
or is null. Nothing that fails is billed.

\`\`\`json
{
  "error": {
    "type": "invalid_request_error",
    "code": "invalid_options",
    "message": "…",
    "param": "options.image.quality",
    "request_id": "req_…",
    "doc_url": "…/reference/errors#invalid_options"
  }
}
\`\`\`

A job that failed carries \`type\`, \`code\` and \`message\` in its \`error\`.
`;

/** docs/reference/errors.md: a heading per code, so that the anchors in \`doc_url\` lead to it, and the order of refusals. */
export function errorReference(): string {
  const codes = (Object.keys(ERROR_CODES) as ErrorCode[]).map(section);
  return [INTRODUCTION, ...codes, orderOfRefusals()].join('\n');
}

function section(code: ErrorCode): string {
  const { type, status, when } = errorRow(code);
  return `## ${code}

${when}

| type | status | retry |
|---|---|---|
| \`${type}\` | ${status ?? "none, only in a job's `error`"} | ${retry(code)} |
`;
}

function retry(code: ErrorCode): string {
  const { type, retryAfterSeconds } = errorRow(code);
  if (type === 'rate_limit_error' || retryAfterSeconds === undefined) return RETRY[type];
  return 'yes, unchanged, after `Retry-After` seconds';
}

function orderOfRefusals(): string {
  const steps = [...BEFORE_GATES, ...GATES.map(({ refuses }) => refuses), ...AFTER_GATES];
  return `# Order of refusals

A request that is wrong in several ways gets the first of these.

${steps.map((step, index) => `${index + 1}. ${step}`).join('\n')}
`;
}
