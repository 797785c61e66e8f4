/** Formats of the service, one row each, from which kinds, lists and look-ups derive: docs/reference/formats.md. */

export const KINDS = ['image', 'pdf', 'video', 'audio', 'word', 'sheet', 'presentation', 'table', 'font'] as const;
export type Kind = (typeof KINDS)[number];

export const OPERATIONS = ['compress', 'convert', 'strip_metadata'] as const;
export type Operation = (typeof OPERATIONS)[number];

interface FormatRow {
  readonly kind: Kind;
  readonly mediaType: string;
  /** Extensions in lower case, without dot; output files get the first one. */
  readonly extensions: readonly string[];
  /** True: at least one operation accepts it as input. */
  readonly input: boolean;
  /** First bytes that no other format has, in Latin-1. Letters alone also need a zero byte near them, unless text follows. */
  readonly signatures?: readonly string[];
  /** Major brands of its ISO base media files. */
  readonly brands?: readonly string[];
  /** Camera RAW: compress decodes it, convert and strip refuse it. */
  readonly raw?: true;
  /** What compress writes for the format `original`, if not this format. `jpg or png`: photos, and drawn images. */
  readonly compressedAs?: 'jpg' | 'jpg or png' | 'm4a';
}

/** An image format other than camera RAW. */
interface RasterRow extends FormatRow {
  readonly kind: 'image';
  readonly raw?: never;
}

type FirstBytes = Pick<FormatRow, 'signatures' | 'brands'>;

const image = (
  mediaType: string,
  extensions: string[],
  more: FirstBytes & Pick<FormatRow, 'compressedAs'> = {},
): RasterRow => ({
  kind: 'image',
  mediaType,
  extensions,
  input: true,
  ...more,
});
const raw = (extension: string, mediaType: string, more: FirstBytes = {}): FormatRow => ({
  ...image(mediaType, [extension], { compressedAs: 'jpg', ...more }),
  raw: true,
});
const row = (kind: Kind, mediaType: string, extensions: string[], more: Partial<FormatRow> = {}): FormatRow => ({
  kind,
  mediaType,
  extensions,
  input: true,
  ...more,
});

