const COMMENT = /<!--[\s\S]*?-->/g;
/** `<meta charset>`, and the older form, which holds it in `content`. */
const META = /<meta\b[^>]{0,500}\bcharset\s*=\s*["']?\s*([\w.:-]{1,40})/i;

/**
 * The encoding that a page names for itself, as `TextDecoder` calls it; null when it names none that is known.
 * A page whose `<meta>` could be read is not in UTF-16, whatever it says. Source: HTML standard, 13.2.3.2.
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
