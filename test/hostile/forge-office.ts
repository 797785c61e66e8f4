/** Writers of short office documents with parts that no real office program writes. */
import { zip, type ZipPart } from '#test/hostile/forge-zip.ts';

const XML = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>';
export const RELATIONSHIPS = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships';
const MAIN = 'application/vnd.openxmlformats-officedocument';

/** Relationship of a package. */
export interface Link {
  readonly id: string;
  /** Last segment of the relationship type, such as `image`. */
  readonly type: string;
  readonly target: string;
}

/** Visible text of every document. */
export const WORDS = 'Seen in every document';

interface Docx {
  /** XML of the body after a paragraph with `WORDS`. */
  readonly body?: string;
  readonly links?: readonly Link[];
  /** XML of the settings; `settingsLinks` are their relationships. */
  readonly settings?: string;
  readonly settingsLinks?: readonly Link[];
  readonly parts?: readonly ZipPart[];
  /** Inserted between the XML declaration and the root element. */
  readonly doctype?: string;
}

/** Returns a word-processing document. */
export function docx({ body = '', links = [], settings, settingsLinks = [], parts = [], doctype = '' }: Docx): Buffer {
  const own = settings === undefined ? [] : [{ id: 'rIdSettings', type: 'settings', target: 'settings.xml' }];
  const extra: ZipPart[] =
    settings === undefined
      ? []
      : [
          { name: 'word/settings.xml', data: `${XML}<w:settings ${WORD}>${settings}</w:settings>` },
          { name: 'word/_rels/settings.xml.rels', data: relationships([], settingsLinks) },
        ];
  return zip([
    contentTypes([
      ['/word/document.xml', `${MAIN}.wordprocessingml.document.main+xml`],
      ['/word/settings.xml', `${MAIN}.wordprocessingml.settings+xml`],
    ]),
    root('word/document.xml'),
    {
      name: 'word/document.xml',
      data: `${XML}${doctype}<w:document ${WORD}><w:body><w:p><w:r><w:t>${WORDS}</w:t></w:r></w:p>${body}</w:body></w:document>`,
    },
    {
      name: 'word/_rels/document.xml.rels',
      data: relationships(
        [...own, ...links.filter(isInside)],
        links.filter((link) => !isInside(link)),
      ),
    },
    ...extra,
    ...parts,
  ]);
}

interface Xlsx {
  /** XML of a sheet before the one of the rows in the list of sheets. The latter is the active one. */
  readonly sheetBefore?: string;
  /** XML of rows after the first one. */
  readonly rows?: string;
  /** XML of the sheet after its rows. */
  readonly sheetEnd?: string;
  readonly doctype?: string;
  /** XML of the workbook after its sheets. */
  readonly workbook?: string;
  readonly links?: readonly Link[];
  readonly parts?: readonly ZipPart[];
  /** Content types of further parts. */
  readonly types?: readonly (readonly [part: string, type: string])[];
}

/** Returns a workbook of one sheet, or of the sheets in `parts` too. */
export function xlsx({
  sheetBefore = '',
  rows = '',
  sheetEnd = '',
  doctype = '',
  workbook = '',
  links = [],
  parts = [],
  types = [],
}: Xlsx): Buffer {
  return zip([
    contentTypes([
      ['/xl/workbook.xml', `${MAIN}.spreadsheetml.sheet.main+xml`],
      ['/xl/worksheets/sheet1.xml', `${MAIN}.spreadsheetml.worksheet+xml`],
      ...types,
    ]),
    root('xl/workbook.xml'),
    {
      name: 'xl/workbook.xml',
      data: `${XML}<workbook ${SHEET}><bookViews><workbookView activeTab="${sheetBefore === '' ? 0 : 1}"/></bookViews><sheets>${sheetBefore}<sheet name="A" sheetId="1" r:id="rId1"/></sheets>${workbook}</workbook>`,
    },
    {
      name: 'xl/_rels/workbook.xml.rels',
      data: relationships(
        [{ id: 'rId1', type: 'worksheet', target: 'worksheets/sheet1.xml' }, ...links.filter(isInside)],
        links.filter((link) => !isInside(link)),
      ),
    },
    {
      name: 'xl/worksheets/sheet1.xml',
      data: `${XML}${doctype}<worksheet ${SHEET}><sheetData><row r="1"><c r="A1" t="inlineStr"><is><t>${WORDS}</t></is></c></row>${rows}</sheetData>${sheetEnd}</worksheet>`,
    },
    ...parts,
  ]);
}

