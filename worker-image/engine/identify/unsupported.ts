import { FORMATS, inputFormatsOf, KINDS } from '#crds/catalogue/formats.ts';
import { MediaError } from '#crds/contract/media-error.ts';

/** Returns the refusal of a file of a known type that is not handled; `looksLike` is such as `an SVG drawing`. */
export function unsupported(looksLike: string): MediaError {
  return new MediaError('unsupported_input', `The file looks like ${looksLike}, which is not handled. ${HANDLED}`);
}

/** Returns the refusal of a file of unknown type. */
export function unidentified(): MediaError {
  return new MediaError('unsupported_input', `The type of the file could not be identified. ${HANDLED}`);
}

const HANDLED = `Handled are ${KINDS.map((kind) => {
  const formats = inputFormatsOf(kind).map((format) => FORMATS[format].extensions[0]);
  return kind === 'pdf' ? 'pdf' : `${kind} (${formats.join(', ')})`;
}).join(', ')}.`;
