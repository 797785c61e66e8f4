import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { changelogSection } from './changelog-section.ts';

const TEXT = `# Changelog

## Unreleased

- new

## [0.1.10] - 2026-12-01

### Added

- ten

## 0.1.1

- one
`;

describe('the section of a version in the changelog', () => {
  it.each([
    ['0.1.10', '## [0.1.10] - 2026-12-01\n\n### Added\n\n- ten\n'],
    ['0.1.1', '## 0.1.1\n\n- one\n'],
    ['0.1', '## Unreleased\n\n- new\n'],
  ])('is that of %s alone', (version, expected) => {
    expect(changelogSection(TEXT, version)).toBe(expected);
  });

  it('is refused when there is none', () => {
    expect(() => changelogSection('# Changelog\n\n## 1.0.0\n', '1.0.1')).toThrow('no section 1.0.1');
  });

  it('is there for the version of this checkout', () => {
    const { version } = JSON.parse(readFileSync('package.json', 'utf8'));
    expect(changelogSection(readFileSync('CHANGELOG.md', 'utf8'), version)).toContain('\n### Added\n');
  });
});
