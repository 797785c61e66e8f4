import { describe, expect, it } from 'vitest';
import { ENDPOINTS } from '#api/http/endpoints.ts';
import { methodsOfPath, pathOf } from '#api/http/request-path.ts';

describe('pathOf', () => {
  it.each([
    ['/v1/jobs', '/v1/jobs'],
    ['/v1/jobs/', '/v1/jobs'],
    ['/v1/jobs/?a=/b/', '/v1/jobs'],
    ['/', '/'],
    ['/?a=1', '/'],
    ['/v1/%63ompress', '/v1/compress'],
    ['https://media.test/v1/compress?a=1', '/v1/compress'],
    ['/v1/%zz', '/v1/%zz'],
  ])('returns for %s the path %s', (url, path) => {
    expect(pathOf(url)).toBe(path);
  });
});

describe('methodsOfPath', () => {
  it.each([
    ['/v1/jobs', ['POST', 'GET']],
    ['/v1/jobs/job_1?a=1', ['GET', 'DELETE']],
    ['/v1/webhook_endpoints/signing_secret', ['GET']],
    ['/v1/jobs/job_1/outputs', []],
    ['/v1/jobs//output', []],
    ['/v2/jobs', []],
  ])('returns for %s the methods %j', (url, methods) => {
    expect(methodsOfPath(url, ENDPOINTS).toSorted()).toEqual(methods.toSorted());
  });
});
