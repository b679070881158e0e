/** Examples name what the package exports as an editor would import it: here they get those imports. */
import { examplesIn } from './comment.ts';
import type { Declaration } from './declarations.ts';
import type { Subpath } from './subpaths.ts';

const isValue = ({ code }: Declaration): boolean => /^(?:declare )?(?:abstract )?(?:function|const|class) /.test(code);

/** What an example uses without bringing it itself. */
function freeNames(code: string): Set<string> {
  const bare = code.replace(/\/\/.*$|'[^'\n]*'/gm, '');
  const used = bare.match(/(?<![.\w])[A-Za-z]\w*\b(?!\??:)/g) ?? [];
  const own = bare.matchAll(/\b(?:import|const|let|using|class|function)\s+(\w+|[{[][^}\]]*[}\]])/g);
  const brought = new Set([...own].flatMap(([, names]) => names!.match(/\w+/g)!));
  return new Set(used.filter((name) => !brought.has(name)));
}

/** @param home where the example stands: what this subpath exports is imported from it */
export function withImports(code: string, home: Subpath, all: readonly Subpath[]): string {
  const names = freeNames(code);
  const from = new Map<string, string[]>();
  for (const name of names) {
    const place = [home, ...all].find(({ exports }) => exports.some((each) => each.name === name && isValue(each)));
    if (place) from.set(place.name, [...(from.get(place.name) ?? []), name]);
  }
  const imports = [...from].sort(([a], [b]) => (a < b ? -1 : 1));
  const added = imports.map(([subpath, each]) => `import { ${each.sort().join(', ')} } from '${subpath}';\n`);
  const own = code.match(/^import .*\n/gm) ?? [];
  const body = own.reduce((rest, line) => rest.replace(line, ''), code);
  const head = [...own, ...added].join('');
  return head === '' ? body : `${head}\n${body}`;
}

export interface Example {
  /** `holdfast Locks mutex`: where it stands. */
  readonly at: string;
  readonly code: string;
}

/** Every example there is, each once. */
export function allExamples(all: readonly Subpath[]): Example[] {
  const examples = all.flatMap((subpath) =>
    subpath.exports.flatMap(({ name, doc, members }) =>
      [{ code: '', doc }, ...members].flatMap((each) =>
        examplesIn(each.doc).map((code) => ({
          at: [subpath.name, name, /^\w*/.exec(each.code)![0]].join(' ').trimEnd(),
          code: withImports(code, subpath, all),
        })),
      ),
    ),
  );
  return [...new Map(examples.map((each) => [each.code, each])).values()];
}
