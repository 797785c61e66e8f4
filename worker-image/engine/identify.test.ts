import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { strToU8, zipSync } from 'fflate';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Format } from '#crds/catalogue/formats.ts';
import { identify } from '#worker-image/engine/identify.ts';

const AUDIO = '409e69f84d5bcf11a8fd00805f5c442b';
const VIDEO = 'c0ef19bc4d5bcf11a8fd00805f5c442b';
/** Frame of 128 kbit/s at 44,100 Hz. */
const MP3_FRAME = frame('\xff\xfb\x90\x00', 417);
/** Frame of 200 bytes at 44,100 Hz. */
const AAC_FRAME = frame('\xff\xf1\x50\x80\x19\x1f\xfc', 200);
const LAYER2_FRAME = frame('\xff\xfd\x90\x00', Math.floor((144_000 * 160) / 44_100));

let directory: string;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'identify-'));
});
afterAll(() => rm(directory, { recursive: true }));

let files = 0;
async function identifyBytes(bytes: Uint8Array, filename: string | null = null) {
  files += 1;
  const path = join(directory, String(files));
  await writeFile(path, bytes);
  return identify({ path, filename });
}

describe('identify by content', () => {
  const rows: [Format, string, Uint8Array][] = [
    ['jpg', 'JPEG', latin1('\xff\xd8\xff\xe0\0\x10JFIF\0')],
    ['png', 'PNG', latin1('\x89PNG\r\n\x1a\n\0\0\0\rIHDR')],
    ['gif', 'GIF87a', latin1('GIF87a\x01\0\x01\0\0\0\0')],
    ['gif', 'GIF89a', latin1('GIF89a\x01\0\x01\0\0\0\0')],
    ['bmp', 'BMP with the common header', bmp(40)],
    ['bmp', 'BMP of OS/2', bmp(12)],
    ['bmp', 'BMP of version 5', bmp(124)],
    ['webp', 'WebP', latin1('RIFF\x1a\0\0\0WEBPVP8L')],
    ['wav', 'WAVE', latin1('RIFF\x24\0\0\0WAVEfmt ')],
    ['wav', 'WAVE of 64 bits', latin1('RF64\xff\xff\xff\xffWAVEds64')],
    ['avi', 'AVI', latin1('RIFF\x24\0\0\0AVI LIST')],
    ['pdf', 'PDF', latin1('%PDF-1.7\n%\xe2\xe3')],
    ['pdf', 'PDF after other bytes', latin1(`${'\x01'.repeat(500)}%PDF-1.4\n`)],
    ['rtf', 'RTF', latin1('{\\rtf1\\ansi hello}')],
    ['flac', 'FLAC', latin1('fLaC\0\0\0\x22')],
    ['flac', 'FLAC after ID3', latin1(`${id3(20)}fLaC\0\0\0\x22`)],
    ['flv', 'FLV', latin1('FLV\x01\x05\0\0\0\t')],
    ['mpg', 'MPEG program stream', latin1('\0\0\x01\xba\x44\0')],
    ['mpg', 'MPEG video', latin1('\0\0\x01\xb3\x14\0')],
    ['mkv', 'Matroska', ebml('matroska')],
    ['webm', 'WebM', ebml('webm')],
    ['wmv', 'Windows Media with video', asf([AUDIO, VIDEO])],
    ['wma', 'Windows Media with audio only', asf([AUDIO])],
    ['ogg', 'Vorbis', ogg('\x01vorbis\0\0')],
    ['ogg', 'FLAC in Ogg', ogg('\x7fFLAC\x01\0')],
    ['ogg', 'Vorbis after a skeleton', Buffer.concat([ogg('fishead\0'), ogg('\x01vorbis\0')])],
    ['opus', 'Opus', ogg('OpusHead\x01\x02')],
    ['mp3', 'MP3', repeat(MP3_FRAME, 2)],
    ['mp3', 'MP3 after ID3', Buffer.concat([latin1(id3(300_000)), repeat(MP3_FRAME, 2)])],
    ['mp3', 'MP3 after ID3 and padding', Buffer.concat([latin1(id3(30)), Buffer.alloc(500), repeat(MP3_FRAME, 3)])],
    ['mp3', 'MP3 of a single frame', MP3_FRAME],
    ['aac', 'AAC', repeat(AAC_FRAME, 2)],
    ['aac', 'AAC after ID3', Buffer.concat([latin1(id3(30)), repeat(AAC_FRAME, 2)])],
    ['mp4', 'MP4', bmff('isom', ['mp41'], ['soun', 'vide'])],
    ['m4a', 'MP4 with audio only', bmff('isom', ['mp41'], ['soun'])],
    ['m4a', 'M4A', bmff('M4A ', ['mp42'], ['soun'])],
    ['m4a', 'audio book with chapter images', bmff('M4B ', ['mp42'], ['soun', 'vide'])],
    ['m4v', 'M4V', bmff('M4V ', ['mp42'], ['vide'])],
    ['mov', 'QuickTime', bmff('qt  ', [], ['vide', 'soun'])],
    ['mov', 'QuickTime without brands', movie(['vide'])],
    ['3gp', '3GP', bmff('3gp5', ['isom'], ['vide'])],
    ['heic', 'HEIC', brands('heic', ['mif1'])],
    ['heic', 'HEIC with the general brand', brands('mif1', ['heic'])],
    ['heic', 'HEIC recognized by its items', Buffer.concat([brands('mif1', []), latin1('\0\0\0\x18infe\0\0\0\0hvc1')])],
    ['avif', 'AVIF', brands('avif', ['mif1'])],
    ['avif', 'AVIF with the general brand', brands('mif1', ['avif'])],
    ['tiff', 'TIFF, little-endian', tiff('II', {})],
    ['tiff', 'TIFF, big-endian', tiff('MM', {})],
    ['tiff', 'BigTIFF', latin1('II+\0\x08\0\0\0\x10\0\0\0\0\0\0\0')],
    ['tiff', 'TIFF that a photo program made of a RAW', tiff('II', { 271: 'NIKON CORPORATION\0' })],
    ['cr2', 'Canon RAW', latin1('II*\0\x10\0\0\0CR\x02\0\0\0\0\0')],
    ['nef', 'Nikon RAW', tiff('MM', { 271: 'NIKON CORPORATION\0', 262: 32_803 })],
    ['arw', 'Sony RAW', tiff('II', { 271: 'SONY\0', 259: 32_767 })],
    ['dng', 'DNG', tiff('II', { 271: 'Apple\0', 50_706: 4 })],
    ['orf', 'Olympus RAW', latin1('IIRO\x08\0\0\0\0\0')],
    ['rw2', 'Panasonic RAW', latin1('IIU\0\x08\0\0\0\0\0')],
    ['raf', 'Fujifilm RAW', latin1('FUJIFILMCCD-RAW 0201\0')],
    ['ttf', 'TrueType', sfnt('\0\x01\0\0')],
    ['ttf', 'TrueType of Apple', sfnt('true')],
    ['otf', 'OpenType', sfnt('OTTO')],
    ['woff', 'WOFF', latin1('wOFF\0\x01\0\0')],
    ['woff2', 'WOFF2', latin1('wOF2\0\x01\0\0')],
    ['doc', 'Word 97', ole2(['WordDocument', '1Table'])],
    ['doc', 'Word 97, 7 MB before its list of streams,', farOle2(['1', '2', '3', '4', 'WordDocument'])],
    ['doc', 'Word 2', latin1('\xdb\xa5\x2d\0\x78\x40')],
    ['xls', 'Excel 97', ole2(['\x05SummaryInformation', 'Workbook'])],
    ['xls', 'Excel 5', ole2(['Book'])],
    ['xls', 'Excel 4', latin1('\x09\x04\x06\0\0\0\x10\0')],
    ['ppt', 'PowerPoint 97', ole2(['PowerPoint Document'])],
    ['docx', 'Word', ooxml('vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml')],
    ['docx', 'Word template', ooxml('vnd.openxmlformats-officedocument.wordprocessingml.template.main+xml')],
    ['docm', 'Word with macros', ooxml('vnd.ms-word.document.macroEnabled.main+xml')],
    ['xlsx', 'Excel', ooxml('vnd.openxmlformats-officedocument.spreadsheetml.sheet.main+xml')],
    ['xlsm', 'Excel with macros', ooxml('vnd.ms-excel.sheet.macroEnabled.main+xml')],
    ['pptx', 'PowerPoint', ooxml('vnd.openxmlformats-officedocument.presentationml.presentation.main+xml')],
    ['pptm', 'PowerPoint with macros', ooxml('vnd.ms-powerpoint.presentation.macroEnabled.main+xml')],
    ['odt', 'OpenDocument text', odf('text')],
    ['ods', 'OpenDocument sheet', odf('spreadsheet')],
    ['odp', 'OpenDocument template of a presentation', odf('presentation-template')],
    ['fodt', 'flat text', flat('text')],
    ['fods', 'flat sheet', flat('spreadsheet')],
    ['fodp', 'flat presentation', flat('presentation')],
  ];

  // Promise, Settled where the interface leaves it open: Office formats are identified by content, text formats by name
  it.each(rows)('finds %s in %s without a name', async (format, _what, bytes) => {
    expect(await identifyBytes(bytes)).toMatchObject({ format, warning: null });
  });

  it('returns the kind with the format', async () => {
    expect(await identifyBytes(odf('spreadsheet'))).toMatchObject({ kind: 'sheet' });
  });
});

