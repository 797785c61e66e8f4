import type { Endpoint } from '#api/http/endpoint.ts';
import { suggestion } from '#crds/contract/refusal-words.ts';

/**
 * Returns the methods of the endpoints at a request's path; empty for an unknown path. A literal path takes precedence
 * over one with parameters.
 */
export function methodsOfPath(url: string, endpoints: readonly Endpoint[]): string[] {
  const path = pathOf(url);
  const literal = endpoints.filter((endpoint) => endpoint.path === path);
  const matching = literal.length > 0 ? literal : endpoints.filter((endpoint) => patternOf(endpoint.path).test(path));
  return matching.map((endpoint) => endpoint.method);
}

/** Returns the message for a path without endpoints, with those of a similar path among `endpoints`. */
export function noEndpoint(url: string, endpoints: readonly Endpoint[] = []): string {
  const literal = [...new Set(endpoints.map(({ path }) => path))].filter((path) => !path.includes(':'));
  return `There is no endpoint at this path.${suggestion(pathOf(url), literal)} \`GET /v1/openapi.json\` lists all of them.`;
}

/** Returns the decoded path of a request's target, which may be an absolute URL, without a slash at its end. */
export function pathOf(url: string): string {
  const path = url.replace(/^https?:\/\/[^/?#]*/i, '').split('?')[0] ?? '';
  return decoded(path).replace(/(.)\/$/, '$1');
}

function decoded(path: string): string {
  try {
    return decodeURI(path);
  } catch {
    return path;
  }
}

function patternOf(path: string): RegExp {
  return new RegExp(`^${path.replaceAll(/:[a-z_]+/g, '[^/]+')}$`);
}
