/** A comment without an end continues to the end of the page. */
const COMMENT = /<!--[\s\S]*?(?:-->|$)/g;
/** `<meta charset>`, and the older form with `charset` in `content`. */
const META = /<meta\b[^>]{0,500}\bcharset\s*=\s*(?:["']\s*)?([\w.:-]{1,40})/i;

/**
 * Returns the encoding that a page declares, as a `TextDecoder` label, or null when it declares no known one.
 * A page whose `<meta>` is readable as ASCII is not in UTF-16, whatever it declares. Source: HTML standard, 13.2.3.2.
 */
export function htmlCharset(head: Buffer): string | null {
  const label = META.exec(head.toString('latin1').replaceAll(COMMENT, ''))?.[1];
  if (label === undefined) return null;
  try {
    const { encoding } = new TextDecoder(label);
    return encoding.startsWith('utf-16') ? 'utf-8' : encoding;
  } catch {
    return null;
  }
}