describe('identify by name, once the bytes are text', () => {
  // Promise, Settled where the interface leaves it open: Office formats are identified by content, text formats by name
  it.each<[Format, string, Uint8Array]>([
    ['txt', 'notes.txt', strToU8('Grüße')],
    ['csv', 'a.csv', strToU8('a,b\n1,2\n')],
    ['csv', 'a.CSV', latin1('name;stra\xdfe\nMu\xf1oz;1\n')],
    ['csv', 'a.csv', Buffer.from('\ufeffa,b\n1,2\n', 'utf16le')],
    ['csv', 'a.csv', Buffer.from('a,b\n1,2\n', 'utf16le')],
    ['csv', 'long.csv', strToU8('ä,ö\n'.repeat(20_000))],
    ['csv', 'magic.csv', strToU8('format,magic\nPDF,%PDF-1.4\n')],
    ['csv', 'algorithms.csv', strToU8('ID3,C4.5,CART\n1,2,3\n')],
    ['csv', 'containers.csv', strToU8('RIFF,size,form\n1,2,3\n')],
    ['csv', 'inodes.csv', strToU8('ino,ftyp,size\n1,dir,4096\n')],
    ['tsv', 'a.tsv', strToU8('a\tb\n')],
    ['json', 'a.json', strToU8('[{"a":1}]')],
    ['ndjson', 'a.jsonl', strToU8('{"a":1}\n')],
    ['html', 'a.htm', strToU8('<!doctype html><table></table>')],
    ['html', 'sjis.html', latin1(`<meta charset=Shift_JIS><table><tr><td>${'\x93\xfa\x81\x41'.repeat(99)}</table>`)],
    ['md', 'a.md', strToU8('| a |\n|---|\n')],
    ['txt', 'MZ.txt', strToU8('MZ is how a program begins')],
    ['txt', 'true.txt', strToU8('true story of many tables and more')],
  ])('returns %s for %s', async (format, filename, bytes) => {
    expect(await identifyBytes(bytes, filename)).toMatchObject({ format, warning: null });
  });

  it('refuses text without a name that identifies its format', async () => {
    await expect(identifyBytes(strToU8('a,b\n1,2\n'))).rejects.toThrow('Give a name that ends in .txt, .csv');
  });

  it('identifies a Nikon RAW without sensor data by its name', async () => {
    expect(await identifyBytes(tiff('II', { 271: 'NIKON\0' }), 'a.nef')).toMatchObject({ format: 'nef' });
  });
});

