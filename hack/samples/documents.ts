/** Office documents as flat OpenDocument XML; LibreOffice converts them into the usual formats. */

/** An image inside a document. */
export interface EmbeddedImage {
  readonly jpeg: Buffer;
  readonly widthCm: number;
  readonly heightCm: number;
}

const SENTENCES = [
  'The path along the ridge was reopened in spring after two winters of repair.',
  'Counts at the three bridges show that most walkers come on the first warm Sunday.',
  'Rain in July washed out the lower switchbacks, which were rebuilt with local stone.',
  'We thank the ninety volunteers who cleared drains, painted marks and carried timber.',
  'Next year the signs at the valley station will be replaced, as agreed with the council.',
  'The cost of the work stayed within the amount that was granted.',
  'Farmers asked for two more gates near the upper pasture; both are in place.',
];

/** Returns several pages of headings, text, a table and images. */
export function reportDocument(pictures: readonly EmbeddedImage[]): string {
  const chapters = pictures.map((picture, index) =>
    [
      `<text:h text:style-name="${index === 0 ? 'Title' : 'Chapter'}" text:outline-level="1">${index === 0 ? 'Ridge path: report of the year' : `${index}. Section ${index}`}</text:h>`,
      paragraphs(3, index),
      frame(picture, `picture ${index}`),
      `<text:p text:style-name="Small">Figure ${index + 1}. View from stop ${index + 1}.</text:p>`,
      paragraphs(4, index + 3),
    ].join('\n'),
  );
  return textDocument(`${chapters.join('\n')}${countTable()}`);
}

/** Returns a letter of one page with a letterhead. */
export function letterDocument(picture: EmbeddedImage): string {
  return textDocument(
    [
      frame(picture, 'letterhead'),
      ...['Ridge Path Association', 'Station Road 4', 'Upper Valley'].map(small),
      '<text:p text:style-name="Body">Dear members,</text:p>',
      paragraphs(4, 1),
      '<text:list><text:list-item><text:p text:style-name="Body">Work day on 12 April</text:p></text:list-item><text:list-item><text:p text:style-name="Body">Meeting on 3 May</text:p></text:list-item></text:list>',
      paragraphs(2, 4),
      '<text:p text:style-name="Body">Yours, <text:span text:style-name="Strong">the committee</text:span></text:p>',
    ].join('\n'),
  );
}

/** Returns twelve months of income and costs with sums. */
export function budgetDocument(): string {
  const months = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];
  const rows = ['Fees', 'Grants', 'Gifts', 'Tools', 'Timber', 'Stone', 'Transport', 'Insurance'].map((name, row) => {
    const sign = row < 3 ? 1 : -1;
    const amounts = months.map((_month, month) =>
      numberCell(sign * (120 + ((row * 37 + month * 53) % 400)) + 0.25 * month),
    );
    return sheetRow([textCell(name), ...amounts, formulaCell(`SUM([.B${row + 2}:.M${row + 2}])`)]);
  });
  const sums = 'BCDEFGHIJKLMN'.split('').map((column) => formulaCell(`SUM([.${column}2:.${column}9])`));
  const sheet = [
    sheetRow(['Item', ...months, 'Year'].map(textCell)),
    ...rows,
    sheetRow([textCell('Balance'), ...sums]),
  ];
  const notes = SENTENCES.map((sentence, index) => sheetRow([textCell(`Note ${index + 1}`), textCell(sentence)]));
  return flat(
    'spreadsheet',
    `<table:table table:name="Budget">${sheet.join('')}</table:table><table:table table:name="Notes">${notes.join('')}</table:table>`,
  );
}

/** Returns a slide per image, with title and points. */
export function slidesDocument(pictures: readonly EmbeddedImage[]): string {
  const pages = pictures.map((picture, index) => {
    const points = SENTENCES.slice(index, index + 3).map(
      (text) => `<text:list-item><text:p text:style-name="Body">${text}</text:p></text:list-item>`,
    );
    return `<draw:page draw:name="Slide ${index + 1}" draw:master-page-name="Standard">
      <draw:frame draw:style-name="plain" svg:x="1.5cm" svg:y="0.8cm" svg:width="25cm" svg:height="2cm"><draw:text-box><text:p text:style-name="Title">Ridge path ${index + 1}</text:p></draw:text-box></draw:frame>
      <draw:frame draw:style-name="plain" svg:x="1.5cm" svg:y="3.5cm" svg:width="11cm" svg:height="10cm"><draw:text-box><text:list>${points.join('')}</text:list></draw:text-box></draw:frame>
      <draw:frame draw:style-name="plain" svg:x="14cm" svg:y="3.5cm" svg:width="${picture.widthCm}cm" svg:height="${picture.heightCm}cm">${image(picture)}</draw:frame>
    </draw:page>`;
  });
  return flat('presentation', pages.join('\n'));
}

