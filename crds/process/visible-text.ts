/**
 * Escapes of invisible characters in untrusted text, such as file names: control characters (terminals execute them),
 * direction overrides (`gpj.exe` is displayed as `exe.jpg`) and characters without width. Each is replaced by its code,
 * `\u202e`, so that the text is complete and different names look different.
 *
 * Variation selectors are kept, and so are joiners inside words and emoji that need them.
 */
const HIDDEN = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}\p{Default_Ignorable_Code_Point}]/u;
/** ZERO WIDTH NON-JOINER and JOINER between letters of scripts that use them, or between emoji. */
const NEEDED_JOINER =
  /(?<=[\p{Script=Arabic}\p{Script=Syriac}\p{Script=Mongolian}\p{Script=Devanagari}\p{Script=Bengali}\p{Script=Gujarati}\p{Script=Gurmukhi}\p{Script=Kannada}\p{Script=Malayalam}\p{Script=Oriya}\p{Script=Sinhala}\p{Script=Tamil}\p{Script=Telugu}\p{Extended_Pictographic}\p{Emoji_Modifier}\ufe0f])[\u200c\u200d](?=[\p{L}\p{M}\p{Extended_Pictographic}])/u;
const VARIATION = /(?<=\S)[\ufe00-\ufe0f]/u;
const PARTS = new RegExp(`(${NEEDED_JOINER.source}|${VARIATION.source})|${HIDDEN.source}`, 'gu');

/** Returns the text on one line: replaces every hidden character, line breaks and tabs included, by its code. */
export function visibleLine(text: string): string {
  return text.replaceAll(PARTS, (character, kept?: string) => kept ?? codeOf(character));
}

/** Returns the text with every hidden character except line breaks and tabs replaced by its code. */
export function visibleText(text: string): string {
  return text.replaceAll(PARTS, (character, kept?: string) =>
    character === '\n' || character === '\t' ? character : (kept ?? codeOf(character)),
  );
}

/** Returns equivalent JSON with every hidden character except line breaks replaced by an escape. */
export function visibleJson(json: string): string {
  return json.replaceAll(PARTS, (character, kept?: string) =>
    character === '\n' ? character : (kept ?? codeOf(character)),
  );
}

/** Returns the JSON escapes of a character's UTF-16 code units. */
function codeOf(character: string): string {
  return character
    .split('')
    .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
    .join('');
}
