/** Hostile presentations. */
import { contentTypes, RELATIONSHIPS, relationships, root, WORDS, type Link } from '#test/hostile/forge-office.ts';
import { zip } from '#test/hostile/forge-zip.ts';
import type { HostileFile } from '#test/hostile/hostile-file.ts';

const TO_PDF = { operation: 'convert', options: { convert: { to: 'pdf' } } } as const;

export const HOSTILE_PRESENTATIONS: readonly HostileFile[] = [
  {
    name: 'a PPTX with linked images, audio, video and objects',
    filename: 'a.pptx',
    bytes: (bait) =>
      pptx(
        [
          picture('rIdHttp', ''),
          picture('rIdFile', ''),
          picture('rIdHttp', '<a:videoFile r:link="rIdFilm"/>'),
          picture('rIdHttp', '<a:audioFile r:link="rIdSound"/>'),
          object(
            '<p:oleObj name="x" r:id="rIdOle" imgW="900" imgH="900" progId="Word.Document.8"><p:link updateAutomatic="1"/></p:oleObj>',
          ),
          words('<a:hlinkClick r:id="rIdPage"><a:snd r:embed="rIdSound" name="x"/></a:hlinkClick>'),
        ].join(''),
        [
          { id: 'rIdHttp', type: 'image', target: bait.url('pptx-image.png') },
          { id: 'rIdFile', type: 'image', target: bait.fileUrl },
          { id: 'rIdFilm', type: 'video', target: bait.url('pptx-film.mp4') },
          { id: 'rIdSound', type: 'audio', target: bait.url('pptx-sound.wav') },
          { id: 'rIdOle', type: 'oleObject', target: bait.fileUrl },
          { id: 'rIdPage', type: 'hyperlink', target: bait.url('pptx-page.html') },
          { id: 'rIdLayout', type: 'slideLayout', target: bait.url('pptx-layout.xml') },
        ],
      ),
    ...TO_PDF,
    ends: ['done'],
  },
  {
    name: 'a PPTX with a table of 250,000 cells',
    filename: 'a.pptx',
    bytes: () => pptx(table(500, 500)),
    ...TO_PDF,
    ends: ['limit_exceeded'],
    says: /a table of more than 10000 cells/,
  },
];

const XML = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>';
const SPACES = `xmlns:p="http://schemas.openxmlformats.org/presentationml/2006/main" xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main" xmlns:r="${RELATIONSHIPS}"`;
const TYPE = 'application/vnd.openxmlformats-officedocument.presentationml';
const GROUP = '<p:nvGrpSpPr><p:cNvPr id="1" name="g"/><p:cNvGrpSpPr/><p:nvPr/></p:nvGrpSpPr><p:grpSpPr/>';
const POSITION = '<a:off x="0" y="0"/><a:ext cx="900000" cy="900000"/>';

/** Returns a presentation of one slide with the given shapes. */
function pptx(shapes: string, links: readonly Link[] = []): Buffer {
  return zip([
    contentTypes([
      ['/ppt/presentation.xml', `${TYPE}.presentation.main+xml`],
      ['/ppt/slides/slide1.xml', `${TYPE}.slide+xml`],
    ]),
    root('ppt/presentation.xml'),
    {
      name: 'ppt/presentation.xml',
      data: `${XML}<p:presentation ${SPACES}><p:sldIdLst><p:sldId id="256" r:id="rId1"/></p:sldIdLst><p:sldSz cx="9144000" cy="6858000"/></p:presentation>`,
    },
    {
      name: 'ppt/_rels/presentation.xml.rels',
      data: relationships([{ id: 'rId1', type: 'slide', target: 'slides/slide1.xml' }], []),
    },
    {
      name: 'ppt/slides/slide1.xml',
      data: `${XML}<p:sld ${SPACES}><p:cSld><p:spTree>${GROUP}${words('')}${shapes}</p:spTree></p:cSld></p:sld>`,
    },
    { name: 'ppt/slides/_rels/slide1.xml.rels', data: relationships([], links) },
  ]);
}

/** Returns a text shape. @param run XML of the run properties. */
function words(run: string): string {
  return `<p:sp><p:nvSpPr><p:cNvPr id="2" name="t"/><p:cNvSpPr/><p:nvPr/></p:nvSpPr><p:spPr><a:xfrm>${POSITION}</a:xfrm><a:prstGeom prst="rect"/></p:spPr><p:txBody><a:bodyPr/><a:p><a:r><a:rPr>${run}</a:rPr><a:t>${WORDS}</a:t></a:r></a:p></p:txBody></p:sp>`;
}

/** Returns an image shape. @param media XML of the video or audio that it represents. */
function picture(id: string, media: string): string {
  return `<p:pic><p:nvPicPr><p:cNvPr id="3" name="p"/><p:cNvPicPr/><p:nvPr>${media}</p:nvPr></p:nvPicPr><p:blipFill><a:blip r:link="${id}"/><a:stretch/></p:blipFill><p:spPr><a:xfrm>${POSITION}</a:xfrm><a:prstGeom prst="rect"/></p:spPr></p:pic>`;
}

function object(content: string): string {
  return `<p:graphicFrame><p:nvGraphicFramePr><p:cNvPr id="4" name="f"/><p:cNvGraphicFramePr/><p:nvPr/></p:nvGraphicFramePr><p:xfrm>${POSITION}</p:xfrm><a:graphic><a:graphicData uri="http://schemas.openxmlformats.org/presentationml/2006/ole">${content}</a:graphicData></a:graphic></p:graphicFrame>`;
}

function table(rows: number, columns: number): string {
  const cell = '<a:tc><a:txBody><a:bodyPr/><a:p><a:r><a:t>x</a:t></a:r></a:p></a:txBody><a:tcPr/></a:tc>';
  const grid = `<a:tblGrid>${'<a:gridCol w="90000"/>'.repeat(columns)}</a:tblGrid>`;
  const lines = `<a:tr h="90000">${cell.repeat(columns)}</a:tr>`.repeat(rows);
  return `<p:graphicFrame><p:nvGraphicFramePr><p:cNvPr id="5" name="t"/><p:cNvGraphicFramePr/><p:nvPr/></p:nvGraphicFramePr><p:xfrm>${POSITION}</p:xfrm><a:graphic><a:graphicData uri="http://schemas.openxmlformats.org/drawingml/2006/table"><a:tbl><a:tblPr/>${grid}${lines}</a:tbl></a:graphicData></a:graphic></p:graphicFrame>`;
}
