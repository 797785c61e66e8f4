import { FORMATS, inputFormatsOf, KINDS } from '#crds/formats.ts';
import { MediaError } from '#crds/media-error.ts';

/** The refusal of a file whose type is not handled: what it looks like, and what is handled. `looksLike` reads "an SVG drawing". */
export function unsupported(looksLike: string): MediaError {
  return new MediaError('unsupported_input', `The file looks like ${looksLike}, which is not handled. ${HANDLED}`);
}

/** The refusal of a file that nothing is known of. */
export function unidentified(): MediaError {
  return new MediaError('unsupported_input', `The type of the file could not be identified. ${HANDLED}`);
}

const HANDLED = `Handled are ${KINDS.map((kind) => {
  const formats = inputFormatsOf(kind).map((format) => FORMATS[format].extensions[0]);
  return kind === 'pdf' ? 'pdf' : `${kind} (${formats.join(', ')})`;
}).join(', ')}.`;
