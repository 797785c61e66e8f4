/** Returns the anchor of a heading as on GitHub: lower case, words joined by hyphens. Error codes are unchanged. */
export function anchorOf(heading: string): string {
  return heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}_ -]/gu, '')
    .trim()
    .replaceAll(' ', '-');
}