function paragraphs(count: number, from: number): string {
  const one = (start: number): string =>
    Array.from({ length: 6 }, (_, index) => SENTENCES[(start + index * 2) % SENTENCES.length]).join(' ');
  return Array.from(
    { length: count },
    (_, index) => `<text:p text:style-name="Body">${one(from + index)}</text:p>`,
  ).join('\n');
}

function small(text: string): string {
  return `<text:p text:style-name="Small">${text}</text:p>`;
}

function countTable(): string {
  const cell = (text: string): string =>
    `<table:table-cell office:value-type="string">${small(text)}</table:table-cell>`;
  const rows = Array.from({ length: 12 }, (_, index) => [
    `Bridge ${1 + (index % 3)}`,
    `Week ${20 + index}`,
    String(311 + ((index * 97) % 240)),
  ]);
  const body = [['Place', 'Week', 'Walkers'], ...rows].map(
    (row) => `<table:table-row>${row.map(cell).join('')}</table:table-row>`,
  );
  return `<table:table table:name="Counts"><table:table-column table:number-columns-repeated="3"/>${body.join('')}</table:table>`;
}

function frame(picture: EmbeddedImage, name: string): string {
  const size = `svg:width="${picture.widthCm}cm" svg:height="${picture.heightCm}cm"`;
  return `<text:p text:style-name="Body"><draw:frame draw:name="${name}" text:anchor-type="as-char" ${size}>${image(picture)}</draw:frame></text:p>`;
}

function image({ jpeg }: EmbeddedImage): string {
  return `<draw:image><office:binary-data>${jpeg.toString('base64')}</office:binary-data></draw:image>`;
}

function textCell(text: string): string {
  return `<table:table-cell office:value-type="string"><text:p>${text}</text:p></table:table-cell>`;
}

function numberCell(value: number): string {
  return `<table:table-cell office:value-type="float" office:value="${value}"/>`;
}

function formulaCell(formula: string): string {
  return `<table:table-cell table:formula="of:=${formula}" office:value-type="float"/>`;
}

function sheetRow(cells: readonly string[]): string {
  return `<table:table-row>${cells.join('')}</table:table-row>`;
}

function textDocument(body: string): string {
  return flat('text', body);
}

function flat(kind: 'text' | 'spreadsheet' | 'presentation', body: string): string {
  const page =
    kind === 'presentation'
      ? 'fo:page-width="28cm" fo:page-height="15.75cm"'
      : 'fo:page-width="21cm" fo:page-height="29.7cm" fo:margin="2cm"';
  return `<?xml version="1.0" encoding="UTF-8"?>
<office:document ${NAMESPACES} office:version="1.3" office:mimetype="application/vnd.oasis.opendocument.${kind}">
<office:meta><meta:initial-creator>Ridge Path Association</meta:initial-creator><dc:title>Ridge path</dc:title></office:meta>
<office:styles>
${style('Body', 'fo:font-size="11pt" style:font-name="Liberation Serif"', 'fo:margin-bottom="0.25cm" fo:text-align="justify"')}
${style('Small', 'fo:font-size="9pt"', 'fo:margin-bottom="0.1cm"')}
${style('Title', 'fo:font-size="24pt" fo:font-weight="bold"', 'fo:margin-bottom="0.5cm"')}
${style('Chapter', 'fo:font-size="16pt" fo:font-weight="bold"', 'fo:break-before="page"')}
<style:style style:name="Strong" style:family="text"><style:text-properties fo:font-weight="bold"/></style:style>
</office:styles>
<office:automatic-styles><style:page-layout style:name="page"><style:page-layout-properties ${page}/></style:page-layout>${PLAIN}</office:automatic-styles>
<office:master-styles><style:master-page style:name="Standard" style:page-layout-name="page"/></office:master-styles>
<office:body><office:${kind}>${body}</office:${kind}></office:body>
</office:document>
`;
}

/** Frames of slides are filled and bordered unless a style says otherwise. */
const PLAIN =
  '<style:style style:name="plain" style:family="graphic"><style:graphic-properties draw:fill="none" draw:stroke="none"/></style:style>';

function style(name: string, text: string, paragraph: string): string {
  return `<style:style style:name="${name}" style:family="paragraph"><style:paragraph-properties ${paragraph}/><style:text-properties ${text}/></style:style>`;
}

const NAMESPACES = [
  ...['office', 'style', 'text', 'table', 'meta', 'presentation'].map((name) => [
    name,
    `urn:oasis:names:tc:opendocument:xmlns:${name}:1.0`,
  ]),
  ['draw', 'urn:oasis:names:tc:opendocument:xmlns:drawing:1.0'],
  ['fo', 'urn:oasis:names:tc:opendocument:xmlns:xsl-fo-compatible:1.0'],
  ['svg', 'urn:oasis:names:tc:opendocument:xmlns:svg-compatible:1.0'],
  ['of', 'urn:oasis:names:tc:opendocument:xmlns:of:1.2'],
  ['dc', 'http://purl.org/dc/elements/1.1/'],
]
  .map(([name, address]) => `xmlns:${name}="${address}"`)
  .join(' ');
