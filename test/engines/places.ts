/** The places that have to name an engine. CONTRIBUTING.md lists the same ones, under *To add an engine*. */
import { existsSync, globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pageOfEngine } from '../kit/engine-pages.ts';
import type { EngineRow } from '../kit/engines.ts';

export interface Engine extends Pick<EngineRow, 'absent'> {
  readonly name: string;
}

type Names = (text: string, engine: Engine) => boolean;

const link: Names = (text, { name }) => new RegExp(`backends/${pageOfEngine(name)}\\.md[)#']`).test(text);
const row: Names = (text, { name }) => new RegExp(`^  '?${name}'?: `, 'm').test(text);
const named: Names = (text, { name }) => new RegExp(`name: '${name}\\b`).test(text);

/** For each place, whether its text names the engine. A place that holds `<name>` has to exist. */
const PLACES: Readonly<Record<string, Names | 'exists'>> = {
  'src/backends/<name>': 'exists',
  'src/connect/registry.ts': row,
  'package.json': (text, { name }) => Object.hasOwn(JSON.parse(text).exports, `./${name}`),
  'api/holdfast.txt': (text, { name }) => text.includes(`holdfast/${name}\n`),
  'test/kit/engines.ts': row,
  'test/kit/sites.ts': (text, { name }) => text.includes(`engine: '${name}'`),
  'test/backends/<name>': 'exists',
  'test/core/null-options.test.ts': row,
  'test/torture/owner/owned.ts': named,
  'test/matrix/servers.ts': row,
  'bench/arenas.ts': (text, { name }) => new RegExp(`^  ${name}(,$|: )`, 'm').test(text),
  'docs/backends/<name>.md': 'exists',
  'docs/README.md': link,
  'docs/cli.md': (text, { name }) =>
    [`\`${name}:`, `${name}+`, `\`${name.replace('-', '+')}:`].some((address) => text.includes(address)),
  'docs/which-lock.md': link,
  'README.md': link,
  '.github/workflows/ci.yml': (text, { name }) => new RegExp(`engines: .*\\b${name}\\b`).test(text),
};

export const places: readonly string[] = Object.keys(PLACES);

/** Whether that place, in the tree of files under `root`, names the engine. */
export function names(root: string, place: string, engine: Engine): boolean {
  const path = place.replace('<name>', place.startsWith('docs/') ? pageOfEngine(engine.name) : engine.name);
  const check = PLACES[place]!;
  if (check !== 'exists') return check(readFileSync(join(root, path), 'utf8'), engine);
  return existsSync(join(root, path)) || globSync(`${path}{,.*}.ts`, { cwd: root }).length > 0;
}
