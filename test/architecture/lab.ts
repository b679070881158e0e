import { posix } from 'node:path';
import { parseAst } from 'vitest/node';
import { imported, nodes, spreadLists, unclocked } from './rules.ts';

/** What each folder of the lab may import; `browser` is put in by the bundler, and imported by nobody. */
const PARTS: Readonly<Record<string, readonly string[]>> = {
  stage: ['lab/stage', 'src', 'products/testing', 'test/simulation'],
  scenes: ['lab/scenes', 'lab/stage', 'src'],
  words: ['lab/words', 'lab/stage', 'products/ui/page/kit'],
  page: ['lab/page', 'products/ui/page/kit', 'lab/words', 'lab/scenes', 'lab/stage', 'preact', '@preact/signals'],
  browser: [],
};
/** A scene runs the same everywhere, and from a seed. */
const SEEDED = ['stage', 'scenes', 'words'];
const LONGEST_FILE = 250;

/** What is wrong with a file of the lab, a line each. `path` begins with `lab/`. */
export function labViolations(path: string, text: string): string[] {
  const [, part = ''] = path.split('/');
  const allowed = PARTS[part];
  if (!allowed) return [`${path}: lab/${part} is no part of the lab; there are ${Object.keys(PARTS).join(', ')}`];
  const found: string[] = [];
  const lines = text.trimEnd().split('\n').length;
  if (lines > LONGEST_FILE) found.push(`has ${lines} lines; more than ${LONGEST_FILE} are more than one idea`);
  if (path.endsWith('.css')) return found.map((what) => `${path} ${what}`);
  const tree = [...nodes(parseAst(text, { lang: path.endsWith('x') ? 'tsx' : 'ts' }))];
  for (const spread of spreadLists(path, tree, text)) found.push(spread);
  for (const node of tree) {
    const from = imported(node)?.from;
    const target = from?.startsWith('.') ? posix.join(posix.dirname(path), from) : from;
    if (target && !allowed.some((each) => target === each || target.startsWith(`${each}/`)))
      found.push(`imports ${target}: ${part} may import ${allowed.join(', ')}`);
    const source = SEEDED.includes(part) ? unclocked(node) : undefined;
    if (source) found.push(`uses ${source}: a scene has no time and no randomness but its seed's`);
  }
  return found.map((what) => `${path} ${what}`);
}
