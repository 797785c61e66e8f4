/** Files of another type than their name says, or of two types at once. */
import { readFile } from 'node:fs/promises';
import type { Bait } from '#test/hostile/attacked-engine.ts';
import { pdf } from '#test/hostile/forge-pdf.ts';
import { noise } from '#test/fixtures/noise.ts';
import type { HostileFile } from '#test/hostile/hostile-file.ts';

export const DISGUISED_FILES: readonly HostileFile[] = [
  ...['a.svg', 'a.png', 'a.jpg', 'a.html'].map((filename): HostileFile => ({
    name: `an SVG with entities, images and scripts named ${filename}`,
    filename,
    bytes: (bait) => Buffer.from(svg(bait)),
    ends: ['unsupported_input'],
    says: /an SVG drawing/,
  })),
  ...[
    ['lists the files around it', '(/tmp/*) { == } 256 string filenameforall'],
    ['runs a program', '(%pipe%id) (r) file 256 string readstring pop =='],
    ['never ends', '{} loop'],
  ].map(([what, program]): HostileFile => ({
    name: `a PostScript program named a.pdf that ${what}`,
    filename: 'a.pdf',
    bytes: () => Buffer.from(`%!PS-Adobe-3.0\n${program}\n`),
    ends: ['unsupported_input'],
    says: /a PostScript program/,
  })),
  {
    name: 'a command for ImageMagick named a.png',
    filename: 'a.png',
    bytes: ({ url, unwritten }) =>
      Buffer.from(
        `push graphic-context\nviewbox 0 0 9 9\nfill 'url(${url('magick')}"|touch "${unwritten})'\npop graphic-context\n`,
      ),
    ends: ['unsupported_input'],
  },
  {
    name: 'a DjVu file with a program in its remarks, named a.jpg',
    filename: 'a.jpg',
    bytes: ({ unwritten }) =>
      Buffer.from(
        `AT&TFORM\0\0\0\x80DJVUINFO\0\0\0\x0a\0\x01\0\x01\x18\0\x2c\x01\x16\x01ANTa\0\0\0\x40(metadata (copyright "\\\n" . system('touch ${unwritten}') . "b"))`,
        'latin1',
      ),
    operation: 'strip_metadata',
    ends: ['unsupported_input'],
  },
  {
    name: 'a JPEG that a ZIP follows',
    filename: 'a.zip',
    bytes: async () => Buffer.concat([await noise().jpeg().toBuffer(), Buffer.from('PK\x05\x06'), Buffer.alloc(18)]),
    ends: ['done'],
    result: ({ result }) => {
      if (result?.input_format !== 'jpg') throw new Error(`it was taken for ${result?.input_format}`);
    },
  },
  {
    name: 'a PDF that begins as a JPEG',
    filename: 'a.pdf',
    bytes: async () => Buffer.concat([await noise().jpeg().toBuffer(), pdf()]),
    ends: ['done'],
    result: ({ result }) => {
      if (result?.input_format !== 'jpg') throw new Error(`it was taken for ${result?.input_format}`);
    },
  },
  {
    name: 'a script that begins as a GIF',
    filename: 'a.gif',
    bytes: () => Buffer.from('GIF89a/*\0\0\0\0*/=1;alert(1)//;'),
    ends: ['processing_failed'],
  },
  {
    name: 'a JPEG named as a camera RAW file',
    filename: 'a.nef',
    bytes: () => noise().jpeg().toBuffer(),
    ends: ['done'],
    result: ({ result }) => {
      if (result?.warnings[0]?.includes('its content is jpg') !== true) throw new Error('no warning');
    },
  },
  ...[
    'touch pwned |',
    '-i',
    '@list',
    '$(id)',
    ';id',
    '../../../etc/passwd',
    'a\n.jpg',
    '|',
    'pipe:0',
    'http://127.0.0.1/a.jpg',
    '',
  ].map((filename): HostileFile => ({
    name: `a file named ${JSON.stringify(filename)}`,
    filename,
    bytes: () => readFile(new URL('../../api/data/samples/photo.jpg', import.meta.url)),
    operation: 'strip_metadata',
    ends: ['done'],
  })),
];

function svg({ url, fileUrl }: Bait): string {
  return `<?xml version="1.0"?><!DOCTYPE svg [<!ENTITY e SYSTEM "${fileUrl}">]><svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" width="9" height="9"><script>fetch("${url('svg-script')}")</script><image xlink:href="${url('svg-image')}" width="9" height="9"/><text>&e;</text></svg>`;
}