const ROWS = {
  jpg: image('image/jpeg', ['jpg', 'jpeg', 'jpe', 'jfif'], { signatures: ['\xff\xd8\xff'] }),
  png: image('image/png', ['png', 'apng'], { signatures: ['\x89PNG\r\n\x1a\n'] }),
  webp: image('image/webp', ['webp']),
  avif: image('image/avif', ['avif'], { brands: ['avif', 'avis'] }),
  heic: image('image/heic', ['heic', 'heif', 'hif'], {
    brands: ['heic', 'heix', 'hevc', 'hevx', 'heim', 'heis', 'hevm', 'hevs'],
  }),
  gif: image('image/gif', ['gif'], { signatures: ['GIF87a', 'GIF89a'] }),
  tiff: image('image/tiff', ['tiff', 'tif'], { compressedAs: 'jpg or png', signatures: ['II+\0', 'MM\0+'] }),
  bmp: image('image/bmp', ['bmp', 'dib'], { compressedAs: 'jpg or png' }),
  cr2: raw('cr2', 'image/x-canon-cr2'),
  nef: raw('nef', 'image/x-nikon-nef'),
  arw: raw('arw', 'image/x-sony-arw'),
  dng: raw('dng', 'image/x-adobe-dng'),
  orf: raw('orf', 'image/x-olympus-orf', { signatures: ['IIRO', 'IIRS', 'MMOR'] }),
  rw2: raw('rw2', 'image/x-panasonic-rw2', { signatures: ['IIU\0'] }),
  raf: raw('raf', 'image/x-fuji-raf', { signatures: ['FUJIFILMCCD-RAW'] }),

  pdf: row('pdf', 'application/pdf', ['pdf'], { signatures: ['%PDF-'] }),

  mp4: row('video', 'video/mp4', ['mp4']),
  mov: row('video', 'video/quicktime', ['mov', 'qt']),
  avi: row('video', 'video/x-msvideo', ['avi']),
  mkv: row('video', 'video/x-matroska', ['mkv']),
  webm: row('video', 'video/webm', ['webm']),
  flv: row('video', 'video/x-flv', ['flv'], { signatures: ['FLV\x01'] }),
  wmv: row('video', 'video/x-ms-wmv', ['wmv']),
  m4v: row('video', 'video/x-m4v', ['m4v']),
  mpg: row('video', 'video/mpeg', ['mpg', 'mpeg', 'vob'], { signatures: ['\0\0\x01\xba', '\0\0\x01\xb3'] }),
  '3gp': row('video', 'video/3gpp', ['3gp', '3g2']),

  mp3: row('audio', 'audio/mpeg', ['mp3']),
  aac: row('audio', 'audio/aac', ['aac']),
  wav: row('audio', 'audio/wav', ['wav']),
  flac: row('audio', 'audio/flac', ['flac'], { signatures: ['fLaC'] }),
  m4a: row('audio', 'audio/mp4', ['m4a', 'm4b'], { brands: ['M4A ', 'M4B ', 'M4P '] }),
  ogg: row('audio', 'audio/ogg', ['ogg', 'oga']),
  opus: row('audio', 'audio/ogg', ['opus']),
  wma: row('audio', 'audio/x-ms-wma', ['wma'], { compressedAs: 'm4a' }),
  alac: row('audio', 'audio/mp4', ['m4a'], { input: false }),

  // Word 2 for Windows and Excel 2 to 4 wrote bare records, without the container of later versions.
  doc: row('word', 'application/msword', ['doc', 'dot'], { signatures: ['\xdb\xa5\x2d\0'] }),
  docx: row('word', ooxml('wordprocessingml.document'), ['docx', 'dotx']),
  docm: row('word', 'application/vnd.ms-word.document.macroenabled.12', ['docm']),
  odt: row('word', 'application/vnd.oasis.opendocument.text', ['odt', 'ott']),
  fodt: row('word', 'application/vnd.oasis.opendocument.text-flat-xml', ['fodt']),
  rtf: row('word', 'application/rtf', ['rtf'], { signatures: ['{\\rtf'] }),
  txt: row('word', 'text/plain; charset=utf-8', ['txt', 'text']),

  xls: row('sheet', 'application/vnd.ms-excel', ['xls', 'xlt'], {
    signatures: ['\x09\0\x04\0', '\x09\x02\x06\0', '\x09\x04\x06\0'],
  }),
  xlsx: row('sheet', ooxml('spreadsheetml.sheet'), ['xlsx', 'xltx']),
  xlsm: row('sheet', 'application/vnd.ms-excel.sheet.macroenabled.12', ['xlsm']),
  ods: row('sheet', 'application/vnd.oasis.opendocument.spreadsheet', ['ods', 'ots']),
  fods: row('sheet', 'application/vnd.oasis.opendocument.spreadsheet-flat-xml', ['fods']),

  ppt: row('presentation', 'application/vnd.ms-powerpoint', ['ppt', 'pps', 'pot']),
  pptx: row('presentation', ooxml('presentationml.presentation'), ['pptx', 'ppsx', 'potx']),
  pptm: row('presentation', 'application/vnd.ms-powerpoint.presentation.macroenabled.12', ['pptm']),
  odp: row('presentation', 'application/vnd.oasis.opendocument.presentation', ['odp', 'otp']),
  fodp: row('presentation', 'application/vnd.oasis.opendocument.presentation-flat-xml', ['fodp']),

  csv: row('table', 'text/csv; charset=utf-8', ['csv']),
  tsv: row('table', 'text/tab-separated-values; charset=utf-8', ['tsv', 'tab']),
  json: row('table', 'application/json', ['json']),
  ndjson: row('table', 'application/x-ndjson', ['ndjson', 'jsonl']),
  html: row('table', 'text/html; charset=utf-8', ['html', 'htm']),
  md: row('table', 'text/markdown; charset=utf-8', ['md', 'markdown']),

  ttf: row('font', 'font/ttf', ['ttf'], { signatures: ['\0\x01\0\0', 'true'] }),
  otf: row('font', 'font/otf', ['otf'], { signatures: ['OTTO'] }),
  woff: row('font', 'font/woff', ['woff'], { signatures: ['wOFF'] }),
  woff2: row('font', 'font/woff2', ['woff2'], { signatures: ['wOF2'] }),
} as const satisfies Record<string, FormatRow>;

export type Format = keyof typeof ROWS;
export type RasterFormat = { [F in Format]: (typeof ROWS)[F] extends RasterRow ? F : never }[Format];

/** Returns true for an image format other than camera RAW. */
export function isRaster(format: Format): format is RasterFormat {
  return FORMATS[format].kind === 'image' && !isRaw(format);
}

/** Returns true for a camera RAW format. */
export function isRaw(format: Format): boolean {
  return FORMATS[format].raw === true;
}

