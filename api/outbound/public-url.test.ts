import { describe, expect, it } from 'vitest';
import { MediaError } from '#crds/contract/media-error.ts';
import { checkTargetUrl, withAsciiHost, type TargetPurpose } from '#api/outbound/public-url.ts';
import { PRIVATE_HOSTS } from '#test/support/private-hosts.ts';

const check = (url: string, purpose: TargetPurpose = 'webhook', privateTargets: string[] = []): URL =>
  checkTargetUrl(url, { purpose, privateTargets, param: 'webhook_url' });

describe('checkTargetUrl', () => {
  // Promise, Bad input, case by case: URLs of webhooks
  it.each([
    'https://example.com/hook?a=1',
    'https://example.com:443/',
    'https://example.com:0443/',
    'https://例え.jp/',
    'https://xn--pple-43d.com/',
    'HTTPS://EXAMPLE.COM./x',
    'https://localhost.example.com/',
  ])('accepts %s for a webhook', (url) => {
    expect(check(url).protocol).toBe('https:');
  });

  // Promise, Bad input, case by case: URLs of webhooks
  it.each([
    ['http://example.com/', 'must be an https URL, not http:'],
    ['ftp://example.com/', 'must be an https URL, not ftp:'],
    ['https://example.com:8443/', 'must use the default port 443, not 8443'],
    ['https://user@example.com/', 'must not contain a user name or password'],
    ['https://:secret@example.com/', 'must not contain a user name or password'],
    ['https://localhost/', 'private name'],
    ['https://localhost./', 'private name'],
    ['https://a.localhost/', 'private name'],
    ['https://printer/', 'private name'],
    ['https://foo.local/', 'private name'],
    ['https://foo.local./', 'private name'],
    ['https://metadata.google.internal/', 'private name'],
    ['https://api.default.svc/', 'private name'],
    ['https://api.default.svc.cluster.local/', 'private name'],
    ['https://drucker。ｌｏｃａｌ/', '"drucker.local" is a private name'],
    ['https://bücher.local/', '"xn--bcher-kva.local" is a private name'],
    ['https://１２７.0.0.1/', 'not an IP address'],
    ['https://8.8.8.8/', 'not an IP address'],
    ['example.com/hook', 'must be an absolute URL'],
    ['https://', 'must be an absolute URL'],
    ['https://example.com/\0', 'must be an absolute URL'],
    ['https://exam\nple.com/', 'must be an absolute URL'],
    ['', 'must be an absolute URL'],
    [`https://example.com/${'a'.repeat(2048)}`, 'at most 2048 characters, not 2068'],
  ])('refuses %s for a webhook', (url, reason) => {
    expect(() => check(url)).toThrow(reason);
    expect(() => check(url, 'output')).toThrow(reason);
  });

  it.each(['https://localhost/', 'https://localhost:9443/', 'https://127.0.0.1:9443/', 'https://[::1]/'])(
    'names the setting that allows %s',
    (url) => {
      expect(() => check(url)).toThrow(/\. The operator can allow .+ with MEDIAJOBS_PRIVATE_TARGETS\.$/);
    },
  );

  it.each(['https://example.com:8443/', 'https://printer.local/', 'http://localhost/'])(
    'names no setting for %s, which none allows',
    (url) => {
      expect(() => check(url)).not.toThrow('MEDIAJOBS_PRIVATE_TARGETS');
    },
  );

  // Promise, Bad input, case by case: Private hosts in every notation
  it.each(PRIVATE_HOSTS)('refuses the host %s for webhook and output', (host) => {
    expect(() => check(`https://${host}/`)).toThrow(MediaError);
    expect(() => check(`https://${host}/`, 'output')).toThrow(MediaError);
  });

  it('names the field and the code', () => {
    expect(() => check('http://example.com/')).toThrow(
      expect.objectContaining({ code: 'bad_request', param: 'webhook_url', status: 400 }),
    );
  });

  it.each(['http://example.com:8080/a.png', 'https://example.com/a.png', 'http://10.0.0.1/a.png'])(
    'accepts %s for an input',
    (url) => {
      expect(check(url, 'input').href).toBe(url);
    },
  );

  it.each([
    ['file:///etc/passwd', 'must be an http or https URL, not file:'],
    ['gopher://example.com/', 'must be an http or https URL, not gopher:'],
    ['http://user:pw@example.com/', 'must not contain a user name or password'],
    ['nonsense', 'must be an absolute URL'],
  ])('refuses %s for an input', (url, reason) => {
    expect(() => check(url, 'input')).toThrow(reason);
  });

  it.each([
    ['https://127.0.0.1:9443/', ['127.0.0.0/8']],
    ['https://[::ffff:127.0.0.1]:9443/', ['127.0.0.0/8']],
    ['https://localhost:9443/', ['127.0.0.0/8']],
    ['https://localhost:9443/', ['::1/128']],
    ['https://[fd00::1]/', ['fd00::/8']],
  ])('accepts %s when the operator allows %s', (url, networks) => {
    expect(check(url, 'output', networks).href).toBe(URL.parse(url)?.href);
  });

  it.each([
    ['http://127.0.0.1/', ['127.0.0.0/8'], 'must be an https URL'],
    ['https://10.0.0.1/', ['127.0.0.0/8'], 'not an IP address'],
    ['https://localhost/', ['10.0.0.0/8'], 'private name'],
    ['https://[::1]/', ['127.0.0.0/8'], 'not an IP address'],
    ['https://127.0.0.1/', ['::/0'], 'not an IP address'],
    ['https://example.com:8443/', ['127.0.0.0/8'], 'default port'],
  ])('refuses %s although the operator allows %s', (url, networks, reason) => {
    expect(() => check(url, 'output', networks)).toThrow(reason);
  });
});

describe('withAsciiHost', () => {
  it.each([
    ['https://bücher.example/Hook?a=ü', 'https://xn--bcher-kva.example/Hook?a=%C3%BC'],
    ['https://BÜCHER.example', 'https://xn--bcher-kva.example/'],
    ['https://xn--bcher-kva.example/Hook?a=ü', 'https://xn--bcher-kva.example/Hook?a=ü'],
    ['https://Hooks.Example:8443/T0ken', 'https://hooks.example:8443/T0ken'],
    ['https://hooks.example', 'https://hooks.example'],
    ['https://hooks.example:443/T0ken', 'https://hooks.example:443/T0ken'],
    ['no URL', 'no URL'],
  ])('returns for %s the URL %s', (sent, url) => {
    expect(withAsciiHost(sent)).toBe(url);
  });
});
