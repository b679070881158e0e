// Writes every backend's sql/*.sql into one module beside the folder, sql.generated.ts, so that the same import works from src and from
// dist. `npm ci` runs it, and so do the tests before they begin.
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const backends = new URL('../src/backends/', import.meta.url);

const camel = (file) => file.replace('.sql', '').replace(/-(\w)/g, (_, letter) => letter.toUpperCase());
/** A text as a template literal. */
export const literal = (text) => `\`${text.trimEnd().replace(/[\\`]|\$\{/g, '\\$&')}\``;

/** The statements of a file, as pairs of name and text: each under its line `-- name: …`, or one that has the name of the file. */
export function statementsOf(file, text) {
  const [, ...parts] = text.split(/^-- name: (\w+)\n/m);
  if (parts.length === 0) return [[camel(file), text]];
  return parts.flatMap((name, at) => (at % 2 === 0 ? [[name, parts[at + 1]]] : []));
}

function build() {
  for (const backend of readdirSync(backends)) {
    const folder = new URL(`${backend}/sql/`, backends);
    if (!existsSync(folder)) continue;
    const files = readdirSync(folder).filter((file) => file.endsWith('.sql'));
    const statements = files
      .sort()
      .flatMap((file) => statementsOf(file, readFileSync(new URL(file, folder), 'utf8')))
      .map(([name, text]) => `export const ${name}: string = ${literal(text)};\n`);
    const text = `// Generated from sql/*.sql by scripts/build-sql.mjs: edit there.\n\n${statements.join('\n')}`;
    const module = new URL(`${backend}/sql.generated.ts`, backends);
    if (!existsSync(module) || readFileSync(module, 'utf8') !== text) writeFileSync(module, text);
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) build();
