import type { IncomingHttpHeaders } from 'node:http';
import type { Readable } from 'node:stream';
import type { z } from 'zod';
import type { Caller } from '#api/accounts/find-caller.ts';
import type { ApiDeps } from '#api/http/api-deps.ts';
import type { ErrorCode } from '#crds/contract/error-codes.ts';
import type { Format } from '#crds/catalogue/formats.ts';

/** A request that has passed every gate; its body is unread. */
export interface ApiRequest {
  /** `req_…`, as in `Svc-Request-Id`. */
  readonly id: string;
  readonly params: Readonly<Record<string, string>>;
  /** Parameters as sent, possibly repeated; `readQuery` refuses repeated names. */
  readonly query: URLSearchParams;
  /** Query string, unparsed and without `?`. */
  readonly queryText: string;
  readonly headers: IncomingHttpHeaders;
  /** Context of the span of the request; null without tracing. */
  readonly traceparent: string | null;
  readonly body: Readable;
  /** Size of the whole body in bytes; null without a `Content-Length` header. */
  readonly contentLength: number | null;
  /** Aborts when the client disconnects. */
  readonly signal: AbortSignal;
}

/** A request with an accepted key. */
export interface CallerRequest extends ApiRequest {
  readonly caller: Caller;
}

export interface ApiReply {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string | number>>;
  /** Body of the response. A plain object is sent as JSON. */
  readonly body: object | Readable | Buffer | string;
}

interface SuccessDescription {
  readonly description: string;
  /** Schema of a JSON body. */
  readonly schema?: z.ZodType;
  /** Formats that the body may have when it is a file. */
  readonly files?: readonly Format[];
  /** Headers with type and meaning, beyond those of every response. */
  readonly headers?: Readonly<
    Record<string, readonly [type: 'string' | 'integer' | 'number' | 'boolean', meaning: string]>
  >;
}

interface EndpointDescription {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Path with `:name` for parameters. */
  readonly path: `/v1/${string}`;
  readonly summary: string;
  /** Query parameters, for the OpenAPI document. */
  readonly query?: z.ZodObject;
  readonly body?: z.ZodType | 'bytes' | 'file';
  readonly responses: Readonly<Record<number, SuccessDescription>>;
  /** Error codes beyond those of every endpoint of its lane. */
  readonly errors: readonly ErrorCode[];
}

/** An endpoint without authentication. */
interface PublicEndpoint extends EndpointDescription {
  readonly lane: 'public';
  readonly handle: (deps: ApiDeps, request: ApiRequest) => Promise<ApiReply>;
}

/** What identifies a repeated request before its body is read. */
export interface RepeatedRequest {
  readonly caller: Caller;
  readonly idempotencyKey: string | string[] | undefined;
}

/**
 * An endpoint that needs a key. `direct` requests are billed and use the first bucket of the rate limit, `other`
 * requests the second.
 */
interface KeyedEndpoint extends EndpointDescription {
  readonly lane: 'direct' | 'other';
  /** Whether the endpoint creates billed work, which a reached spend cap refuses. */
  readonly billable?: true;
  /** Returns whether a billable request repeats an earlier one, whose response it gets: it is no new work. */
  readonly isRepeated?: (deps: ApiDeps, request: RepeatedRequest) => Promise<boolean>;
  /** Handler of requests with a signed link in the query in place of a key. */
  readonly signedLink?: (deps: ApiDeps, request: ApiRequest) => Promise<ApiReply>;
  readonly handle: (deps: ApiDeps, request: CallerRequest) => Promise<ApiReply>;
}

/** One method of one path. Routes, 405 responses, authentication and the OpenAPI document derive from `ENDPOINTS`. */
export type Endpoint = PublicEndpoint | KeyedEndpoint;
