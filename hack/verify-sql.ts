/** Checks that only `*-rows.ts` and `api/store/` contain SQL, and that time is a parameter there. */
import { globSync, readFileSync } from 'node:fs';
import ts from 'typescript';

const STATEMENT =
  /\b(select\s[\s\S]*\sfrom\s|insert\s+into\s|update\s+[a-z_]+\s+set\s|delete\s+from\s|(create|alter|drop)\s+(table|index|database)\s)/i;
const CLOCK =
  /\b(now|clock_timestamp|transaction_timestamp|statement_timestamp)\s*\(\)|\bcurrent_(timestamp|date|time)\b/i;
const SQL_FILES = /^api\/(store\/.+|.+-rows)\.ts$/;

const files = globSync('{api,controller,crds,worker-image}/**/*.ts').filter((file) => !file.endsWith('.test.ts'));
if (!files.some((file) => SQL_FILES.test(file))) throw new Error('no SQL file was found: the folders have moved');
const problems = files.flatMap((file) => problemsOf(file));
for (const problem of problems) process.stderr.write(`${problem}\n`);
process.stdout.write(`sql: ${files.length} files, ${problems.length} problems\n`);
process.exitCode = problems.length === 0 ? 0 : 1;

function problemsOf(file: string): string[] {
  const source = ts.createSourceFile(file, readFileSync(file, 'utf8'), ts.ScriptTarget.Latest);
  const mayHoldSql = SQL_FILES.test(file);
  return textsOf(source).flatMap(({ text, line }) => {
    if (mayHoldSql)
      return CLOCK.test(text) ? [`${file}:${line}: SQL takes the time as a parameter, not from the server`] : [];
    return STATEMENT.test(text) ? [`${file}:${line}: SQL belongs into a *-rows.ts file`] : [];
  });
}

function textsOf(source: ts.SourceFile): { text: string; line: number }[] {
  const found: { text: string; line: number }[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isStringLiteral(node) || ts.isTemplateLiteral(node)) {
      const line = source.getLineAndCharacterOfPosition(node.getStart(source)).line + 1;
      found.push({ text: node.getText(source), line });
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  return found;
}
