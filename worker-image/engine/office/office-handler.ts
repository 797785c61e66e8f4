/** Word-processing documents, spreadsheets and presentations: converted by LibreOffice. Spec: POST /v1/convert. */
import { open, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { CONVERT_TARGETS, extensionOf } from '#crds/formats.ts';
import { MediaError } from '#crds/media-error.ts';
import { NO_FACTS, type EngineDeps, type KindHandler, type Produced, type Work } from '#worker-image/engine/handler.ts';
import { isLockedWorkbook, passwordNeeded } from '#worker-image/engine/identify/ole2.ts';
import { withSniffedFile } from '#worker-image/engine/identify/sniffed-file.ts';
import { embedPictures } from '#worker-image/engine/office/embed-pictures.ts';
import { leftOutSheets } from '#worker-image/engine/office/left-out-sheets.ts';
import { exportFilter, importFilter, type OfficeKind } from '#worker-image/engine/office/office-filters.ts';
import { refuseEndlessLayout } from '#worker-image/engine/office/refuse-endless-layout.ts';
import { refuseEndlessRtf } from '#worker-image/engine/office/refuse-endless-rtf.ts';
import { refuseForeignChunks } from '#worker-image/engine/office/refuse-foreign-chunks.ts';
import { runLibreOffice } from '#worker-image/engine/office/run-libreoffice.ts';
import { unlinkedDocument } from '#worker-image/engine/office/unlinked-document.ts';
import { verifyDocument } from '#worker-image/engine/office/verify-document.ts';
import { readText } from '#worker-image/engine/table/read-text.ts';
import { unsupportedTarget } from '#worker-image/engine/unsupported-target.ts';

export const wordHandler: KindHandler = handlerOf('word');
export const sheetHandler: KindHandler = handlerOf('sheet');
export const presentationHandler: KindHandler = handlerOf('presentation');

function handlerOf(kind: OfficeKind): KindHandler {
  return {
    inspect: () => Promise.resolve(NO_FACTS),
    convert: (deps, work) => convert(deps, work, kind),
    verify: (deps, work, _input, produced) => verifyDocument(deps, work.directory, produced),
  };
}

async function convert(deps: EngineDeps, work: Work, kind: OfficeKind): Promise<Produced> {
  const { to } = work.options.convert;
  const { path, format } = work.input;
  const filter = to === null ? null : exportFilter(kind, to);
  if (to === null || filter === null) throw unsupportedTarget(`A ${kind} document`, to, CONVERT_TARGETS[kind]);
  await refuseEndlessLayout(deps.signal, { path, format });
  await refuseForeignChunks(path, format);
  const warnings: string[] = [];
  const output = await runLibreOffice(deps, {
    path: await openable(work, deps.signal, warnings),
    extension: extensionOf(format),
    importFilter: importFilter(format),
    target: extensionOf(to),
    exportFilter: filter,
    directory: work.directory,
  });
  if (output === null) throw await notOpened(work);
  if (to === 'html') await embedPictures(output);
  if (to === 'csv') warnings.push(...(await leftOutSheets(path, format)));
  return { path: output.path, format: to, facts: NO_FACTS, warnings };
}

/**
 * Plain text is given to LibreOffice in the one encoding that its filter is told, OpenDocument without links to other
 * files. Adds to the warnings.
 */
async function openable({ input, directory }: Work, signal: AbortSignal, warnings: string[]): Promise<string> {
  if (input.format === 'rtf') await refuseEndlessRtf(input, signal);
  if (input.format !== 'txt') return unlinkedDocument({ path: input.path, format: input.format, directory });
  const path = join(directory, 'utf-8.txt');
  await using file = await open(path, 'w');
  await writeFile(file, readText(input.path, { warn: (warning) => warnings.push(warning) }));
  return path;
}

/** Documents that need a password are refused before, but for old workbooks, of which some open without. */
async function notOpened({ input }: Work): Promise<MediaError> {
  const isLocked =
    input.format === 'xls' && (await withSniffedFile({ path: input.path, filename: null }, isLockedWorkbook));
  if (isLocked) return passwordNeeded();
  return new MediaError(
    'processing_failed',
    `The ${input.format} file could not be opened: it is damaged or not complete. Check that it opens elsewhere.`,
  );
}
