/**
 * Rules for URLs of callers (docs/reference/webhooks.md#url-rules). They are checked when the URL is set and before
 * each use. The addresses of its host are checked for each connection (`api/outbound/safe-fetch.ts`).
 */
import { MediaError } from '#crds/contract/media-error.ts';
import { addressOfHost, isInNetworks } from '#api/outbound/public-address.ts';

export type TargetPurpose = 'webhook' | 'output' | 'input';

interface TargetRules {
  readonly purpose: TargetPurpose;
  /** CIDRs that the operator allows: IP addresses inside them are accepted, on any port. */
  readonly privateTargets: readonly string[];
  /** Name of the request's field, for the refusal. */
  readonly param: string;
}

/**
 * Returns the parsed URL. For `webhook` and `output`: https, default port, public host name, no user name or password.
 * For `input`: http or https, any port, no user name or password; its host is checked when it is fetched.
 * @throws MediaError bad_request
 */
export function checkTargetUrl(text: string, { purpose, privateTargets, param }: TargetRules): URL {
  const url = text.length <= MAX_CHARACTERS && !CONTROL_CHARACTER.test(text) ? URL.parse(text) : null;
  const problem = url === null ? unreadable(text) : targetProblem(url, { purpose, privateTargets });
  if (url === null || problem !== null) throw new MediaError('bad_request', `\`${param}\` ${problem}.`, { param });
  return url;
}

/**
 * Returns the URL with its host in the form that is resolved, listed and logged: lower case, international letters in
 * punycode. The rest is as sent, or as it is requested when the host changes. Text that is no URL is returned unchanged.
 */
export function withAsciiHost(text: string): string {
  const url = URL.parse(text);
  return url === null || text.startsWith(`${url.protocol}//${url.host}`) ? text : url.href;
}

/** Returns the violated rule as the end of a sentence about the URL; null when there is none. */
export function targetProblem(url: URL, { purpose, privateTargets }: Omit<TargetRules, 'param'>): string | null {
  if (url.username !== '' || url.password !== '') return 'must not contain a user name or password';
  if (purpose === 'input') {
    return ['http:', 'https:'].includes(url.protocol) ? null : `must be an http or https URL, not ${url.protocol}`;
  }
  if (url.protocol !== 'https:') return `must be an https URL, not ${url.protocol}`;
  if (isAllowedPrivateHost(url.hostname, privateTargets)) return null;
  const problem = url.port === '' ? hostProblem(url.hostname) : `must use the default port 443, not ${url.port}`;
  return problem !== null && canBeAllowed(url.hostname) ? `${problem}. ${HOW_TO_ALLOW}` : problem;
}

/** Maximum length of a URL. */
const MAX_CHARACTERS = 2048;
/** Control characters. The parser drops or encodes them, but the sent text is stored, and PostgreSQL rejects NUL. */
const CONTROL_CHARACTER = /[\0-\x1f\x7f]/;
const HOW_TO_ALLOW = 'The operator can allow private networks, on any port, with MEDIAJOBS_PRIVATE_TARGETS';
const LOOPBACK = ['127.0.0.1', '::1'];
const PRIVATE_NAMES = /(^|\.)(localhost|local|localdomain|internal|intranet|lan|svc|home\.arpa)$/;

function unreadable(text: string): string {
  return text.length > MAX_CHARACTERS
    ? `must have at most ${MAX_CHARACTERS} characters, not ${text.length}`
    : 'must be an absolute URL such as https://example.com/path';
}

/** Returns whether `privateTargets` can contain the host: an address or localhost. */
function canBeAllowed(host: string): boolean {
  return bareName(host) === 'localhost' || addressOfHost(host) !== null;
}

function isAllowedPrivateHost(host: string, privateTargets: readonly string[]): boolean {
  if (bareName(host) === 'localhost') return LOOPBACK.some((address) => isInNetworks(address, privateTargets));
  const address = addressOfHost(host);
  return address !== null && isInNetworks(address, privateTargets);
}

function hostProblem(host: string): string | null {
  if (addressOfHost(host) !== null) return 'must name a public host, not an IP address';
  const name = bareName(host);
  if (!name.includes('.') || PRIVATE_NAMES.test(name))
    return `must name a public host, and "${name}" is a private name`;
  return null;
}

/** Returns the name without a trailing dot, which is equivalent. */
function bareName(host: string): string {
  return host.replace(/\.$/, '');
}