describe('identify when content and name disagree', () => {
  // Promise, Bad input, case by case: Files of another kind
  it('follows the content and warns', async () => {
    expect(await identifyBytes(latin1('\xff\xd8\xff\xe0'), 'photo.png')).toEqual({
      kind: 'image',
      format: 'jpg',
      warning: 'The file name indicates png, but its content is jpg: it was processed as jpg.',
    });
  });

  it('does not warn of opus under the name of its container', async () => {
    expect(await identifyBytes(ogg('OpusHead'), 'a.ogg')).toMatchObject({ format: 'opus', warning: null });
  });
});

describe('identify refuses', () => {
  // Promise, Bad input, case by case: Files of another kind
  // Promise, Direct endpoints: Unsupported_input, use_async_job, encrypted_pdf, processing_failed, limit_exceeded with value and limit
  it.each<[string, Uint8Array, string | null]>([
    [
      'an SVG drawing',
      strToU8('<?xml version="1.0"?>\n<!-- x --><!DOCTYPE svg [<!ENTITY a "b">]>\n<svg xmlns="a"/>'),
      'a.svg',
    ],
    ['an SVG drawing', strToU8('  <svg/>'), 'a.html'],
    ['a Photoshop document', latin1('8BPS\0\x01\0\0'), null],
    ['a JPEG 2000 image', latin1('\0\0\0\x0cjP  \r\n\x87\n'), 'a.jpg'],
    ['a collection of fonts', latin1('ttcf\0\x01\0\0'), 'a.ttf'],
    ['an m3u8 playlist', strToU8('#EXTM3U\n#EXTINF:1,\nfile:///etc/passwd'), 'a.mp4'],
    ['an ffconcat playlist', strToU8("ffconcat version 1.0\nfile '/etc/passwd'"), 'a.txt'],
    ['a DASH manifest', strToU8('<?xml version="1.0"?><MPD xmlns="urn:mpeg:dash">'), 'a.txt'],
    ['a session description', strToU8('v=0\r\no=- 0 0 IN IP4 127.0.0.1'), 'a.txt'],
    ['a PostScript program', strToU8('%!PS-Adobe-3.0\n{} loop'), 'a.pdf'],
    ['a Linux program', latin1('\x7fELF\x02\x01\x01\0'), null],
    ['a Canon CR3', brands('crx ', ['isom']), null],
    ['an Ogg video', Buffer.concat([ogg('\x80theora\x03'), ogg('\x01vorbis')]), 'a.ogg'],
    ['an EBML file of the type "other"', ebml('other'), null],
    ['a ZIP archive', zipSync({ 'a.txt': strToU8('a') }), 'a.docx'],
    ['a binary Excel workbook', ooxml('vnd.ms-excel.sheet.binary.macroEnabled.main'), null],
    ['an OpenDocument graphics file', odf('graphics'), null],
    ['a package of the type "application/epub+zip"', zipSync({ mimetype: strToU8('application/epub+zip') }), null],
    ['no Word, Excel or PowerPoint', ole2(['__substg1.0_0037001F']), 'a.msg'],
    ['MPEG audio of layer I or II', repeat(LAYER2_FRAME, 2), 'a.mp3'],
    ['a camera RAW file of PENTAX', tiff('MM', { 271: 'PENTAX\0', 262: 32_803 }), null],
    [
      'an Excel 2003 XML workbook',
      strToU8('<?xml version="1.0"?><?mso-application progid="Excel.Sheet"?><Workbook/>'),
      'a.xls',
    ],
    ['its encoding is not known. Save it as UTF-8', latin1('\x93\xfa\x96\x7b,\x8c\xea\n'.repeat(9)), 'sjis.csv'],
    ['its encoding is not known. Save it as UTF-8', latin1('\xcf\xf0\xe8\xe2\xe5\xf2\r\n'), 'koi8.txt'],
    ['its encoding is not known. Save it as UTF-8', latin1('caf\x8e fran\x8dais\n'), 'mac-roman.md'],
    ['could not be identified', latin1('\x93\xfa\x96\x7b\n'), 'a.jpg'],
    ['could not be identified', latin1(`${'\x93\xfa\n'.repeat(30_000)}\0`), 'a.csv'],
    ['could not be identified', randomBytes(5000), 'a.jpg'],
    ['could not be identified', randomBytes(5000), 'a.csv'],
    ['could not be identified', Buffer.concat([strToU8('a,b\n'.repeat(20_000)), Buffer.alloc(9)]), 'a.csv'],
    ['name indicates pdf, but its content is text. Give a name that ends in .txt', strToU8('no page'), 'a.pdf'],
    ['its name has no known extension. Give a name that ends in .txt', strToU8('no page'), null],
    ['is empty', new Uint8Array(), 'a.csv'],
  ])('%s', async (words, bytes, filename) => {
    await expect(identifyBytes(bytes, filename)).rejects.toMatchObject({
      code: 'unsupported_input',
      message: expect.stringContaining(words),
    });
  });

  // Promise, Bad input, case by case: Files of another kind
  it('a Photoshop document with the list of handled formats', async () => {
    await expect(identifyBytes(latin1('8BPS\0'))).rejects.toThrow(/Handled are image \(jpg, .*woff2\)/);
  });

  // Promise, Bad input, case by case: Damaged documents
  // Promise, Bad input, case by case: Passwords
  it.each<[string, string, Uint8Array]>([
    ['a newer document under a password', 'password', ole2(['EncryptionInfo', 'EncryptedPackage'])],
    ['one with names in upper case', 'password', ole2(['ENCRYPTIONINFO', 'ENCRYPTEDPACKAGE'])],
    ['an OpenDocument under a password', 'password', encryptedOdf()],
    ['a truncated package', 'truncated', odf('text').subarray(0, 80)],
    ['a package with a name outside', 'damaged', zipSync({ '../evil': strToU8('a') })],
    ['a package with too many entries', '10001 entries', manyEntries(10_001)],
    ['a bomb', 'decompresses from', bomb()],
  ])('%s as processing_failed', async (_what, words, bytes) => {
    await expect(identifyBytes(bytes, 'a.docx')).rejects.toMatchObject({
      code: 'processing_failed',
      message: expect.stringContaining(words),
    });
  });

  it('thousands of comments before a root element without backtracking', async () => {
    await expect(identifyBytes(strToU8('<!-- --><!-- '.repeat(5000)), 'a.bin')).rejects.toMatchObject({
      code: 'unsupported_input',
    });
  });
});

