import type { IncomingHttpHeaders } from 'node:http';
import type { Readable } from 'node:stream';
import type { z } from 'zod';
import type { Caller } from '#api/accounts/find-caller.ts';
import type { ApiDeps } from '#api/api-deps.ts';
import type { ErrorCode } from '#crds/error-codes.ts';
import type { Format } from '#crds/formats.ts';

/** A request as an endpoint sees it: every gate is behind it, its body is still unread. */
export interface ApiRequest {
  /** `req_…`, as in `Svc-Request-Id`. */
  readonly id: string;
  readonly params: Readonly<Record<string, string>>;
  /** As sent; `readQuery` refuses repeated names. */
  readonly query: URLSearchParams;
  readonly headers: IncomingHttpHeaders;
  /** Unread. */
  readonly body: Readable;
  /** Of the whole body; null when the request does not say. */
  readonly contentLength: number | null;
  /** Aborts when the client has gone. */
  readonly signal: AbortSignal;
}

/** A request that came with an accepted key. */
export interface CallerRequest extends ApiRequest {
  readonly caller: Caller;
}

export interface ApiReply {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string | number>>;
  /** An object is sent as JSON. */
  readonly body: object | Readable | Buffer | string;
}

interface SuccessDescription {
  readonly description: string;
  /** Of a JSON body. */
  readonly schema?: z.ZodType;
  /** Formats that the body may have when it is a file. */
  readonly files?: readonly Format[];
  /** Type and meaning, beyond those of every answer. */
  readonly headers?: Readonly<
    Record<string, readonly [type: 'string' | 'integer' | 'number' | 'boolean', meaning: string]>
  >;
}

interface EndpointDescription {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** With `:name` for parameters. */
  readonly path: `/v1/${string}`;
  readonly summary: string;
  /** Query parameters, for the OpenAPI document. */
  readonly query?: z.ZodObject;
  readonly body?: z.ZodType | 'bytes' | 'file';
  readonly responses: Readonly<Record<number, SuccessDescription>>;
  /** Codes beyond those that every endpoint of its lane may answer. */
  readonly errors: readonly ErrorCode[];
}

/** Anyone may call it. */
interface OpenEndpoint extends EndpointDescription {
  readonly lane: 'open';
  readonly handle: (deps: ApiDeps, request: ApiRequest) => Promise<ApiReply>;
}

/** Needs a key; `direct` requests are billed work and count on the first bucket, `other` ones on the second. */
interface KeyedEndpoint extends EndpointDescription {
  readonly lane: 'direct' | 'other';
  /** New work that a reached spend cap refuses. */
  readonly billable?: true;
  /** A signed link in the query stands for the key. */
  readonly signedLink?: (deps: ApiDeps, request: ApiRequest) => Promise<ApiReply>;
  readonly handle: (deps: ApiDeps, request: CallerRequest) => Promise<ApiReply>;
}

/** One method of one path. Routes, 405s, authentication and the OpenAPI document derive from the list of these. */
export type Endpoint = OpenEndpoint | KeyedEndpoint;
