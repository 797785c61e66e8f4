import { parse as parseDisposition } from 'content-disposition';

const MAX_CHARACTERS = 255;

/**
 * The name of a fetched file: from Content-Disposition, else the last component of the URL's path; null
 * when both are empty. Only the last path component counts and control characters go: it is a label, never a path.
 */
export function filenameOfAnswer(disposition: string | null, url: string): string | null {
  return clean(nameOfDisposition(disposition)) ?? clean(nameOfPath(url));
}

function nameOfDisposition(header: string | null): string {
  if (header === null) return '';
  try {
    return parseDisposition(header).parameters['filename'] ?? '';
  } catch {
    // A header that nobody can read names nothing.
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
