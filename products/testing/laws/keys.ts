import assert from 'node:assert/strict';
import { MAX_KEY_BYTES } from '../../../src/core/index.ts';
import { type Law, law } from '../case.ts';
import type { Scene } from '../scene.ts';

const STRANGE = 24;

const longest = (end: string): string => 'k'.repeat(MAX_KEY_BYTES - Buffer.byteLength(end)) + end;

const words = (text: string): string[] => text.split(' ');

/** Keys that some engine, encoding, collation or pattern might confuse, or might not take as a name. */
export const LOOKALIKES: Readonly<Record<string, readonly string[]>> = {
  'case and accents': words('straße STRASSE strasse Strasse strase é e E ı i I İ'),
  'Unicode forms': words(
    '\u00e9 e\u0301 \u212b \u00c5 A\u030a ﬁ fi ① 1 \u{1f512} \u{1f513} \u{10000} \u{10001} \u{10ffff}',
  ),
  'white space': ['a', 'a ', ' a', 'a  ', 'a\t', 'a\n', 'a\r\n', 'a\u00a0', 'a\u3000', 'a\u200b', '\ufeffa', ' '],
  'NUL and control characters': words('a\0 a\0b a\0\0 \0 a\u0001 a\u001f a\u007f a\u0085 a\ufffd a\uffff'),
  paths: words('a/b a a/ /a a//b a/./b a/../a / // . .. ../a a\\b b'),
  encodings: ['a b', ...words('a/b a%2Fb a%2fb a%252Fb a+b a%20b % %% a%00 \\u0061 &#97; a=b YQ==')],
  separators: words('a:b a b a: :a a::b a-b a_b a.b a|b a,b a;b a#b a@b'),
  'patterns and braces': words('{a} a {} { } {a}b {a}{b} a* * a? [a] a% a_ ^a$ $a $'),
  'quotes and code': [
    `a' or '1'='1`,
    `a'; drop table holdfast; --`,
    'return 1',
    ...words(`' " \` '' {"$gt":""} \${a} $1 ? :a`),
  ],
  'names a language knows': words(
    '__proto__ constructor toString hasOwnProperty length null NULL undefined true 0 -0 00 1e0 NaN',
  ),
  'the longest there may be': [longest('a').slice(1), ...words('a b é e\u0301 🔒').map(longest)],
};

const PIECES = [
  ...'aAbB019 ._-:/\\%*?{}[]()\'"`$&|;<>=+,~^!@#',
  ...words('\0 é e\u0301 ß 漢 🔒 %2F .. __').concat('\n'),
];

/** Makes different names of one to eight pieces. Each piece means something to some engine. */
function strangeNames(count: number, random: () => number): string[] {
  const found = new Set<string>();
  while (found.size < count) {
    const pieces = 1 + Math.floor(random() * 8);
    found.add(Array.from({ length: pieces }, () => PIECES[Math.floor(random() * PIECES.length)]).join(''));
  }
  return [...found];
}

/** A law that uses keys with fixed names. */
const alone = (name: string, check: Law['check'], needs: Law['needs'] = []): Law => ({
  ...law(name, needs, check),
  alone: true,
});

/** Keys are data: different keys never meet, and the listing shows each key as it was given. */
export const keys: readonly Law[] = [
  ...Object.entries(LOOKALIKES).map(([kind, names]) =>
    alone(`different keys never meet: ${kind}`, (scene) => neverMeet(scene, names)),
  ),
  alone('different keys never meet: at random', (scene) => neverMeet(scene, strangeNames(STRANGE, scene.random))),
  law('inspect takes its prefix as it stands, and gives keys back as they were', ['inspect'], async (scene) => {
    const ends = ['', '*', '?', '%', '_', '[a]', '/', '/%2F', '\\', '\0', "'", '{', '🔒', '__proto__'];
    const names = ends.map((end) => scene.key + end);
    for (const key of names) await scene.holder({ key });
    for (const prefix of names) {
      const seen = (await scene.entries(prefix)).map(({ key }) => key);
      const expected = names.filter((key) => key.startsWith(prefix));
      assert.deepEqual(seen.sort(), expected.sort(), `keys that start with ${JSON.stringify(prefix)}`);
    }
  }),
  alone(
    'no key reaches another prefix',
    async (scene) => {
      const apart = await scene.another('apart');
      for (const key of Object.values(LOOKALIKES).flat()) {
        const both = [await scene.holder({ key }, scene.clients[0]), await scene.holder({ key }, apart)];
        for (const holder of both) await holder.leaves();
      }
    },
    ['apart'],
  ),
];

/** Holds all keys at once. If the engine takes two keys for one, it refuses the second, or both share one hold. */
async function neverMeet(scene: Scene, names: readonly string[]): Promise<void> {
  const holders = [];
  for (const key of names) holders.push(await scene.holder({ key }));
  for (const key of names) await scene.passing({ key }).waits();
  for (const holder of holders) await holder.leaves();
}
