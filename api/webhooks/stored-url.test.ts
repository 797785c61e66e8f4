import { describe, expect, it } from 'vitest';
import { makeSecretBox } from '#api/store/secret-box.ts';
import { openUrl, sealUrl, shortenUrl, urlContext } from '#api/webhooks/stored-url.ts';

const secretBox = makeSecretBox([{ id: 'a', key: Buffer.alloc(32, 1) }]);

describe('shortenUrl', () => {
  it.each([
    ['https://hooks.example/T0ken', 'https://hooks.example/T0…'],
    ['https://hooks.example/services/T000/B000/XXXX', 'https://hooks.example/serv…'],
    ['https://hooks.example/a', 'https://hooks.example/…'],
    ['https://hooks.example/', 'https://hooks.example/'],
    ['https://bücher.example/T0ken', 'https://xn--bcher-kva.example/T0…'],
    ['https://xn--bcher-kva.example/T0ken', 'https://xn--bcher-kva.example/T0…'],
    ['https://hooks.example', 'https://hooks.example/'],
    ['https://hooks.example?token=secret', 'https://hooks.example/…'],
    ['https://hooks.example/#secret', 'https://hooks.example/…'],
    ['https://hooks.example/hook?token=secret', 'https://hooks.example/ho…'],
    ['https://user:secret@hooks.example/', 'https://hooks.example/'],
    ['https://127.0.0.1:8443/longer-path', 'https://127.0.0.1:8443/long…'],
    ['no URL with a secret', '…'],
  ])('shortens %s to %s', (url, shown) => {
    expect(shortenUrl(url)).toBe(shown);
  });
});

describe('a stored URL', () => {
  it('can be decrypted in its own row only', () => {
    const sealed = { ...sealUrl(secretBox, 'https://hooks.example/T0ken', urlContext.job('job_1')), plainUrl: null };
    expect(openUrl(secretBox, sealed, urlContext.job('job_1'))).toBe('https://hooks.example/T0ken');
    expect(() => openUrl(secretBox, sealed, urlContext.job('job_2'))).toThrow('Cannot decrypt');
    expect(() => openUrl(secretBox, sealed, urlContext.endpoint('job_1'))).toThrow('Cannot decrypt');
  });

  it('has its host in punycode, also when an earlier version stored it in international letters', () => {
    const context = urlContext.endpoint('whk_1');
    const ascii = 'https://xn--bcher-kva.example/T0ken';
    const sealed = sealUrl(secretBox, 'https://bücher.example/T0ken', context);
    expect(sealed).toMatchObject({ plainUrl: ascii, shownUrl: 'https://xn--bcher-kva.example/T0…' });
    expect(openUrl(secretBox, { ...sealed, plainUrl: null }, context)).toBe(ascii);
    const sealedUrl = secretBox.seal('https://bücher.example/T0ken', context);
    expect(openUrl(secretBox, { plainUrl: null, sealedUrl }, context)).toBe(ascii);
    expect(openUrl(secretBox, { plainUrl: 'https://bücher.example/T0ken', sealedUrl: null }, context)).toBe(ascii);
  });

  it('of the previous version is read as plain text', () => {
    const plain = { plainUrl: 'https://hooks.example/T0ken', sealedUrl: null };
    expect(openUrl(secretBox, plain, urlContext.job('job_1'))).toBe('https://hooks.example/T0ken');
  });
});