/** Returns a workbook whose first sheet is a chart sheet. The second one has the words. */
export function chartSheet(): Buffer {
  const drawing = 'http://schemas.openxmlformats.org/drawingml/2006';
  const chart = `<c:chart xmlns:c="${drawing}/chart" xmlns:r="${RELATIONSHIPS}" r:id="rId1"/>`;
  const graphic = `<graphic xmlns="${drawing}/main"><graphicData uri="${drawing}/chart">${chart}</graphicData></graphic>`;
  const frame = `<graphicFrame><nvGraphicFramePr><cNvPr id="1" name="Chart"/><cNvGraphicFramePr/></nvGraphicFramePr><xfrm/>${graphic}</graphicFrame>`;
  const anchor = `<absoluteAnchor><pos x="0" y="0"/><ext cx="0" cy="0"/>${frame}<clientData/></absoluteAnchor>`;
  const bars = `<barChart><barDir val="col"/><ser><idx val="0"/><order val="0"/><val><numRef><f>A!$A$1</f></numRef></val></ser><axId val="1"/><axId val="2"/></barChart>`;
  const axes = `<catAx><axId val="1"/><crossAx val="2"/></catAx><valAx><axId val="2"/><crossAx val="1"/></valAx>`;
  return xlsx({
    sheetBefore: '<sheet name="Chart" sheetId="2" r:id="rId2"/>',
    links: [{ id: 'rId2', type: 'chartsheet', target: 'chartsheets/sheet1.xml' }],
    types: [
      ['/xl/chartsheets/sheet1.xml', `${MAIN}.spreadsheetml.chartsheet+xml`],
      ['/xl/drawings/drawing1.xml', `${MAIN}.drawing+xml`],
      ['/xl/charts/chart1.xml', `${MAIN}.drawingml.chart+xml`],
    ],
    parts: [
      { name: 'xl/chartsheets/sheet1.xml', data: `${XML}<chartsheet ${SHEET}><drawing r:id="rId1"/></chartsheet>` },
      relationOf('xl/chartsheets/_rels/sheet1.xml.rels', 'drawing', '/xl/drawings/drawing1.xml'),
      {
        name: 'xl/drawings/drawing1.xml',
        data: `${XML}<wsDr xmlns="${drawing}/spreadsheetDrawing">${anchor}</wsDr>`,
      },
      relationOf('xl/drawings/_rels/drawing1.xml.rels', 'chart', '/xl/charts/chart1.xml'),
      {
        name: 'xl/charts/chart1.xml',
        data: `${XML}<chartSpace xmlns="${drawing}/chart"><chart><plotArea>${bars}${axes}</plotArea></chart></chartSpace>`,
      },
    ],
  });
}

function relationOf(name: string, type: string, target: string): ZipPart {
  return { name, data: relationships([{ id: 'rId1', type, target }], []) };
}

/** Returns an OpenDocument package. `content` is the complete content.xml. */
export function openDocument(
  type: 'text' | 'spreadsheet' | 'presentation',
  content: string,
  parts: readonly ZipPart[] = [],
): Buffer {
  const mediaType = `application/vnd.oasis.opendocument.${type}`;
  const entries = [{ name: 'content.xml' }, ...parts].map(
    ({ name }) => `<manifest:file-entry manifest:full-path="${name}" manifest:media-type="text/xml"/>`,
  );
  return zip([
    { name: 'mimetype', data: mediaType },
    { name: 'content.xml', data: content },
    {
      name: 'META-INF/manifest.xml',
      data: `${XML}<manifest:manifest xmlns:manifest="urn:oasis:names:tc:opendocument:xmlns:manifest:1.0" manifest:version="1.2"><manifest:file-entry manifest:full-path="/" manifest:media-type="${mediaType}"/>${entries.join('')}</manifest:manifest>`,
    },
    ...parts,
  ]);
}