function latin1(text: string): Buffer {
  return Buffer.from(text, 'latin1');
}

function frame(header: string, length: number): Buffer {
  return Buffer.concat([latin1(header), Buffer.alloc(length - header.length)]);
}

function repeat(bytes: Buffer, times: number): Buffer {
  return Buffer.concat(Array.from({ length: times }, () => bytes));
}

/** Returns pseudorandom bytes, the same on each run. */
function randomBytes(count: number): Buffer {
  let state = 12_345;
  return Buffer.from(
    Array.from({ length: count }, () => {
      state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
      return state >>> 24;
    }),
  );
}

function bmp(headerBytes: number): Buffer {
  const bytes = Buffer.alloc(200);
  bytes.write('BM');
  bytes.writeUInt32LE(headerBytes, 14);
  return bytes;
}

function id3(size: number): string {
  const length = [21, 14, 7, 0].map((shift) => String.fromCharCode((size >> shift) & 0x7f)).join('');
  return `ID3\x04\0\0${length}${'\0'.repeat(size)}`;
}

function ebml(docType: string): Buffer {
  const version = '\x42\x86\x81\x01';
  const type = `\x42\x82${String.fromCharCode(0x80 | docType.length)}${docType}`;
  return latin1(`\x1a\x45\xdf\xa3${String.fromCharCode(0x80 | (version.length + type.length))}${version}${type}`);
}

