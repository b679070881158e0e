import { readFileSync } from 'node:fs';
import { registerHooks, stripTypeScriptTypes } from 'node:module';
import { fileURLToPath } from 'node:url';
import { parseAst } from 'vitest/node';
import { nodes } from './rules.ts';

const SOURCES = new URL('../../src/', import.meta.url).href;

/** One entry into a function of the sources. */
export interface Entry {
  readonly file: string;
  readonly name: string;
}

let entries: Entry[] | undefined;

/** The functions of the sources that `act` enters, in order. The sources have to be loaded after this module. */
export async function traced(act: () => Promise<unknown>): Promise<readonly Entry[]> {
  const taken: Entry[] = [];
  entries = taken;
  await act();
  entries = undefined;
  return taken;
}

Object.assign(globalThis, { traceEntry: (file: string, name: string) => entries?.push({ file, name }) });

type Body = { readonly type: string; readonly start: number; readonly end: number };
const FUNCTIONS = ['FunctionDeclaration', 'FunctionExpression', 'ArrowFunctionExpression'];
const nameIn = (node: object | undefined): string | undefined => {
  const { key, id } = (node ?? {}) as { key?: { name?: string }; id?: { name?: string } };
  return key?.name ?? id?.name;
};

/** The source with a call at the beginning of each function. */
function withEntries(file: string, text: string): string {
  const inserts: { readonly at: number; readonly text: string }[] = [];
  const names = new Map<unknown, string>();
  for (const node of nodes(parseAst(text))) {
    for (const part of [node.value, node.init]) {
      const name = nameIn(node);
      if (part && name) names.set(part, name);
    }
    if (!FUNCTIONS.includes(node.type)) continue;
    const body = node.body as Body | null;
    if (!body) continue;
    const name = nameIn(node) ?? names.get(node) ?? '(anonymous)';
    const call = `traceEntry(${JSON.stringify(file)}, ${JSON.stringify(name)})`;
    if (body.type === 'BlockStatement') inserts.push({ at: body.start + 1, text: `${call};` });
    else {
      // An arrow function without a block. Parentheses around its body stay as they are.
      inserts.push({ at: text.lastIndexOf('=>', body.start) + 2, text: ` (${call}, ` }, { at: node.end, text: ')' });
    }
  }
  return inserts
    .sort((a, b) => b.at - a.at)
    .reduce((all, { at, text: more }) => all.slice(0, at) + more + all.slice(at), text);
}

registerHooks({
  load(url, context, next) {
    if (!url.startsWith(SOURCES) || !url.endsWith('.ts')) return next(url, context);
    const text = stripTypeScriptTypes(readFileSync(fileURLToPath(url), 'utf8'));
    return { format: 'module', source: withEntries(url.slice(SOURCES.length), text), shortCircuit: true };
  },
});
