/**
 * Body of a direct request: the file itself, or `multipart/form-data` with a part `file` and an optional part
 * `options`. The file is a stream in both forms. Options and file name of a multipart body are known when it has
 * ended (docs/reference/direct.md#request-body).
 */
import { isUtf8 } from 'node:buffer';
import { PassThrough } from 'node:stream';
import { MIMEType } from 'node:util';
import { Busboy } from '@fastify/busboy';
import { parse as parseDisposition } from 'content-disposition';
import { missingFile, type DirectBody } from '#api/direct/process-direct.ts';
import { PART_HEADER_BYTES, watchPartHeaders } from '#api/http/part-headers.ts';
import type { ApiRequest } from '#api/http/endpoint.ts';
import { withMinimumPace } from '#api/http/body-pace.ts';
import { lastComponent } from '#api/uploads/upload.ts';
import { MediaError } from '#crds/contract/media-error.ts';
import { LIMITS } from '#crds/catalogue/plans.ts';

type MultipartParser = InstanceType<typeof Busboy>;

const MULTIPART_PARTS = 20;

/** Starts to read a body. @throws MediaError missing_file, bad_request; later ones are errors of the file's stream. */
export function readFileBody(request: Pick<ApiRequest, 'body' | 'headers' | 'contentLength'>): DirectBody {
  if (request.contentLength === 0) throw missingFile();
  if (isMultipart(request)) return multipartBody(request, request.headers['content-type'] ?? '');
  const filename = sentName(request);
  return { file: withMinimumPace(request.body), fields: () => ({ filename, options: undefined }) };
}

/** Returns whether the content type is multipart/form-data. A body of any other type is the file itself. */
export function isMultipart({ headers }: Pick<ApiRequest, 'headers'>): boolean {
  return /^multipart\/form-data\s*(;|$)/i.test((headers['content-type'] ?? '').trim());
}

function multipartBody({ body }: Pick<ApiRequest, 'body'>, contentType: string): DirectBody {
  const file = new PassThrough();
  const fail = (error: Error): void => {
    file.destroy(error);
    body.resume();
  };
  const { parser, isWithinLimit } = makeReaders(contentType);
  const seen = {
    file: false,
    filename: null as string | null,
    options: undefined as unknown,
    problem: null as MediaError | null,
  };
  const fields = new Set<string>();
  parser.on('file', (name, stream, filename) => {
    if (seen.file) {
      stream.resume();
      seen.problem ??= repeatedPart(name);
      return;
    }
    seen.file = true;
    seen.filename = lastComponent(filename);
    stream.on('error', (error: Error) => fail(unparseable(error)));
    stream.pipe(file, { end: false });
    stream.once('end', () => endIfDone());
  });
  parser.on('field', (name, value, _nameTruncated, valueTruncated) => {
    if (fields.has(name)) seen.problem ??= repeatedPart(name);
    fields.add(name);
    if (name === 'options') seen.options = parseOptions(value, valueTruncated, fail);
    else seen.problem ??= unknownPart(name);
  });
  let parsed = false;
  let ended = false;
  const endIfDone = (): void => {
    ended = true;
    if (parsed) file.end();
  };
  parser.once('partsLimit', () =>
    fail(new MediaError('bad_request', `The multipart body has more than ${MULTIPART_PARTS} parts.`)),
  );
  parser.on('error', (error) => fail(unparseable(error)));
  parser.once('finish', () => {
    parsed = true;
    if (!seen.file) fail(missingFile());
    else if (seen.problem !== null) fail(seen.problem);
    else if (ended) file.end();
  });
  const paced = withMinimumPace(body);
  paced.once('error', fail);
  paced.on('data', (chunk: Buffer) => {
    if (!isWithinLimit(chunk)) fail(longHeaders());
  });
  paced.pipe(parser);
  file.once('close', () => paced.unpipe(parser));
  return { file, fields: () => ({ filename: seen.filename, options: seen.options }) };
}

function makeReaders(contentType: string): { parser: MultipartParser; isWithinLimit: (chunk: Buffer) => boolean } {
  try {
    const boundary = new MIMEType(contentType).params.get('boundary') ?? '';
    return { parser: makeParser(contentType), isWithinLimit: watchPartHeaders(boundary) };
  } catch (error) {
    throw unparseable(error);
  }
}

function makeParser(contentType: string): MultipartParser {
  return new Busboy({
    isPartAFile: (name) => name === 'file',
    headers: { 'content-type': contentType },
    limits: { parts: MULTIPART_PARTS, fieldSize: LIMITS.jsonBodyBytes, headerPairs: 100, fieldNameSize: 200 },
  });
}

function parseOptions(text: string, truncated: boolean, fail: (error: Error) => void): unknown {
  if (truncated) {
    fail(
      new MediaError('invalid_options', `The part \`options\` is over ${LIMITS.jsonBodyBytes} bytes.`, {
        param: 'options',
      }),
    );
    return undefined;
  }
  try {
    return JSON.parse(text);
  } catch (error) {
    fail(
      new MediaError('invalid_options', 'The part `options` is not valid JSON.', { param: 'options', cause: error }),
    );
    return undefined;
  }
}

function repeatedPart(name: string): MediaError {
  return new MediaError('bad_request', `The form has more than one part \`${name}\`; send one.`, { param: name });
}

function unknownPart(name: string): MediaError {
  const message = `There is no part \`${name}\`; a form has the parts \`file\` and \`options\`.`;
  return new MediaError('bad_request', message, { param: name });
}

function unparseable(error: unknown): MediaError {
  return new MediaError(
    'bad_request',
    'The multipart body cannot be parsed; check its boundary and that it is complete.',
    { cause: error },
  );
}

function longHeaders(): MediaError {
  return new MediaError(
    'bad_request',
    `The headers of a part of the multipart body are over ${PART_HEADER_BYTES} bytes; send a name and a content type only.`,
  );
}

/** Returns the file name of the `Content-Disposition` header; null for multipart, an absent or a malformed header. */
export function sentName(request: Pick<ApiRequest, 'headers'>): string | null {
  const header = request.headers['content-disposition'];
  if (header === undefined || isMultipart(request)) return null;
  try {
    const name = parseDisposition(header).parameters['filename'];
    return lastComponent(typeof name === 'string' ? utf8Of(name) : null);
  } catch {
    return null;
  }
}

/** Returns the name decoded as UTF-8 if it is valid: Node decodes headers as Latin-1, most clients send UTF-8. */
function utf8Of(name: string): string {
  const bytes = Buffer.from(name, 'latin1');
  const isLatin1 = bytes.toString('latin1') === name;
  return isLatin1 && isUtf8(bytes) ? bytes.toString('utf8') : name;
}