const NAMESPACES = [
  ...['office', 'text', 'table', 'style', 'script', 'meta', 'presentation'].map((name) => [name, `${name}:1.0`]),
  ['draw', 'drawing:1.0'],
  ['svg', 'svg-compatible:1.0'],
]
  .map(([name, path]) => `xmlns:${name}="urn:oasis:names:tc:opendocument:xmlns:${path}"`)
  .join(' ');

interface OdfXml {
  readonly type: 'text' | 'spreadsheet' | 'presentation';
  readonly body: string;
  /** XML before the body, such as scripts and fonts. */
  readonly before?: string;
  readonly doctype?: string;
}

/** Returns content.xml of a package, or with `flat` a flat OpenDocument file. */
export function odfXml({ type, body, before = '', doctype = '' }: OdfXml, flat = false): string {
  const name = flat ? 'office:document' : 'office:document-content';
  const mark = flat ? ` office:mimetype="application/vnd.oasis.opendocument.${type}"` : '';
  return `<?xml version="1.0" encoding="UTF-8"?>${doctype}<${name} ${NAMESPACES} xmlns:xlink="http://www.w3.org/1999/xlink" xmlns:ooo="http://openoffice.org/2004/office" xmlns:dom="http://www.w3.org/2001/xml-events" xmlns:of="urn:oasis:names:tc:opendocument:xmlns:of:1.2" office:version="1.2"${mark}>${before}<office:body><office:${type}>${body}</office:${type}></office:body></${name}>`;
}

/** Returns an OpenDocument file, flat or as a package. */
export function odf(flat: boolean, parts: Parameters<typeof odfXml>[0]): Buffer {
  return flat ? Buffer.from(odfXml(parts, true)) : openDocument(parts.type, odfXml(parts));
}

/** Returns a document type with nested entities to that depth, each of which repeats the previous one ten times. */
export function laughs(depth: number): string {
  const lines = Array.from({ length: depth }, (_, level) => `<!ENTITY l${level + 1} "${`&l${level};`.repeat(10)}">`);
  return `<!DOCTYPE x [<!ENTITY l0 "ha">${lines.join('')}]>`;
}

const WORD = `xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main" xmlns:r="${RELATIONSHIPS}" xmlns:v="urn:schemas-microsoft-com:vml" xmlns:o="urn:schemas-microsoft-com:office:office" xmlns:wp="http://schemas.openxmlformats.org/drawingml/2006/wordprocessingDrawing" xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main" xmlns:pic="http://schemas.openxmlformats.org/drawingml/2006/picture"`;
const SHEET = `xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main" xmlns:r="${RELATIONSHIPS}"`;

function isInside({ target }: Link): boolean {
  return !/^[a-z]+:/i.test(target);
}

export function root(target: string): ZipPart {
  return { name: '_rels/.rels', data: relationships([{ id: 'rId1', type: 'officeDocument', target }], []) };
}

export function relationships(inside: readonly Link[], outside: readonly Link[]): string {
  const line = ({ id, type, target }: Link, mode: string): string =>
    `<Relationship Id="${id}" Type="${RELATIONSHIPS}/${type}" Target="${target}"${mode}/>`;
  return `${XML}<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">${inside.map((link) => line(link, '')).join('')}${outside.map((link) => line(link, ' TargetMode="External"')).join('')}</Relationships>`;
}

export function contentTypes(overrides: readonly (readonly [part: string, type: string])[]): ZipPart {
  const lines = overrides.map(([part, type]) => `<Override PartName="${part}" ContentType="${type}"/>`);
  return {
    name: '[Content_Types].xml',
    data: `${XML}<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Default Extension="xml" ContentType="application/xml"/><Default Extension="svg" ContentType="image/svg+xml"/><Default Extension="emf" ContentType="image/x-emf"/><Default Extension="wmf" ContentType="image/x-wmf"/>${lines.join('')}</Types>`,
  };
}
