// Compiles src/backends/redis/lua/*.lua, includes resolved and comments dropped, into one checked-in module. With --check
// it only says whether that module is stale.
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const SOURCE = new URL('../src/backends/redis/lua/', import.meta.url);
const TARGET = new URL('../src/backends/redis/scripts.generated.ts', import.meta.url);

/** The lines of a file without comments, each include once as what `include` makes of its name. */
const read = (file, include) =>
  readFileSync(new URL(file, SOURCE), 'utf8')
    .split('\n')
    .flatMap((line) => {
      const name = /^-- @include (\w+)$/.exec(line)?.[1];
      if (name) return [include(name)];
      return /^\s*(--.*)?$/.test(line) ? [] : [line];
    })
    .join('\n');

const luaFiles = (folder) =>
  readdirSync(new URL(folder, SOURCE))
    .filter((file) => file.endsWith('.lua'))
    .sort();
const nameOf = (file) => file.slice(0, -'.lua'.length);
const literal = (text) => {
  if (/[`\\]/.test(text)) throw new Error('a script holds a character that a template literal would change');
  return `\`${text}\``;
};

export function compile() {
  const includes = luaFiles('include/').map((file) => `const ${nameOf(file)} = ${literal(read(`include/${file}`))};\n`);
  const whole = (name) => read(`include/${name}.lua`);
  const scripts = luaFiles('./').map((file) => {
    const sha1 = createHash('sha1').update(read(file, whole)).digest('hex');
    const text = literal(read(file, (name) => `\${${name}}`));
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
  const module = compile();
  if (!process.argv.includes('--check')) writeFileSync(TARGET, module);
  else if (readFileSync(TARGET, 'utf8') !== module) {
    console.error('scripts.generated.ts is stale: run node scripts/build-lua.mjs');
    process.exitCode = 1;
  }
}
