/** Responses of an operation: status, headers and body of each. */
import type { Endpoint } from '#api/http/endpoint.ts';
import type { SchemaWriter } from '#api/openapi/json-schemas.ts';
import { errorRow, type ErrorCode } from '#crds/contract/error-codes.ts';
import { FORMATS, type Format } from '#crds/catalogue/formats.ts';

/** Error codes of every endpoint. */
const COMMON_ERRORS: readonly ErrorCode[] = ['bad_request', 'unsupported_version', 'https_required', 'internal'];
/** Error codes of every endpoint that needs a key. */
const KEY_ERRORS: readonly ErrorCode[] = [
  'missing_key',
  'invalid_key',
  'revoked_key',
  'no_payment_method',
  'payment_required',
  'account_suspended',
  'ip_not_allowed',
  'rate_limited',
];
const DIRECT_ERRORS: readonly ErrorCode[] = ['concurrency_limited'];

interface Header {
  readonly description: string;
  readonly required: boolean;
  readonly schema: { readonly type: 'string' | 'integer' | 'number' | 'boolean'; readonly enum?: readonly string[] };
}

export function responsesOf(writer: SchemaWriter, endpoint: Endpoint): Readonly<Record<string, object>> {
  return { ...successes(writer, endpoint), ...failures(endpoint) };
}

function successes(writer: SchemaWriter, endpoint: Endpoint): Record<string, object> {
  return Object.fromEntries(
    Object.entries(endpoint.responses).map(([status, { description, schema, files, headers = {} }]) => {
      const rate = endpoint.lane === 'direct' ? RATE_HEADERS : {};
      const content =
        files === undefined
          ? {
              'application/json': {
                schema: schema === undefined ? { type: 'object' } : writer.write(schema, 'output'),
              },
            }
          : fileContent(files);
      return [status, { description, headers: { ...COMMON_HEADERS, ...rate, ...described(headers) }, content }];
    }),
  );
}

/** JSON result of a table: a schema of bytes would refuse it, because clients see the parsed value. */
const TABLE_ROWS = { schema: { type: 'array', items: { type: 'object' } } };

/** Returns the content of a response with a file: one entry per media type. */
function fileContent(files: readonly Format[]): Record<string, object> {
  const mediaTypes = new Set(files.map((format) => FORMATS[format].mediaType.split(';')[0] ?? ''));
  const bytes = { schema: { type: 'string', format: 'binary' } };
  const contentOf = (mediaType: string): object => (mediaType === 'application/json' ? TABLE_ROWS : bytes);
  return Object.fromEntries([...mediaTypes].toSorted().map((mediaType) => [mediaType, contentOf(mediaType)]));
}

function failures(endpoint: Endpoint): Record<string, object> {
  const codes = [
    ...COMMON_ERRORS,
    ...(endpoint.lane === 'public' ? [] : KEY_ERRORS),
    ...(endpoint.lane === 'direct' ? DIRECT_ERRORS : []),
    ...endpoint.errors,
  ];
  const byStatus = Map.groupBy(new Set(codes), (code) => String(errorRow(code).status));
  return Object.fromEntries(
    [...byStatus].map(([status, inStatus]) => {
      const hasRate = endpoint.lane === 'direct' && status !== '401';
      const waits = inStatus.filter((code) => errorRow(code).retryAfterSeconds !== undefined);
      const headers = {
        ...COMMON_HEADERS,
        ...(hasRate ? described(RATE) : {}),
        ...(waits.length === 0 ? {} : { 'Retry-After': retryAfter(waits, inStatus) }),
      };
      const description = inStatus.map((code) => `\`${code}\`: ${errorRow(code).when}`).join('\n\n');
      const content = { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } };
      return [status, { description, headers, content }];
    }),
  );
}

/** Returns the `Retry-After` header of a status: required if every code of the status has it. */
function retryAfter(waits: readonly ErrorCode[], all: readonly ErrorCode[]): Header {
  const described = { description: 'Seconds to wait.', schema: { type: 'integer' } } as const;
  return { ...described, required: waits.length === all.length };
}

const COMMON_HEADERS = described(
  {
    'Svc-Request-Id': ['string', 'Id of the request, `req_…`.'],
    'Svc-Version': ['string', 'Version of the API that sent the response.'],
  },
  true,
);

const RATE = {
  'RateLimit-Limit': ['integer', 'Size of the bucket.'],
  'RateLimit-Remaining': ['integer', 'Whole tokens left.'],
  'RateLimit-Reset': ['integer', 'Seconds until the bucket is full; on a refusal until one request can be admitted.'],
} as const;
const RATE_HEADERS = described(RATE, true);

function described(
  headers: NonNullable<Endpoint['responses'][number]['headers']>,
  required = false,
): Record<string, Header> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, [type, description]]) => [name, { description, required, schema: { type } }]),
  );
}
