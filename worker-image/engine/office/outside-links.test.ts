import { describe, expect, it } from 'vitest';
import { withoutOutsideLinks, withoutOutsideLinksIn } from '#worker-image/engine/office/outside-links.ts';

const image = (address: string): string => `<draw:image xlink:href="${address}" xlink:type="simple"/>`;

describe('withoutOutsideLinks', () => {
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
  ])('empties %j', (address) => {
    expect(withoutOutsideLinks(image(address))).toBe(image(''));
  });

  it.each([
    '#Sheet1.A1',
    'Pictures/10000.png',
    './Object 1',
    'Object%201',
    'https://example.com/a?b=c',
    'mailto:a@b.c',
    '',
  ])('keeps %j', (address) => {
    expect(withoutOutsideLinks(image(address))).toBe(image(address));
  });

  it('knows an attribute by its name alone, with any prefix, quote and blanks', () => {
    expect(withoutOutsideLinks(`<a b=">" x:href\n = '/etc/passwd'>`)).toBe(`<a b=">" x:href\n = "">`);
  });

  it('leaves other attributes and words alone', () => {
    const xml = '<text:p text:style-name="/a">a href=/b and myhref="/c"</text:p>';
    expect(withoutOutsideLinks(xml)).toBe(xml);
  });
});

describe('withoutOutsideLinksIn', () => {
  it.each([1, 7, 1000, 70_000])('finds an address however it is cut, in pieces of %i characters', async (length) => {
    const text = `<a>${'x'.repeat(70_000)}${image(`${' '.repeat(100_000)}/etc/passwd`)}${image('a.png')}</a>`;
    expect(await whole(text, length)).toBe(`<a>${'x'.repeat(70_000)}${image('')}${image('a.png')}</a>`);
  });

  it('takes the document type of manifests and Basic libraries, which adds nothing', async () => {
    const manifest =
      '<?xml version="1.0"?>\n<!DOCTYPE manifest:manifest PUBLIC "-//OpenOffice.org//DTD Manifest 1.0//EN" "Manifest.dtd">\n<a/>';
    expect(await whole(manifest, 10_000)).toBe(manifest);
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
    await expect(whole(xml, 10_000)).rejects.toMatchObject({ code: 'processing_failed' });
  });
});

async function whole(text: string, length: number): Promise<string> {
  async function* pieces(): AsyncGenerator<string> {
    for (let at = 0; at < text.length; at += length) yield text.slice(at, at + length);
  }
  let joined = '';
  for await (const piece of withoutOutsideLinksIn(pieces())) joined += piece;
  return joined;
}