function asf(types: string[]): Buffer {
  const streams = types.map((type) =>
    Buffer.concat([Buffer.from('9107dcb7b7a9cf118ee600c00c205365', 'hex'), Buffer.alloc(8), Buffer.from(type, 'hex')]),
  );
  const header = Buffer.alloc(30);
  Buffer.from('3026b2758e66cf11a6d900aa0062ce6c', 'hex').copy(header);
  header.writeBigUInt64LE(BigInt(30 + types.length * 40), 16);
  return Buffer.concat([header, ...streams]);
}

function ogg(packet: string): Buffer {
  const page = Buffer.alloc(28);
  page.write('OggS');
  page[5] = 2;
  page[26] = 1;
  page[27] = packet.length;
  return Buffer.concat([page, latin1(packet)]);
}

function box(type: string, ...content: Buffer[]): Buffer {
  const body = Buffer.concat(content);
  const header = Buffer.alloc(8);
  header.writeUInt32BE(8 + body.length);
  header.write(type, 4, 'latin1');
  return Buffer.concat([header, body]);
}

function brands(major: string, compatible: string[]): Buffer {
  return box('ftyp', latin1(`${major}\0\0\0\0${compatible.join('')}`));
}

function movie(handlers: string[]): Buffer {
  const tracks = handlers.map((handler) =>
    box('trak', box('tkhd', Buffer.alloc(20)), box('mdia', box('hdlr', latin1(`${'\0'.repeat(8)}${handler}`)))),
  );
  return Buffer.concat([box('mdat', Buffer.alloc(100_000)), box('moov', box('mvhd', Buffer.alloc(100)), ...tracks)]);
}

function bmff(major: string, compatible: string[], handlers: string[]): Buffer {
  return Buffer.concat([brands(major, compatible), movie(handlers)]);
}

