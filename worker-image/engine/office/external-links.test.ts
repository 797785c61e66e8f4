import { describe, expect, it } from 'vitest';
import { removeExternalLinks, removeExternalLinksFrom } from '#worker-image/engine/office/external-links.ts';

const image = (address: string): string => `<draw:image xlink:href="${address}" xlink:type="simple"/>`;

describe('removeExternalLinks', () => {
  it.each([
    'file:///etc/passwd',
    'FILE:///etc/passwd',
    '&#102;ile:///etc/passwd',
    '&#x66;ile:///etc/passwd',
    ' \t\nfile:///etc/passwd',
    '/etc/passwd',
    '\\\\server\\share',
    '../secret.png',
    'Pictures/../../secret.png',
    '%2e%2e/secret.png',
    '..%2fsecret.png',
    'c|/secret.png',
    'vnd.sun.star.pkg://file/secret.odt',
    'smb://server/share',
    'private:stream',
  ])('empties the address %j', (address) => {
    expect(removeExternalLinks(image(address))).toBe(image(''));
  });

  it.each([
    '#Sheet1.A1',
    'Pictures/10000.png',
    './Object 1',
    'Object%201',
    'https://example.com/a?b=c',
    'mailto:a@b.c',
    '',
  ])('keeps the address %j', (address) => {
    expect(removeExternalLinks(image(address))).toBe(image(address));
  });

  it('finds an attribute by its name, with any prefix, quote and whitespace', () => {
    expect(removeExternalLinks(`<a b=">" x:href\n = '/etc/passwd'>`)).toBe(`<a b=">" x:href\n = "">`);
  });

  it('keeps other attributes and text', () => {
    const xml = '<text:p text:style-name="/a">a href=/b and myhref="/c"</text:p>';
    expect(removeExternalLinks(xml)).toBe(xml);
  });
});

describe('removeExternalLinksFrom', () => {
  it.each([1, 7, 1000, 70_000])('finds an address across pieces of %i characters', async (length) => {
    const text = `<a>${'x'.repeat(70_000)}${image(`${' '.repeat(100_000)}/etc/passwd`)}${image('a.png')}</a>`;
    expect(await cleaned(text, length)).toBe(`<a>${'x'.repeat(70_000)}${image('')}${image('a.png')}</a>`);
  });

  it('accepts the document type of manifests, which declares no entities', async () => {
    const manifest =
      '<?xml version="1.0"?>\n<!DOCTYPE manifest:manifest PUBLIC "-//OpenOffice.org//DTD Manifest 1.0//EN" "Manifest.dtd">\n<a/>';
    expect(await cleaned(manifest, 10_000)).toBe(manifest);
  });

  it.each([
    [
      'entities behind the usual document type',
      '<!DOCTYPE a PUBLIC "-//OpenOffice.org//DTD Manifest 1.0//EN" "Manifest.dtd" [<!ENTITY b "c">]><a/>',
    ],
    ['a grammar elsewhere', '<!DOCTYPE a PUBLIC "-//OpenOffice.org//DTD Manifest 1.0//EN" "file:///a.dtd"><a/>'],
    ['a document type', '<?xml version="1.0"?><!DOCTYPE a [<!ENTITY b "c">]><a/>'],
    ['another encoding', '<?xml version="1.0" encoding="UTF-16"?><a/>'],
    ['zeros between its characters', '\0<\0a'],
    ['an address without end', `<a href="${'x'.repeat(2_000_000)}`],
  ])('refuses %s', async (_what, xml) => {
    await expect(cleaned(xml, 10_000)).rejects.toMatchObject({ code: 'processing_failed' });
  });
});

async function cleaned(text: string, length: number): Promise<string> {
  async function* pieces(): AsyncGenerator<string> {
    for (let at = 0; at < text.length; at += length) yield text.slice(at, at + length);
  }
  let joined = '';
  for await (const piece of removeExternalLinksFrom(pieces())) joined += piece;
  return joined;
}
