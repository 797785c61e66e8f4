/** Converts word-processing documents, spreadsheets and presentations with LibreOffice. */
import { open, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { extensionOf, type Format } from '#crds/catalogue/formats.ts';
import { MediaError } from '#crds/contract/media-error.ts';
import type { EngineDeps, KindHandler, Produced, Work } from '#worker-image/engine/handler.ts';
import { withFileReader } from '#worker-image/engine/containers/file-reader.ts';
import { isEncryptedWorkbook } from '#worker-image/engine/containers/xls-encryption.ts';
import { embedImages } from '#worker-image/engine/office/embed-images.ts';
import { documentName } from '#worker-image/engine/office/document-name.ts';
import { hiddenSheetsWarnings } from '#worker-image/engine/office/hidden-sheets-warning.ts';
import { hiddenSlidesWarnings } from '#worker-image/engine/office/hidden-slides-warning.ts';
import { linkedImagesWarnings } from '#worker-image/engine/office/linked-images-warning.ts';
import { omittedSheetsWarnings } from '#worker-image/engine/office/omitted-sheets-warning.ts';
import { exportFilter, importFilter, type OfficeKind } from '#worker-image/engine/office/office-filters.ts';
import { refuseOversizedLayout } from '#worker-image/engine/office/refuse-oversized-layout.ts';
import { refuseHostileRtf } from '#worker-image/engine/office/refuse-hostile-rtf.ts';
import { refuseRepeatedText } from '#worker-image/engine/office/refuse-repeated-text.ts';
import { refuseAltChunks } from '#worker-image/engine/office/refuse-alt-chunks.ts';
import { runLibreOffice } from '#worker-image/engine/office/run-libreoffice.ts';
import { startOffice } from '#worker-image/engine/office/start-office.ts';
import { copyWithoutLinks } from '#worker-image/engine/office/copy-without-links.ts';
import { verifyDocument } from '#worker-image/engine/office/verify-document.ts';
import { readText } from '#worker-image/engine/containers/read-text.ts';
import { passwordRequired } from '#worker-image/engine/password-required.ts';
import { unsupportedTarget } from '#crds/contract/work-rules.ts';

export const wordHandler: KindHandler = makeOfficeHandler('word');
export const sheetHandler: KindHandler = makeOfficeHandler('sheet');
export const presentationHandler: KindHandler = makeOfficeHandler('presentation');

function makeOfficeHandler(kind: OfficeKind): KindHandler {
  return {
    prepare: ({ run, folder }) => startOffice(run, { folder, kind }),
    inspect: () => Promise.resolve({}),
    convert: (deps, work) => convert(deps, work, kind),
    verify: (deps, work, _input, produced) => verifyDocument(deps, work.directory, produced),
  };
}

async function convert(deps: EngineDeps, work: Work, kind: OfficeKind): Promise<Produced> {
  const { to } = work.options.convert;
  const { path, format } = work.input;
  const filter = to === null ? null : exportFilter(kind, to);
  if (to === null || filter === null) throw unsupportedTarget(kind, to);
  await refuseOversizedLayout(deps.signal, { path, format });
  await refuseRepeatedText(deps.signal, { path, format });
  await refuseAltChunks(path, format);
  const warnings: string[] = [];
  const output = await runLibreOffice(deps, {
    kind,
    path: await prepareInput(work, deps.signal, warnings),
    name: documentName(work.filename),
    extension: extensionOf(format),
    importFilter: importFilter(format),
    target: extensionOf(to),
    exportFilter: filter,
    directory: work.directory,
  });
  if (output === null) throw await notOpenedError(work);
  if (to === 'html') await embedImages(output);
  for (const warningsFor of OMISSION_WARNINGS[to] ?? []) warnings.push(...(await warningsFor(path, format)));
  return { path: output.path, format: to, facts: {}, warnings };
}

type OmissionWarnings = (path: string, format: Format) => Promise<string[]>;

/** Functions that return the warnings for what a target omits. */
const OMISSION_WARNINGS: Readonly<Partial<Record<Format, readonly OmissionWarnings[]>>> = {
  csv: [omittedSheetsWarnings],
  html: [hiddenSheetsWarnings, linkedImagesWarnings],
  pdf: [hiddenSheetsWarnings, hiddenSlidesWarnings, linkedImagesWarnings],
};

/**
 * Returns the path that LibreOffice opens: plain text as UTF-8, which its filter expects, other documents without links
 * to other files. Adds to the warnings.
 */
async function prepareInput({ input, directory }: Work, signal: AbortSignal, warnings: string[]): Promise<string> {
  if (input.format === 'rtf') await refuseHostileRtf(input, signal);
  if (input.format !== 'txt') return copyWithoutLinks({ path: input.path, format: input.format, directory });
  const path = join(directory, 'utf-8.txt');
  await using file = await open(path, 'w');
  await writeFile(file, readText(input.path, { warn: (warning) => warnings.push(warning) }));
  return path;
}

/** Returns the error for a document that LibreOffice did not open. Only some locked xls files get here: others are refused earlier. */
async function notOpenedError({ input }: Work): Promise<MediaError> {
  const isLocked = input.format === 'xls' && (await withFileReader(input.path, isEncryptedWorkbook));
  if (isLocked) return passwordRequired();
  return new MediaError(
    'processing_failed',
    `The ${input.format} file could not be opened: it is damaged or not complete. Check that it opens elsewhere.`,
  );
}
