// Refuses to publish while package.json does not say where the package comes from: npm checks the provenance against `repository`, and a
// user finds the sources, the pages and the way in for a report there. It refuses, too, while the evidence is of other sources than are
// published. `--tag v1.2.3` also compares the version.
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { nameOfLock, nameOfSources } from './code-name.mjs';

const { values } = parseArgs({
  options: { tag: { type: 'string' }, manifest: { type: 'string' }, evidence: { type: 'string' } },
});
const path = values.manifest ?? fileURLToPath(new URL('../package.json', import.meta.url));
const manifest = JSON.parse(readFileSync(path, 'utf8'));

const missing = ['repository', 'homepage', 'bugs'].filter((name) => !manifest[name]);
const problems = [];
if (missing.length > 0)
  problems.push(
    `package.json has no ${missing.join(', no ')}. Set what is missing to the addresses of this project, and publish then.`,
  );
if (values.tag !== undefined && values.tag !== `v${manifest.version}`)
  problems.push(`The tag ${values.tag} is not v${manifest.version}, the version in package.json.`);

const names = [nameOfSources(), nameOfLock()];
const page = readFileSync(values.evidence ?? fileURLToPath(new URL('../docs/evidence.md', import.meta.url)), 'utf8');
for (const [row, proof] of page.matchAll(/^\| \[([^\]]+)\].*$/gm))
  if (!names.some((name) => row.endsWith(`, ${name} |`)))
    problems.push(
      `${proof} in docs/evidence.md was not run on these sources, ${names.join(' or ')}, alone: run \`npm run prove\` on them.`,
    );
for (const problem of problems) console.error(problem);
process.exitCode = problems.length > 0 ? 1 : 0;