export const FORMATS: Readonly<Record<Format, FormatRow>> = ROWS;
export const FORMAT_NAMES = Object.keys(ROWS) as Format[];

/** Formats that images are written in; a `pdf` holds one image on one page. */
const IMAGE_TARGETS = ['jpg', 'png', 'webp', 'avif', 'heic', 'tiff', 'bmp', 'gif', 'pdf'] as const satisfies Format[];
export type ImageTarget = (typeof IMAGE_TARGETS)[number];

export function isImageTarget(format: Format): format is ImageTarget {
  return CONVERT_TARGETS.image.includes(format);
}

/** Targets of `convert` per kind of input, in the interface's order: docs/reference/direct.md#convert. */
export const CONVERT_TARGETS: Readonly<Record<Kind, readonly Format[]>> = {
  image: IMAGE_TARGETS,
  pdf: ['png', 'jpg'],
  word: ['pdf', 'docx', 'odt', 'rtf', 'txt', 'html'],
  sheet: ['pdf', 'xlsx', 'ods', 'csv', 'html'],
  presentation: ['pdf', 'pptx', 'odp'],
  video: ['mp4', 'mov', 'webm', 'mkv'],
  audio: ['m4a', 'mp3', 'wav', 'flac', 'ogg'],
  table: ['csv', 'tsv', 'json', 'ndjson', 'html', 'md', 'xlsx'],
  font: ['ttf', 'otf', 'woff', 'woff2'],
};

/** Other spellings of convert targets: docs/reference/direct.md#convert. */
const TARGET_SPELLINGS: Readonly<Record<string, Format>> = {
  jpeg: 'jpg',
  tif: 'tiff',
  heif: 'heic',
  htm: 'html',
  markdown: 'md',
  jsonl: 'ndjson',
};

/** Kinds that each operation accepts. */
export const OPERATION_KINDS: Readonly<Record<Operation, readonly Kind[]>> = {
  compress: ['image', 'pdf', 'video', 'audio'],
  convert: KINDS,
  strip_metadata: ['image', 'pdf'],
};

/** Kinds that the direct endpoints accept; the others run as jobs only. */
export const DIRECT_KINDS: readonly Kind[] = ['image', 'pdf', 'audio', 'table', 'font'];

export function isFormat(text: string): text is Format {
  return Object.hasOwn(ROWS, text);
}

/** Returns the format of a target's spelling, case ignored; null when there is none. */
export function targetFormat(text: string): Format | null {
  const lower = text.toLowerCase();
  const spelled = Object.hasOwn(TARGET_SPELLINGS, lower) ? TARGET_SPELLINGS[lower] : undefined;
  return spelled ?? (isFormat(lower) ? lower : null);
}

/** Returns a sentence with the targets of a kind, for messages. */
export function targetsOf(kind: Kind): string {
  return `The targets of ${kind} files are ${CONVERT_TARGETS[kind].join(', ')}.`;
}

/** Returns the input format of a file name's extension; null when the extension is missing or unknown. */
export function formatOfName(filename: string | null): Format | null {
  const extension = /\.([^.]+)$/.exec(filename ?? '')?.[1]?.toLowerCase();
  if (extension === undefined) return null;
  return FORMAT_NAMES.find((name) => FORMATS[name].input && FORMATS[name].extensions.includes(extension)) ?? null;
}

/** Returns the kind of a file name's extension, an estimate for sizing and display; null when it has none that is known. */
export function kindOfName(filename: string | null): Kind | null {
  const format = formatOfName(filename);
  return format === null ? null : FORMATS[format].kind;
}

export function inputFormatsOf(kind: Kind): Format[] {
  return FORMAT_NAMES.filter((name) => FORMATS[name].kind === kind && FORMATS[name].input);
}

/** Returns the extension of output files of a format, without dot. */
export function extensionOf(format: Format): string {
  return FORMATS[format].extensions[0] ?? format;
}

function ooxml(name: string): string {
  return `application/vnd.openxmlformats-officedocument.${name}`;
}

/** Returns the possible output formats of an operation on files of these kinds. */
export function outputFormatsOf(operation: Operation, kinds: readonly Kind[]): Format[] {
  const applicable = kinds.filter((kind) => OPERATION_KINDS[operation].includes(kind));
  return FORMAT_NAMES.filter((name) =>
    operation === 'convert'
      ? applicable.some((kind) => CONVERT_TARGETS[kind].includes(name))
      : applicable.includes(FORMATS[name].kind),
  );
}
