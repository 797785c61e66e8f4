/** Returns the words that the bytes contain, in UTF-8 or UTF-16. */
export function wordsIn(bytes: Buffer, words: readonly string[]): string[] {
  return words.filter((word) => bytes.includes(word) || bytes.includes(Buffer.from(word, 'utf16le')));
}
