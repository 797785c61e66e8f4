import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { describe, expect, it } from 'vitest';
import { removeExternalRelationships } from '#worker-image/engine/office/external-relationships.ts';

const TYPES = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships';

function relationship(type: string, target: string, mode: string): string {
  return `<Relationships><Relationship Id="a>b" TargetMode=${mode} Type="${TYPES}/${type}" Target='${target}'/></Relationships>`;
}

const clean = (xml: string): Promise<string> => text(Readable.from(removeExternalRelationships(Readable.from([xml]))));

describe('removeExternalRelationships', () => {
  it.each([
    ['image', 'file:///etc/passwd', '"External"'],
    ['image', '/etc/passwd', '"External"'],
    ['oleObject', '../../etc/passwd', '"External"'],
    ['oleObject', 'secret.doc', '"&#69;xternal"'],
    ['image', 'https://example.com/a.png', "'External'"],
    ['hyperlink', 'file:///etc/passwd', '"External"'],
    ['image', 'file:///etc/passwd', '"Internal"'],
    ['image', 'f&#105;le:///etc/passwd', '"Internal"'],
    ['image', '\\\\server\\share', '"Internal"'],
    ['image', '//server/share', '"Internal"'],
  ])('empties the target of the %s %j of mode %s', async (type, target, mode) => {
    const emptied = relationship(type, target, mode).replace(/Target='[^']*'/, 'Target=""');
    expect(await clean(relationship(type, target, mode))).toBe(emptied);
  });

  it.each([
    ['image', '../media/image 1.png', '"Internal"'],
    ['slideLayout', '/ppt/slideLayouts/slideLayout1.xml', '"Internal"'],
    ['hyperlink', 'https://example.com/a?b=c', '"External"'],
    ['hyperlink', 'mailto:a@b.c', '"External"'],
    ['hyperlink', '#Slide 2', '"External"'],
  ])('keeps the target of the %s %j of mode %s', async (type, target, mode) => {
    expect(await clean(relationship(type, target, mode))).toBe(relationship(type, target, mode));
  });

  it('treats a relationship without a mode as internal', async () => {
    const part = '<Relationship Id="1" Target="slides/slide1.xml"/>';
    expect(await clean(part)).toBe(part);
    expect(await clean(part.replace('slides/', 'file:///'))).toBe('<Relationship Id="1" Target=""/>');
  });
});
