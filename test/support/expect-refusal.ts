import { expect } from 'vitest';
import { errorRow, type ErrorCode } from '#crds/contract/error-codes.ts';
import type { ApiResponse } from '#test/support/api-client.ts';

/** Asserts that the response is the complete error object of the code, docs/reference/errors.md#error-object. */
export function expectRefusal(
  response: ApiResponse,
  code: ErrorCode,
  more: { status?: number; param?: string } = {},
): void {
  const row = errorRow(code);
  const { error } = response.json() as { error: Record<string, unknown> };
  expect(error).toMatchObject({ code, type: row.type, ...(more.param === undefined ? {} : { param: more.param }) });
  expect(response.status).toBe(more.status ?? row.status);
  expect(Object.keys(error).toSorted()).toEqual(['code', 'doc_url', 'message', 'param', 'request_id', 'type']);
  expect(error['request_id']).toBe(response.headers['svc-request-id']);
  expect(error['doc_url']).toMatch(new RegExp(`/reference/errors#${code}$`));
  expect(String(error['message']).length).toBeGreaterThan(10);
  if (response.status === 429 || response.status === 503 || code === 'idempotency_in_progress') {
    expect(Number(response.headers['retry-after'])).toBeGreaterThan(0);
  }
}
