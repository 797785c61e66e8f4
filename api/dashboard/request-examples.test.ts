import { execFileSync } from 'node:child_process';
import ts from 'typescript';
import { describe, expect, it } from 'vitest';
import { isDirect, requestExamples } from '#api/dashboard/request-examples.ts';

const examplesOf = (filename: string) =>
  requestExamples({
    baseUrl: 'https://media.example.com',
    operation: 'strip_metadata',
    filename,
    options: new Map([['image.quality', 60]]),
    nested: { image: { quality: 60 } },
  });

describe.each(["it's $(a) photo.jpg", `a "film".mp4`])('the requests for %j', (filename) => {
  const examples = examplesOf(filename);
  const codeOf = (language: string) => examples.find((one) => one.language === language)?.code ?? '';

  it('are in three languages, each valid', () => {
    execFileSync('bash', ['-n'], { input: codeOf('curl') });
    const { diagnostics } = ts.transpileModule(codeOf('TypeScript'), { reportDiagnostics: true });
    expect(diagnostics).toEqual([]);
    execFileSync('python3', ['-c', 'import ast, sys; ast.parse(sys.stdin.read())'], { input: codeOf('Python') });
  });

  it('name the file as it is', () => {
    const shown = execFileSync('bash', [
      '-c',
      `curl() { printf '%s\\n' "$@"; }; jq() { :; }; stat() { :; }\n${codeOf('curl')}`,
    ]);
    expect(shown.toString()).toContain(isDirect(filename) ? `@${filename}` : filename);
  });
});

describe('a file', () => {
  it.each([
    ['photo.jpg', true],
    ['film.mp4', false],
    ['letter.docx', false],
    ['unknown', true],
  ])('named %s is sent directly: %s', (filename, direct) => {
    expect(isDirect(filename)).toBe(direct);
    expect(examplesOf(filename)[0]?.code).toContain(direct ? '/v1/strip-metadata?' : '/v1/jobs');
  });
});
