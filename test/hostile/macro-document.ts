/** OpenDocument text with a Basic macro that runs when the document is opened, if macros are allowed. */
import { odfXml, openDocument, WORDS } from '#test/hostile/forge-office.ts';

const CALL = 'vnd.sun.star.script:Standard.M.Main?language=Basic&amp;location=document';
const GRAMMAR = (root: string, name: string): string =>
  `<?xml version="1.0" encoding="UTF-8"?>\n<!DOCTYPE ${root} PUBLIC "-//OpenOffice.org//DTD OfficeDocument 1.0//EN" "${name}.dtd">\n`;

/** Returns a document with a macro that writes a file at the path, then exits LibreOffice. */
export function macroDocument(path: string): Buffer {
  const program = `Sub Main\nOpen "${path}" For Output As #1\nPrint #1, "ran"\nClose #1\nStarDesktop.terminate\nEnd Sub\n`;
  const listener = `<script:event-listener script:language="ooo:script" script:event-name="dom:load" xlink:href="${CALL}" xlink:type="simple"/>`;
  const content = odfXml({
    type: 'text',
    before: `<office:scripts><office:event-listeners>${listener}</office:event-listeners></office:scripts>`,
    body: `<text:p>${WORDS}</text:p>`,
  });
  return openDocument('text', content, [
    {
      name: 'Basic/script-lc.xml',
      data: `${GRAMMAR('library:libraries', 'libraries')}<library:libraries xmlns:library="http://openoffice.org/2000/library" xmlns:xlink="http://www.w3.org/1999/xlink"><library:library library:name="Standard" library:link="false"/></library:libraries>`,
    },
    {
      name: 'Basic/Standard/script-lb.xml',
      data: `${GRAMMAR('library:library', 'library')}<library:library xmlns:library="http://openoffice.org/2000/library" library:name="Standard" library:readonly="false" library:passwordprotected="false"><library:element library:name="M"/></library:library>`,
    },
    {
      name: 'Basic/Standard/M.xml',
      data: `${GRAMMAR('script:module', 'module')}<script:module xmlns:script="http://openoffice.org/2000/script" script:name="M" script:language="StarBasic">${program.replaceAll('"', '&quot;')}</script:module>`,
    },
  ]);
}
