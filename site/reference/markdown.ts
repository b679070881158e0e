/** A subpath's exports as a page. */
import { basename } from 'node:path';
import { anchorOf } from '../pages.ts';
import type { Declaration } from './declarations.ts';
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

const LABELS: Readonly<Record<string, string>> = { returns: 'Gives', throws: 'Errors', example: 'Example', see: 'See' };

/** Brackets in the prose of a comment are not HTML. */
const escaped = (text: string): string =>
  text.replace(/`[^`]*`|[<>]/g, (part) => (part === '<' ? '&lt;' : part === '>' ? '&gt;' : part));

/** A doc comment, with its tags in words. */
function prose(doc: string): string[] {
  return doc.split(/^(?=@\w)/m).map((part) => {
    const [, tag, rest = ''] = /^@(\w+)\s+([\s\S]*)$/.exec(part.trim()) ?? [];
    if (tag === undefined) return escaped(part.trim());
    if (tag === 'example') return `Example:\n\n${rest.includes('```') ? rest : `\`\`\`ts\n${rest}\n\`\`\``}`;
    const [, name, text = ''] = (tag === 'param' && /^(\w+)\s+([\s\S]*)$/.exec(rest)) || [];
    if (name !== undefined) return `\`${name}\`: ${escaped(text)}`;
    return `${LABELS[tag] ?? tag}: ${escaped(rest.replace(/^LockError /, ''))}`;
  });
}

const member = ({ code, doc }: Declaration['members'][number]): string =>
  [`- \`${code}\``, ...prose(doc)]
    .filter((part) => part !== '')
    .join('\n\n')
    .replaceAll('\n', '\n  ')
    .replace(/^ +$/gm, '');

const fence = (code: string): string => `\`\`\`ts\n${code}\n\`\`\``;

function told(each: Declaration, link: (name: string) => string | undefined): string {
  const code = each.members.length > 0 ? `${each.code} { … }` : each.code;
  const named = [each.code, ...each.members.map((one) => one.code)].join(' ').match(/\b[A-Z]\w+/g) ?? [];
  const links = [...new Set(named)].filter((name) => name !== each.name).map(link);
  const types = links.filter((one) => one !== undefined).join(', ');
  return [
    `## ${each.name}`,
    fence(code),
    ...prose(each.doc),
    each.members.map(member).join('\n'),
    types === '' ? '' : `Types: ${types}.`,
  ]
    .filter((part) => part !== '')
    .join('\n\n');
}

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
      ? told(each, link)
      : `## ${each.name}\n\nThe same as ${to(place, each.name)} of \`${place.name}\`.`;
  });
  const intro = `What \`${subpath.name}\` exports, from its declarations. Defaults and bounds stand in the text.`;
  return [`# ${subpath.name}`, intro, ...sections].join('\n\n').concat('\n');
}
