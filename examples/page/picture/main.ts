/** Writes the moving pictures of the READMEs: a round of the page, as it happened. `npm run prove -- picture` */
import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { en } from '../app/words/en.ts';
import type { Words } from '../app/words/words.ts';
import { zh } from '../app/words/zh.ts';
import type { Round } from '../record.ts';
import { Rounds } from '../rounds.ts';
import { DEFINITIONS, drawSide } from './side.ts';
import { STYLE } from './style.ts';
import { Tracks } from './track.ts';

/** How long the rush is shown, and how long its end. ms. */
const RUSH = 9_000;
const END = 4_000;
const GAP = 16;
const MARGIN = 10;

export function draw(round: Round, words: Words): string {
  const tracks = new Tracks(RUSH + END);
  const sides = [round.without, round.with];
  const ms = Math.max(...sides.map(({ happenings }) => happenings.at(-1)!.at));
  const drawn = sides.map((side) => drawSide(side, round.processes, words, tracks, RUSH / ms));
  const [first] = drawn;
  const width = 2 * first!.width + GAP + 2 * MARGIN;
  const height = Math.max(...drawn.map((each) => each.height)) + 2 * MARGIN;
  const placed = drawn.map(
    ({ svg }, i) => `<g transform="translate(${MARGIN + i * (first!.width + GAP)} ${MARGIN + 40})">\n${svg}\n</g>`,
  );
  // Whoever asks for less motion sees the end.
  const moving = `@media(prefers-reduced-motion:no-preference){*{animation-duration:${RUSH + END}ms}}`;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" role="img">`,
    `<title>${words.lead}</title>`,
    `<style>${STYLE}\n${moving}\n${tracks.css()}</style>`,
    DEFINITIONS,
    `<rect class="paper" width="${width}" height="${height}" rx="14"/>`,
    ...placed,
    '</svg>\n',
  ].join('\n');
}

if (import.meta.main) {
  await using rounds = new Rounds();
  const round = await rounds.play({ scene: 'orders', strategy: 'url' });
  for (const [name, words] of [
    ['rush.svg', en],
    ['rush.zh-CN.svg', zh],
  ] as const) {
    const path = fileURLToPath(new URL(`../../../docs/${name}`, import.meta.url));
    const svg = draw(round, words);
    writeFileSync(path, svg);
    console.log(`${path}: ${Math.ceil(svg.length / 1_000)} KB`);
  }
}
