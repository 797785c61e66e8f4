import { parse as parseDisposition } from 'content-disposition';

const MAX_CHARACTERS = 255;

/**
 * Returns the name of a fetched file: that of Content-Disposition, otherwise the last component of the URL's path; null
 * when both are empty. It is a label, never a path: only the last component is used, without control characters.
 */
export function responseFilename(disposition: string | null, url: string): string | null {
  return clean(nameOfDisposition(disposition)) ?? clean(nameOfPath(url));
}

function nameOfDisposition(header: string | null): string {
  if (header === null) return '';
  try {
    return parseDisposition(header).parameters['filename'] ?? '';
  } catch {
    // A malformed header counts as absent.
    return '';
  }
}

function nameOfPath(url: string): string {
  const component = new URL(url).pathname.split('/').at(-1) ?? '';
  try {
    return decodeURIComponent(component);
  } catch {
    return component;
  }
}

function clean(name: string): string | null {
  const last = name.split(/[/\\]/).at(-1) ?? '';
  const printable = last.replace(/\p{Cc}/gu, '').trim();
  return printable === '' ? null : printable.slice(-MAX_CHARACTERS).toWellFormed();
}
