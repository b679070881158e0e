// Writes `api/holdfast.txt`: what each entry exports, and every declaration that these need, whole and without comments. It reads `dist`.
// With --check it only says whether the report is stale: so no public type changes unseen.
import { existsSync, globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseAst } from 'rolldown/parseAst';

const root = fileURLToPath(new URL('../', import.meta.url));
const target = join(root, 'api/holdfast.txt');

const bare = (text) =>
  text
    .replace(/\/\*[\s\S]*?\*\//g, '')
    .replace(/[ \t]+$/gm, '')
    .replace(/\n{2,}/g, '\n')
    .replace(/^(export )?(declare )?/, '')
    .trim();

function statementsOf(file) {
  const text = readFileSync(file, 'utf8');
  return parseAst(text, { lang: 'dts' }, file).body.map((node) => ({ node, text: text.slice(node.start, node.end) }));
}

/** The names that a file exports, as its users see them. */
function exportsOf(file) {
  const names = statementsOf(file).flatMap(({ node }) => {
    if (node.type !== 'ExportNamedDeclaration') return [];
    return node.specifiers.map(({ exported, exportKind }) => `${exportKind === 'type' ? 'type ' : ''}${exported.name}`);
  });
  return names.sort();
}

const declarationsOf = (file) =>
  statementsOf(file)
    .filter(({ node }) => !/^(Import|ExportAll|ExportNamed)/.test(node.type) || node.declaration)
    .map(({ text }) => bare(text));

export function report(exported) {
  const entries = Object.entries(exported).filter(([, { types }]) => types);
  const lists = entries.map(([path, { types }]) => {
    const names = exportsOf(join(root, types)).map((name) => `  ${name}`);
    return [`holdfast${path.slice(1)}`, ...names].join('\n');
  });
  const files = globSync('dist/**/*.d.ts', { cwd: root }).map((file) => join(root, file));
  const declarations = [...new Set(files.flatMap(declarationsOf))].sort();
  return `${[...lists, ...declarations].join('\n\n')}\n`;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const made = report(JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')).exports);
  if (!process.argv.includes('--check')) {
    mkdirSync(dirname(target), { recursive: true });
    writeFileSync(target, made);
  } else if (!existsSync(target) || readFileSync(target, 'utf8') !== made) {
    console.error(
      'The exports of the package are not those of api/holdfast.txt. If the change is meant: npm run api, read its difference, and say in CHANGELOG.md what a user notices.',
    );
    process.exitCode = 1;
  }
}
