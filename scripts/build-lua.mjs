// Compiles the lua/*.lua of each folder below, includes resolved, places of the folder's layout.ts put in, comments and indentation dropped,
// into one module beside them. `npm ci` runs it, and so do the tests before they begin.
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { withLayouts } from './lua-layout.mjs';

const FOLDERS = ['src/backends/redis', 'src/stock/redis'];
const sourceOf = (folder) => new URL(`../${folder}/lua/`, import.meta.url);
const targetOf = (folder) => new URL(`../${folder}/scripts.generated.ts`, import.meta.url);

/** The lines of a file without comments, each include once as what `include` makes of its name. */
const read = (file, include, placed) =>
  readFileSync(file, 'utf8')
    .split('\n')
    .flatMap((line) => {
      const name = /^-- @include (\w+)$/.exec(line)?.[1];
      if (name) return [include(name)];
      return /^\s*(--.*)?$/.test(line) ? [] : [placed(line.trimStart())];
    })
    .join('\n');

const luaFiles = (folder) =>
  existsSync(folder)
    ? readdirSync(folder)
        .filter((file) => file.endsWith('.lua'))
        .sort()
    : [];
const nameOf = (file) => file.slice(0, -'.lua'.length);
const literal = (text) => {
  if (/[`\\]/.test(text)) throw new Error('a script holds a character that a template literal would change');
  return `\`${text}\``;
};

export function compile(source, layouts) {
  const placed = withLayouts(layouts);
  const at = (file) => new URL(file, source);
  const includes = luaFiles(at('include/')).map(
    (file) => `const ${nameOf(file)} = ${literal(read(at(`include/${file}`), undefined, placed))};\n`,
  );
  const whole = (name) => read(at(`include/${name}.lua`), undefined, placed);
  const scripts = luaFiles(source).map((file) => {
    const sha1 = createHash('sha1')
      .update(read(at(file), whole, placed))
      .digest('hex');
    const text = literal(read(at(file), (name) => `\${${name}}`, placed));
    const name = nameOf(file);
    return `export const ${name.toUpperCase()}: Script = {\n  name: '${name}',\n  sha1: '${sha1}',\n  text: ${text},\n};\n`;
  });
  return [
    '// Generated from lua/*.lua by scripts/build-lua.mjs; edit those.\n',
    '/** One constant script, run by its hash. */\nexport interface Script {\n  readonly name: string;\n  readonly sha1: string;\n  readonly text: string;\n}\n',
    ...includes,
    ...scripts,
  ].join('\n');
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  for (const folder of FOLDERS) {
    const { layouts } = await import(new URL(`../${folder}/layout.ts`, import.meta.url));
    const module = compile(sourceOf(folder), layouts);
    const target = targetOf(folder);
    if (!existsSync(target) || readFileSync(target, 'utf8') !== module) writeFileSync(target, module);
  }
}
