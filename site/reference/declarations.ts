/** What the package exports, read from the declarations that the compiler writes. */
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { parseAst } from 'rolldown/parseAst';

export interface Member {
  readonly code: string;
  readonly doc: string;
}

export interface Declaration {
  readonly name: string;
  readonly file: string;
  /** As written, overloads among themselves; of interfaces and classes without what is in the braces. */
  readonly code: string;
  readonly doc: string;
  readonly members: readonly Member[];
}

type Program = ReturnType<typeof parseAst>;
type Statement = Program['body'][number];
type Span = { readonly start: number; readonly end: number };

interface Module {
  readonly text: string;
  readonly body: readonly Statement[];
}

const modules = new Map<string, Module>();

function moduleAt(file: string): Module {
  const known = modules.get(file);
  if (known) return known;
  const text = readFileSync(file, 'utf8');
  const read = { text, body: parseAst(text, { lang: 'dts' }, file).body };
  modules.set(file, read);
  return read;
}

/** The text of the comment that ends right before `start`. */
function docBefore(text: string, start: number): string {
  const [, comment = ''] = /\/\*\*((?:(?!\*\/)[\s\S])*)\*\/\s*$/.exec(text.slice(0, start)) ?? [];
  return comment.replace(/^[ \t]*\*[ \t]?/gm, '').trim();
}

const isInternal = ({ doc }: Member): boolean => doc.startsWith('@internal');

function membersIn(text: string, body: readonly Span[]): Member[] {
  const all = body.map(({ start, end }) => ({
    code: text.slice(start, end).replace(/;$/, '').replace(/\s+/g, ' '),
    doc: docBefore(text, start),
  }));
  return all.filter((member) => !/^(?:#private$|private |get \[)/.test(member.code) && !isInternal(member));
}

const nameOf = (node: { readonly type: string }): string => String((node as { name?: string }).name);

interface Named extends Span {
  readonly name: string;
  readonly body?: Span & { readonly body: readonly Span[] };
}

/** What a statement declares: with its name, and its braces if it has some. */
function declaredBy(statement: Statement): Named | undefined {
  const node = statement.type === 'ExportNamedDeclaration' ? statement.declaration : statement;
  switch (node?.type) {
    case 'TSInterfaceDeclaration':
    case 'ClassDeclaration':
      return { name: nameOf(node.id!), body: node.body, start: statement.start, end: statement.end };
    case 'TSTypeAliasDeclaration':
    case 'TSDeclareFunction':
      return { name: nameOf(node.id!), start: statement.start, end: statement.end };
    case 'VariableDeclaration':
      return { name: nameOf(node.declarations[0]!.id), start: statement.start, end: statement.end };
    default:
      return undefined;
  }
}

function declarationIn(file: string, name: string): Declaration | undefined {
  const { text, body } = moduleAt(file);
  const found = body.map(declaredBy).filter((each): each is Named => each?.name === name);
  if (found.length === 0) return undefined;
  const code = found.map((each) =>
    text.slice(each.start, each.body?.start ?? each.end).replace(/^export (declare )?/, ''),
  );
  return {
    name,
    file,
    code: code.map((each) => each.trim().replace(/;$/, '')).join(';\n'),
    doc: found.map(({ start }) => docBefore(text, start)).find((doc) => doc !== '') ?? '',
    members: found.flatMap((each) => (each.body ? membersIn(text, each.body.body) : [])),
  };
}

const target = (file: string, source: string): string => join(dirname(file), source.replace(/\.ts$/, '.d.ts'));

/** From where a module has a name that it does not declare itself. */
function origin(file: string, name: string): { readonly file: string; readonly name: string } | undefined {
  for (const statement of moduleAt(file).body) {
    if (statement.type === 'ExportNamedDeclaration' && statement.source) {
      const specifier = statement.specifiers.find(({ exported }) => nameOf(exported) === name);
      if (specifier) return { file: target(file, statement.source.value), name: nameOf(specifier.local) };
    }
    if (statement.type === 'ImportDeclaration' && statement.source.value.startsWith('.')) {
      const specifier = statement.specifiers.find(({ local }) => local.name === name);
      if (specifier?.type === 'ImportSpecifier')
        return { file: target(file, statement.source.value), name: nameOf(specifier.imported) };
    }
  }
  return undefined;
}

function declarationOf(file: string, name: string): Declaration {
  const own = declarationIn(file, name);
  if (own) return own;
  const from = origin(file, name);
  if (!from) throw new Error(`${file} exports ${name}, and nothing declares it`);
  return declarationOf(from.file, from.name);
}

/** Every export of a module, by name. */
export function exportsOf(file: string): Declaration[] {
  const names = moduleAt(file).body.flatMap((statement): string[] => {
    if (statement.type === 'ExportAllDeclaration') throw new Error(`${file} exports what it does not name`);
    if (statement.type !== 'ExportNamedDeclaration') return [];
    const own = declaredBy(statement);
    return own ? [own.name] : statement.specifiers.map(({ exported }) => nameOf(exported));
  });
  const found = [...new Set(names)].map((name) => declarationOf(file, name));
  return found.filter(({ doc }) => !doc.startsWith('@internal'));
}