/** Returns a file with one directory; text values follow it. */
function tiff(order: 'II' | 'MM', tags: Record<number, number | string>): Buffer {
  const isLittle = order === 'II';
  const bytes = Buffer.alloc(400);
  const u16 = (value: number, at: number) =>
    isLittle ? bytes.writeUInt16LE(value, at) : bytes.writeUInt16BE(value, at);
  const u32 = (value: number, at: number) =>
    isLittle ? bytes.writeUInt32LE(value, at) : bytes.writeUInt32BE(value, at);
  bytes.write(order);
  u16(42, 2);
  u32(8, 4);
  const entries = Object.entries(tags);
  u16(entries.length, 8);
  entries.forEach(([tag, value], index) => {
    const at = 10 + index * 12;
    u16(Number(tag), at);
    u16(typeof value === 'string' ? 2 : 3, at + 2);
    u32(typeof value === 'string' ? value.length : 1, at + 4);
    if (typeof value === 'number') u16(value, at + 8);
    else u32(200 + index * 40, at + 8);
    if (typeof value === 'string') bytes.write(value, 200 + index * 40, 'latin1');
  });
  return bytes;
}

function sfnt(mark: string): Buffer {
  return latin1(`${mark}\0\x01\0\x10\0\0\0\0glyf${'\0'.repeat(40)}`);
}

/** Returns a file with root and children, chained to the right, in sector 1; the allocation table is sector 0. */
function ole2(names: string[]): Buffer {
  const file = Buffer.alloc(512 * 4);
  Buffer.from('d0cf11e0a1b11ae1', 'hex').copy(file);
  file.writeUInt16LE(9, 30);
  file.writeUInt32LE(1, 48);
  file.fill(0xff, 76, 512);
  file.writeUInt32LE(0, 76);
  file.fill(0xff, 512, 1024);
  file.writeUInt32LE(0xffff_fffd, 512);
  file.writeUInt32LE(0xffff_fffe, 516);
  streamEntries(names).copy(file, 1024);
  return file;
}

/** Returns a file with so many sectors that its header does not list the part of the allocation table in use. */
function farOle2(names: string[]): Buffer {
  const first = 109 * 128;
  const file = Buffer.alloc(512 * (first + 3));
  ole2([]).copy(file, 0, 0, 512);
  file.writeUInt32LE(first, 48);
  file.writeUInt32LE(0, 68);
  file.writeUInt32LE(1, 512);
  file.writeUInt32LE(0xffff_fffe, 512 + 508);
  file.writeUInt32LE(first + 1, 1024);
  file.writeUInt32LE(0xffff_fffe, 1028);
  streamEntries(names).copy(file, 512 * (first + 1));
  return file;
}

function streamEntries(names: string[]): Buffer {
  const bytes = Buffer.alloc(128 * (names.length + 1));
  ['Root Entry', ...names].forEach((name, index) => {
    const at = index * 128;
    bytes.write(name, at, 'utf16le');
    bytes.writeUInt16LE(name.length * 2 + 2, at + 64);
    bytes.writeUInt32LE(0xffff_ffff, at + 68);
    bytes.writeUInt32LE(index > 0 && index < names.length ? index + 1 : 0xffff_ffff, at + 72);
    bytes.writeUInt32LE(index === 0 ? 1 : 0xffff_ffff, at + 76);
  });
  return bytes;
}

function ooxml(contentType: string): Uint8Array {
  return zipSync({
    '[Content_Types].xml': strToU8(`<Types><Override ContentType="application/${contentType}"/></Types>`),
  });
}

function odf(type: string): Uint8Array {
  return zipSync({
    mimetype: [strToU8(`application/vnd.oasis.opendocument.${type}`), { level: 0 }],
    'content.xml': strToU8('<a/>'),
  });
}

function encryptedOdf(): Uint8Array {
  return zipSync({
    mimetype: strToU8('application/vnd.oasis.opendocument.text'),
    'META-INF/manifest.xml': strToU8('<manifest:file-entry><manifest:encryption-data/></manifest:file-entry>'),
  });
}

function flat(type: string): Uint8Array {
  return strToU8(
    `<?xml version="1.0"?>\n<office:document xmlns:office="x" office:mimetype="application/vnd.oasis.opendocument.${type}">`,
  );
}

function manyEntries(count: number): Uint8Array {
  return zipSync(Object.fromEntries(Array.from({ length: count }, (_, index) => [`${index}`, new Uint8Array()])), {
    level: 0,
  });
}

function bomb(): Uint8Array {
  const type =
    '<Override ContentType="application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"/>';
  return zipSync(
    { '[Content_Types].xml': strToU8(type), 'word/document.xml': new Uint8Array(80 * 1024 * 1024) },
    { level: 1 },
  );
}
