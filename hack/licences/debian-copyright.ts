/** Licences in Debian's `/usr/share/doc/PACKAGE/copyright`. */

const MACHINE_READABLE = /^Format(-Specification)?:.*(copyright-format|dep5|dep-5)/im;
/** Licences that free text names, by words of their text. */
const FAMILIES: readonly (readonly [string, RegExp])[] = [
  // The definition of "Secondary License" in MPL 2.0 names the Affero GPL, as do lists of compatible licences.
  ['AGPL', /under the terms of the GNU Affero|licensed under the (GNU )?A(ffero )?GPL/i],
  ['LGPL', /Lesser General Public|Library General Public|\bLGPL/i],
  ['GPL', /GNU General Public Licen[sc]e|\bGPL/],
  ['MPL', /Mozilla Public Licen[sc]e|\bMPL\b/],
  ['Apache', /Apache Licen[sc]e/i],
  ['BSD', /Redistribution and use in source and binary forms/i],
  ['MIT', /Permission is hereby granted, free of charge|MIT\/X|\bMIT licen[sc]e|Permission to use, copy, modify/i],
  ['Artistic', /Artistic License/i],
  ['Python', /PYTHON SOFTWARE FOUNDATION LICENSE/i],
  ['public domain', /public[ -]domain/i],
];

/** Returns the names of licences, sorted: those of its `License` fields, or of free text those that it mentions. */
export function licencesOfCopyright(text: string): string[] {
  const found = MACHINE_READABLE.test(text.slice(0, 3000))
    ? [...text.matchAll(/^License:[ \t]*(\S.*)$/gm)].map(([, name = '']) => name.trim())
    : [];
  if (found.length > 0) return [...new Set(found)].toSorted();
  return FAMILIES.flatMap(([name, pattern]) => (pattern.test(text.replaceAll(/\s+/g, ' ')) ? [`${name} (text)`] : []));
}
