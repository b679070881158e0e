import { parseAst } from 'rolldown/parseAst';
import { type Declaration, type Mutant, mutantOf } from './mutant.ts';
import { changes, isBoolean, type Node, replacements } from './operators.ts';

/** What is no code that runs, or says something to people. */
const LEFT_OUT = /^(TS(?!AsExpression|SatisfiesExpression|NonNullExpression)|Import|ExportAll|TaggedTemplate)/;
/** Fields that name something. */
const NAMES = new Set(['key', 'property', 'id', 'label', 'specifiers', 'source']);

const isNode = (value: unknown): value is Node =>
  typeof value === 'object' && value !== null && 'type' in value && 'start' in value;

const saysSomething = (it: Node, text: string): boolean =>
  (it.type === 'TemplateLiteral' && /\s/.test(text.replace(/\$\{[^}]*\}/g, ''))) ||
  (it.type === 'BinaryExpression' && it.operator === '+' && /^['`][^'`]*\s|\s[^'`]*['`]$/.test(text)) ||
  (it.type === 'ExpressionStatement' && /^console\./.test(text));

function nameOf(it: Node): string {
  const named = (of: unknown): string | undefined => (isNode(of) ? String(of.name ?? of.value ?? '') : undefined);
  if (isNode(it.declaration)) return nameOf(it.declaration);
  if (Array.isArray(it.declarations)) return it.declarations.map((each: Node) => named(each.id)).join();
  return named(it.id) ?? named(it.key) ?? it.type;
}

/** The declarations of a file; of a class its members. */
function declarations(file: string, whole: string, body: readonly Node[]): Declaration[] {
  const of = (it: Node, name: string): Declaration => ({
    file,
    name,
    start: it.start,
    text: whole.slice(it.start, it.end),
  });
  return body.flatMap((it) => {
    const inner = isNode(it.declaration) ? it.declaration : it;
    if (inner.type !== 'ClassDeclaration') return [of(it, nameOf(it))];
    const members = (inner.body as Node).body as Node[];
    return members.map((member) => of(member, `${nameOf(inner)}.${nameOf(member)}`));
  });
}

/** Every mutant of a TypeScript file, in the order of the file. Pure. */
export function mutantsOf(file: string, whole: string): Mutant[] {
  const { body } = parseAst(whole, { lang: 'ts' }, file);
  const all = declarations(file, whole, body as unknown as Node[]);
  const found: Mutant[] = [];
  const text = (part: unknown): string => (isNode(part) ? whole.slice(part.start, part.end) : '');
  const add = (change: Parameters<typeof mutantOf>[2]): void => {
    const around = all.find(({ start, text }) => start <= change.start && change.end <= start + text.length);
    const same = change.kind === 'expression' && change.to === whole.slice(change.start, change.end);
    if (around && !same) found.push(mutantOf(whole, around, change));
  };

  /** @param spine inside of a chain with `?.`, where no part may be taken out */
  const visit = (it: Node, parent: Node | undefined, spine: boolean): void => {
    if (LEFT_OUT.test(it.type) || saysSomething(it, text(it)) || it.directive) return;
    for (const change of changes(it, parent, text)) add(change);
    const decides =
      parent?.test === it || (isBoolean(it) && (parent?.type === 'ReturnStatement' || parent?.body === it));
    if (!spine)
      for (const to of replacements(it, text, decides)) add({ kind: 'expression', start: it.start, end: it.end, to });
    for (const [field, value] of Object.entries(it)) {
      if (NAMES.has(field) && !it.computed) continue;
      const inside = it.type === 'ChainExpression' || (spine && /^(callee|object|expression)$/.test(field));
      for (const part of Array.isArray(value) ? value : [value]) if (isNode(part)) visit(part, it, inside);
    }
  };
  for (const it of body as unknown as Node[]) visit(it, undefined, false);
  return [...new Map(found.map((mutant) => [mutant.id, mutant])).values()];
}
