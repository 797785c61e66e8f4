/** Names of the LibreOffice filters that open each input format and write each target. */
import { CONVERT_TARGETS, type Format, type Kind } from '#crds/catalogue/formats.ts';

export type OfficeKind = Extract<Kind, 'word' | 'sheet' | 'presentation'>;

/**
 * Import filters, so that LibreOffice opens a file only as the type that it was identified as.
 * Old Word and Excel files have four versions with a filter each; only the detection of LibreOffice distinguishes them.
 */
const IMPORT_FILTERS: Readonly<Partial<Record<Format, string>>> = {
  docx: 'MS Word 2007 XML',
  docm: 'MS Word 2007 XML VBA',
  odt: 'writer8',
  fodt: 'OpenDocument Text Flat XML',
  rtf: 'Rich Text Format',
  txt: 'Text (encoded):UTF8',
  xlsx: 'Calc MS Excel 2007 XML',
  xlsm: 'Calc MS Excel 2007 VBA XML',
  ods: 'calc8',
  fods: 'OpenDocument Spreadsheet Flat XML',
  ppt: 'MS PowerPoint 97',
  pptx: 'Impress MS PowerPoint 2007 XML',
  pptm: 'Impress MS PowerPoint 2007 XML VBA',
  odp: 'impress8',
  fodp: 'OpenDocument Presentation Flat XML',
};

/** Comma, double quote, UTF-8 (76), from line 1, cells as shown; the first sheet only. */
const CSV = 'Text - txt - csv (StarCalc):44,34,76,1,,0,false,true,true';

const EXPORT_FILTERS: Readonly<Record<OfficeKind, Readonly<Partial<Record<Format, string>>>>> = {
  word: {
    pdf: 'writer_pdf_Export',
    docx: 'MS Word 2007 XML',
    odt: 'writer8',
    rtf: 'Rich Text Format',
    txt: 'Text (encoded):UTF8',
    html: 'HTML (StarWriter):EmbedImages',
  },
  sheet: { pdf: 'calc_pdf_Export', xlsx: 'Calc MS Excel 2007 XML', ods: 'calc8', csv: CSV, html: 'HTML (StarCalc)' },
  presentation: { pdf: 'impress_pdf_Export', pptx: 'Impress MS PowerPoint 2007 XML', odp: 'impress8' },
};

/** Returns the import filter; null when LibreOffice detects it. */
export function importFilter(format: Format): string | null {
  return IMPORT_FILTERS[format] ?? null;
}

/** Returns the export filter; null when the kind does not convert to the target. */
export function exportFilter(kind: OfficeKind, target: Format): string | null {
  return CONVERT_TARGETS[kind].includes(target) ? (EXPORT_FILTERS[kind][target] ?? null) : null;
}
