/**
 * Prints what CHANGELOG.md says about a version; before its section is there, what is not released yet.
 *   node hack/changelog-section.ts 0.1.0
 */
import { readFileSync } from 'node:fs';

const NOT_RELEASED = 'Unreleased';

/** Returns the section of the version, with its heading. @throws Error when there is none, and nothing unreleased. */
export function changelogSection(changelog: string, version: string): string {
  const sections = changelog.split(/^(?=## )/m).slice(1);
  // Headings such as: ## 0.1.0, or: ## [0.1.0] - 2026-11-23
  const about = (name: string): string | undefined =>
    sections.find((section) => /^## \[?([^\s\]]+)/.exec(section)?.[1] === name);
  const found = about(version) ?? about(NOT_RELEASED);
  if (found === undefined) throw new Error(`CHANGELOG.md has no section ${version}, and none that is ${NOT_RELEASED}`);
  return `${found.trimEnd()}\n`;
}

if (import.meta.main) {
  const [version] = process.argv.slice(2);
  if (version === undefined) throw new Error('hack/changelog-section.ts VERSION');
  process.stdout.write(changelogSection(readFileSync('CHANGELOG.md', 'utf8'), version));
}
