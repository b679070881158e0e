/** A subpath's exports as a page. */
import { basename } from 'node:path';
import { anchorOf } from '../pages.ts';
import { examplesIn, partsOf } from './comment.ts';
import type { Declaration } from './declarations.ts';
import { withImports } from './examples.ts';
import { pageFor, type Subpath } from './subpaths.ts';

/** Where each export is told: on the page of the first subpath that has it. */
export type Places = ReadonlyMap<string, Subpath>;

/** Subpaths may export different things by one name, and one thing twice. */
const identity = ({ file, name }: Declaration): string => `${file}:${name}`;

export function placesOf(all: readonly Subpath[]): Places {
  const places = new Map<string, Subpath>();
  for (const subpath of all)
    for (const each of subpath.exports) if (!places.has(identity(each))) places.set(identity(each), subpath);
  return places;
}

const LABELS: Readonly<Record<string, string>> = { returns: 'Gives', throws: 'Errors', see: 'See' };

/** Brackets in the prose of a comment are not HTML. */
const escaped = (text: string): string =>
  text.replace(/`[^`]*`|[<>]/g, (part) => (part === '<' ? '&lt;' : part === '>' ? '&gt;' : part));

/** Gives an example what it imports. */
type Complete = (code: string) => string;

const fence = (code: string): string => `\`\`\`ts\n${code}\n\`\`\``;

/** A doc comment, with its tags in words. */
function prose(doc: string, complete: Complete): string[] {
  const words = partsOf(doc).flatMap(({ tag, text }) => {
    if (tag === undefined) return escaped(text);
    if (tag === 'example') return [];
    const [, name, about = ''] = (tag === 'param' && /^(\w+)\s+([\s\S]*)$/.exec(text)) || [];
    if (name !== undefined) return `\`${name}\`: ${escaped(about)}`;
    return `${LABELS[tag] ?? tag}: ${escaped(text.replace(/^LockError /, ''))}`;
  });
  return [...words, ...examplesIn(doc).map((code) => fence(complete(code)))];
}

const member = ({ code, doc }: Declaration['members'][number], complete: Complete): string =>
  [`- \`${code}\``, ...prose(doc, complete)]
    .filter((part) => part !== '')
    .join('\n\n')
    .replaceAll('\n', '\n  ')
    .replace(/^ +$/gm, '');

function told(each: Declaration, link: (name: string) => string | undefined, complete: Complete): string {
  const code = each.members.length > 0 ? `${each.code} { … }` : each.code;
  const named = [each.code, ...each.members.map((one) => one.code)].join(' ').match(/\b[A-Z]\w+/g) ?? [];
  const links = [...new Set(named)].filter((name) => name !== each.name).map(link);
  const types = links.filter((one) => one !== undefined).join(', ');
  return [
    `## ${each.name}`,
    fence(code),
    ...prose(each.doc, complete),
    each.members.map((one) => member(one, complete)).join('\n'),
    types === '' ? '' : `Types: ${types}.`,
  ]
    .filter((part) => part !== '')
    .join('\n\n');
}

export const titleOf = ({ name }: Subpath): string => name;

const introOf = ({ name }: Subpath): string => {
  const start = `What \`${name}\` exports, from its declarations. Defaults and bounds are in the text.`;
  if (name !== 'holdfast/backend') return start;
  return `${start} It is for those who [write a backend](../../../docs/guides/your-own-engine.md#a-backend-of-your-own) or wrap one.`;
};

export function pageOf(subpath: Subpath, all: readonly Subpath[], places: Places): string {
  const to = (place: Subpath, name: string) => {
    const page = place === subpath ? '' : basename(pageFor(place));
    return `[\`${name}\`](${page}#${anchorOf(name)})`;
  };
  /** A name means what this subpath exports by it, or else what the first one does. */
  const link = (name: string): string | undefined => {
    const place = [subpath, ...all].find((one) => one.exports.some((each) => each.name === name));
    return place && to(place, name);
  };
  const sections = subpath.exports.map((each) => {
    const place = places.get(identity(each))!;
    return place === subpath
      ? told(each, link, (code) => withImports(code, subpath, all))
      : `## ${each.name}\n\nThe same as ${to(place, each.name)} of \`${place.name}\`.`;
  });
  return [`# ${titleOf(subpath)}`, introOf(subpath), ...sections].join('\n\n').concat('\n');
}
