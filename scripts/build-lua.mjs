// Compiles the lua/*.lua of each folder below into one module beside them: includes resolved, places of the folder's layout.ts put in, comments
// and indentation dropped. A file has several sections: `-- @script name` begins a script, `-- @part name` what `-- @include name` of any file
// takes in. A file without them is one script. `npm ci` runs it, and so do the tests before they begin.
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { withLayouts } from './lua-layout.mjs';

const FOLDERS = ['src/backends/redis', 'src/backends/redis-plain', 'src/backends/redisson', 'products/stock/redis'];
const sourceOf = (folder) => new URL(`../${folder}/lua/`, import.meta.url);
const targetOf = (folder) => new URL(`../${folder}/scripts.generated.ts`, import.meta.url);

const SECTION = /^-- @(script|part) (\w+)$/m;

/** The scripts and the parts of a file, each with its text. */
function sectionsOf(file, text) {
  const [, ...found] = text.split(SECTION);
  if (found.length === 0) return [{ kind: 'script', name: file.slice(0, -'.lua'.length), text }];
  return Array.from({ length: found.length / 3 }, (_, i) => ({
    ...{ kind: found[3 * i], name: found[3 * i + 1], text: found[3 * i + 2] },
  }));
}

/** The lines of a section without comments, each include once as what `include` makes of its name. */
const linesOf = ({ text }, include, placed) =>
  text
    .split('\n')
    .flatMap((line) => {
      const name = /^-- @include (\w+)$/.exec(line)?.[1];
      if (name) return [include(name)];
      if (/^\s*(--.*)?$/.test(line)) return [];
      // A comment behind code. One with a quote stays: its dashes might be in a text.
      return [placed(line.trimStart().replace(/ +-- [^'"]*$/, ''))];
    })
    .join('\n');

const literal = (text) => {
  if (/[`\\]/.test(text)) throw new Error('a script holds a character that a template literal would change');
  return `\`${text}\``;
};

export function compile(source, layouts) {
  const placed = withLayouts(layouts);
  const sections = readdirSync(source)
    .filter((file) => file.endsWith('.lua'))
    .flatMap((file) => sectionsOf(file, readFileSync(new URL(file, source), 'utf8')))
    .sort((a, b) => (a.name < b.name ? -1 : 1));
  const parts = sections.filter(({ kind }) => kind === 'part');
  const whole = (name) => {
    const found = parts.find((part) => part.name === name);
    if (!found) throw new Error(`no part is named ${name}`);
    return linesOf(found, undefined, placed);
  };
  const scripts = sections
    .filter(({ kind }) => kind === 'script')
    .map((section) => {
      const sha1 = createHash('sha1')
        .update(linesOf(section, whole, placed))
        .digest('hex');
      const text = literal(linesOf(section, (name) => `\${${name}}`, placed));
      const { name } = section;
      return `export const ${name.toUpperCase()}: Script = {\n  name: '${name}',\n  sha1: '${sha1}',\n  text: ${text},\n};\n`;
    });
  return [
    '// Generated from lua/*.lua by scripts/build-lua.mjs; edit those.\n',
    '/** One constant script, run by its hash. */\nexport interface Script {\n  readonly name: string;\n  readonly sha1: string;\n  readonly text: string;\n}\n',
    ...parts.map(({ name }) => `const ${name} = ${literal(whole(name))};\n`),
    ...scripts,
  ].join('\n');
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  for (const folder of FOLDERS) {
    const layout = new URL(`../${folder}/layout.ts`, import.meta.url);
    const layouts = existsSync(layout) ? (await import(layout)).layouts : {};
    const module = compile(sourceOf(folder), layouts);
    const target = targetOf(folder);
    if (!existsSync(target) || readFileSync(target, 'utf8') !== module) writeFileSync(target, module);
  }
}
