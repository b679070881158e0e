// The pages as the package brings them. npm packs the pages of the repository, under their own names: so `prepack` writes them over, and
// `postpack` puts them back. A link to what stays in the repository leads there, once package.json has a `repository`; until then it is
// its words and the path.
import { existsSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, posix } from 'node:path';
import { fileURLToPath } from 'node:url';

/** What `npm run format` reads: no reader of the package sees it. */
const ROWS = /\n<!-- rows of other pages[\s\S]*?\n-->\n/;
const CODE = /^ *```[\s\S]*?^ *```$|`[^`\n]*`/;
const PICTURE = /!\[([^\]]*)\]\(([^)\s]+)\)/;
const TAG = /<img src="([^"]+)"[^>]*?alt="([^"]*)"[^>]*>/;
/** Of words that may have code or brackets in them. */
const LINK = /\[((?:[^[\]`]|`[^`\n]*`|\[[^\]]*\])*)\]\(([^)\s]+)\)/;
const PARTS = new RegExp([CODE, PICTURE, TAG, LINK].map(({ source }) => source).join('|'), 'gm');

/** Where the files of this version are on the host of the repository, if the manifest says so. */
function hostOf({ repository, version }) {
  const url = (repository?.url ?? repository ?? '').replace(/^git\+/, '').replace(/\.git$/, '');
  return /^https:/.test(url) ? (kind, path) => `${url}/${kind}/v${version}/${path}` : undefined;
}

/** The text of a page in the package. `isPacked` knows the files of the package by their paths. */
export function packedPage(page, text, isPacked, manifest) {
  const host = hostOf(manifest);
  return text.replace(ROWS, '').replace(PARTS, (whole, alt, picture, tagged, tagAlt, words, link) => {
    const target = picture ?? tagged ?? link;
    if (target === undefined || /^([a-z]+:|#)/.test(target)) return whole;
    const [file, anchor] = target.split('#');
    const path = posix.join(posix.dirname(page), file).replace(/\/$/, '');
    if (isPacked(path)) return whole;
    if (!host) return alt ?? tagAlt ?? (words.includes(path) ? words : `${words} (\`${path}\`)`);
    const place = host(link ? 'blob' : 'raw', path) + (anchor === undefined ? '' : `#${anchor}`);
    return whole.replace(tagged ? `"${target}"` : `(${target})`, tagged ? `"${place}"` : `(${place})`);
  });
}

const saved = (root) => join(root, '.tmp/pages.json');

/** Writes the pages of the package over those of the repository, which it keeps until `restore`. */
export function write(root) {
  restore(root); // what an interrupted `npm pack` left
  const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  const taken = manifest.files.filter((file) => !file.startsWith('!'));
  const left = manifest.files.filter((file) => file.startsWith('!')).map((file) => file.slice(1));
  const always = ['README*', 'LICENSE']; // whatever the manifest says
  const files = globSync([...taken, ...always], { cwd: root, exclude: left }).map((file) => file.replaceAll('\\', '/'));
  const pages = {};
  for (const page of new Set(files.filter((file) => file.endsWith('.md')))) {
    const was = readFileSync(join(root, page), 'utf8');
    pages[page] = { was, is: packedPage(page, was, (path) => files.includes(path), manifest) };
  }
  mkdirSync(dirname(saved(root)), { recursive: true });
  writeFileSync(saved(root), JSON.stringify(pages));
  for (const [page, { is }] of Object.entries(pages)) writeFileSync(join(root, page), is);
}

/** Puts the pages of the repository back. A page that somebody has changed in the meantime stays, and is told. */
export function restore(root) {
  if (!existsSync(saved(root))) return;
  for (const [page, { was, is }] of Object.entries(JSON.parse(readFileSync(saved(root), 'utf8')))) {
    const now = existsSync(join(root, page)) ? readFileSync(join(root, page), 'utf8') : undefined;
    if (now === is) writeFileSync(join(root, page), was);
    else if (now !== was)
      console.error(`${page} was changed while it was packed: its links to what is not in the package may be missing.`);
  }
  rmSync(saved(root));
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const root = fileURLToPath(new URL('../', import.meta.url));
  if (process.argv[2] === 'write') write(root);
  else restore(root);
}
