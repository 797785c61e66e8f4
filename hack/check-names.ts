/** Rules for identifiers, type names and docstrings of one source file. */
import ts from 'typescript';

export interface NameFindings {
  readonly problems: string[];
  /** Names of exported interfaces, type aliases and classes. */
  readonly exportedTypes: string[];
}

/** Parts of identifiers that the glossary of CONTRIBUTING.md replaces, with the terms to use instead. */
const BANNED_PARTS = new Map([
  ['answer', 'response, outcome'],
  ['asked', 'request, requested'],
  ['away', 'missing, absent'],
  ['calm', 'normal'],
  ['crowd', 'overload, admission control'],
  ['crowded', 'overloaded'],
  ['deaf', 'lost, unresponsive'],
  ['door', 'admission control'],
  ['film', 'video'],
  ['films', 'videos'],
  ['gave', 'returned'],
  ['gives', 'returns'],
  ['gone', 'missing, lost, deleted'],
  ['his', 'its, tenant'],
  ['leave', 'permit, slot'],
  ['likeness', 'similarity'],
  ['neighbours', 'adjacent pixels, tenants'],
  ['passage', 'request, response, transfer'],
  ['place', 'slot, permit, position'],
  ['places', 'slots, permits, positions'],
  ['reign', 'lease, leadership'],
  ['tells', 'returns, reports'],
  ['told', 'warned, reported'],
  ['turn', 'iteration, poll, rotation'],
  ['turned', 'rotated'],
  ['turns', 'iterations, rotations'],
  ['wall', 'sandbox, isolation'],
  ['walls', 'sandbox, isolation'],
  ['whose', 'tenant, owner'],
]);
/** Identifiers with a banned part in its usual sense. */
const USUAL_NAMES = /inPlace|decimalPlaces|leaveWithout/i;
/** Type names that say nothing about what they hold. */
const VAGUE_TYPES = new Set(['Asked', 'Box', 'Check', 'Exchange', 'Look', 'Passage', 'Step', 'Told']);
const DECLARATIONS: readonly ((node: ts.Node) => boolean)[] = [
  isTypeDeclaration,
  ts.isFunctionLike,
  ts.isVariableDeclaration,
  ts.isParameter,
  ts.isPropertySignature,
  ts.isPropertyDeclaration,
  ts.isPropertyAssignment,
];
/** Words in `-s` that begin docstrings and are no verbs, and verbs that the glossary replaces. */
const NOT_VERBS = new Set(
  `Always As Bits Bytes Cells Days Deliveries Does Files Frames Gives Images Is Its Jobs Keys Kinds Lets Links MediaJobs
  Members Meters Options Paths Pictures Problems Rows Samples Says Seconds Separators Settings Sizes Statuses Streams
  Tables Tells This Values Versions Warnings Was Windows`.split(/\s+/),
);

/** Returns the problems of a file's names and docstrings, and the types that it exports. */
export function checkNames(file: string, text: string): NameFindings {
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true);
  const findings: NameFindings = { problems: [], exportedTypes: [] };
  const visit = (node: ts.Node): void => {
    const found = [...identifierProblems(node), ...docstringProblems(node)];
    const { line } = source.getLineAndCharacterOfPosition(node.getStart(source));
    findings.problems.push(...found.map((problem) => `${file}:${line + 1}: ${problem}`));
    if (isTypeDeclaration(node) && node.name !== undefined && isExported(node))
      findings.exportedTypes.push(node.name.text);
    ts.forEachChild(node, visit);
  };
  visit(source);
  return findings;
}

/** Returns a problem for each banned part of a file's name. */
export function checkFileName(name: string): string[] {
  return bannedParts(name.split('-'), name);
}

/** Returns the type names that several files export, with those files. */
export function repeatedTypes(types: ReadonlyMap<string, readonly string[]>): string[] {
  return [...types].filter(([, files]) => files.length > 1).map(([name, files]) => `${name}: ${files.join(', ')}`);
}

function identifierProblems(node: ts.Node): string[] {
  const name = declaredName(node);
  if (name === null || USUAL_NAMES.test(name)) return [];
  const parts = name.split(/(?<=[a-z0-9])(?=[A-Z])|_/).map((part) => part.toLowerCase());
  const vague =
    isTypeDeclaration(node) && VAGUE_TYPES.has(name) ? [`the type name ${name} does not say what it is`] : [];
  return [...vague, ...bannedParts(parts, name)];
}

function bannedParts(parts: readonly string[], name: string): string[] {
  return parts.flatMap((part) => {
    const instead = BANNED_PARTS.get(part);
    return instead === undefined ? [] : [`${name}: say ${instead} in place of "${part}"`];
  });
}

/** Returns the identifier that a node declares; null for uses, imports and quoted names. */
function declaredName(node: ts.Node): string | null {
  const name = DECLARATIONS.some((isDeclaration) => isDeclaration(node))
    ? (node as ts.NamedDeclaration).name
    : undefined;
  return name !== undefined && (ts.isIdentifier(name) || ts.isPrivateIdentifier(name))
    ? name.text.replace('#', '')
    : null;
}

function docstringProblems(node: ts.Node): string[] {
  const declaration = exportedFunction(node);
  if (declaration === null || !returnsSomething(declaration)) return [];
  const comment = ts.getJSDocCommentsAndTags(node).findLast((each) => ts.isJSDoc(each))?.comment;
  const text = ts.getTextOfJSDocComment(comment) ?? '';
  const first = /^\S*/.exec(text)?.[0] ?? '';
  if (first === '' || (/^[A-Z][A-Za-z-]*s$/.test(first) && !NOT_VERBS.has(first))) return [];
  return [`the docstring begins with "${first}": begin with a verb, such as "Returns"`];
}

/** Returns the function that a statement exports by a declaration or as a constant, else null. */
function exportedFunction(node: ts.Node): ts.SignatureDeclaration | null {
  if (ts.isFunctionDeclaration(node)) return isExported(node) ? node : null;
  if (!ts.isVariableStatement(node) || !isExported(node)) return null;
  const value = node.declarationList.declarations[0]?.initializer;
  return value !== undefined && ts.isArrowFunction(value) ? value : null;
}

function returnsSomething({ type }: ts.SignatureDeclaration): boolean {
  if (type === undefined) return false;
  return !/^(Promise<)?(void|never)>?$/.test(type.getText()) && !ts.isTypePredicateNode(type);
}

function isTypeDeclaration(
  node: ts.Node,
): node is ts.InterfaceDeclaration | ts.TypeAliasDeclaration | ts.ClassDeclaration {
  return ts.isInterfaceDeclaration(node) || ts.isTypeAliasDeclaration(node) || ts.isClassDeclaration(node);
}

function isExported(node: ts.Node): boolean {
  return (
    ts.canHaveModifiers(node) &&
    ts.getModifiers(node)?.some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword) === true
  );
}
