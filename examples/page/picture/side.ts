import { type Layout, layoutOf, numberOf, placesOf, WIDTH } from '../app/model/places.ts';
import { type Doing, type PersonNow, type Plan, peopleAt, planOf } from '../app/model/scene.ts';
import { verdictOf } from '../app/model/verdict.ts';
import { SHAPES } from '../app/view/shapes.ts';
import type { Words } from '../app/words/words.ts';
import type { Side } from '../record.ts';
import type { Change, Tracks } from './track.ts';

const COLOURS: Readonly<Partial<Record<Doing, string>>> = { won: 'good', wrong: 'bad', lost: 'lost' };
const TITLE = 40;
const SENTENCE = 52;

export interface Drawing {
  readonly svg: string;
  readonly width: number;
  readonly height: number;
}

/**
 * One side of a round of orders as a picture that moves by itself.
 * @param scale ms of the picture for each ms of the rush
 */
export function drawSide(side: Side, processes: number, words: Words, tracks: Tracks, scale: number): Drawing {
  const plan = planOf('orders', side);
  const layout = layoutOf(plan, processes);
  const times = [0, ...new Set(side.happenings.map(({ at }) => at))];
  const moments = times.map((at) => ({ at: at * scale, people: peopleAt(plan, at) }));
  const over = plan.ms * scale;
  const scene: Scene = { plan, layout, words, tracks, moments, over };
  const height = TITLE + layout.height + SENTENCE;
  const parts = [
    frame(scene, side, height),
    ...layout.cards.map((_, i) => card(scene, i)),
    ...layout.boxes.map(
      ({ process, x, y, width, height: tall }) =>
        `<rect class="box" x="${x}" y="${y}" width="${width}" height="${tall}" rx="8"/>` +
        `<text x="${x + 10}" y="${y + 14}" style="fill:var(--p${process})">${words.process(process)}</text>`,
    ),
    ...plan.people.map(({ who }) => car(scene, who)),
  ];
  return { svg: parts.join('\n'), width: WIDTH, height };
}

interface Scene {
  readonly plan: Plan;
  readonly layout: Layout;
  readonly words: Words;
  readonly tracks: Tracks;
  readonly moments: readonly { readonly at: number; readonly people: readonly PersonNow[] }[];
  /** When all have their answers, ms of the picture. */
  readonly over: number;
}

function frame({ words, tracks, over, layout }: Scene, side: Side, height: number): string {
  const verdict = verdictOf('orders', side);
  const { right } = verdict;
  const name = side.strategy === 'none' ? words.without.orders : words.strategy.orders[side.strategy]!.name;
  const colour = right ? 'good' : 'bad';
  const shows = (css: string, before: string): string =>
    tracks.of([
      { at: 0, css: before },
      { at: over, css },
    ]);
  const sentence = wrapped(words.sentence('orders', side.strategy, verdict)).map(
    (line, i) => `<tspan x="12" y="${layout.height + 21 + i * 17}">${line}</tspan>`,
  );
  return [
    `<rect class="panel" x="-2" y="${-TITLE}" width="${WIDTH + 4}" height="${height}" rx="12" ${shows(`stroke:var(--${colour})`, 'stroke:var(--rim)')}/>`,
    `<text class="title" x="12" y="${17 - TITLE + 8}">${name}</text>`,
    `<g ${shows('opacity:1', 'opacity:0')}><text class="mark" x="${WIDTH - 12}" y="${17 - TITLE + 8}" style="fill:var(--${colour})">${right ? words.right : words.wrong}</text>`,
    `<text class="sentence">${sentence.join('')}</text></g>`,
  ].join('\n');
}

/** Where a line may end: after a word, or after a letter of Chinese; not between a letter and its quotes or stops. */
const PIECE = /“*(?:[\u2e80-\u9fff][”，。：；？！]*|[^\s\u2e80-\u9fff“]+)\s*/g;
/** Of Latin letters; one of Chinese counts twice. */
const MOST = 50;

/** In lines that fit. */
function wrapped(text: string): string[] {
  const lines = [''];
  const size = (line: string): number => [...line].reduce((sum, letter) => sum + (letter > '\u2e80' ? 2 : 1), 0);
  for (const [piece] of text.matchAll(PIECE)) {
    if (size(`${lines.at(-1)}${piece.trimEnd()}`) > MOST) lines.push('');
    lines.push(`${lines.pop()}${piece}`);
  }
  return lines;
}

function card({ plan, layout, words, tracks, moments }: Scene, index: number): string {
  const { thing, x, width, height, slots } = layout.cards[index]!;
  const here = moments.map(({ at, people }) => ({ at, people: people.filter((each) => each.thing === thing) }));
  const look = (people: readonly PersonNow[]): string => {
    if (people.some(({ doing }) => doing === 'wrong')) return 'fill:var(--bad-soft);stroke:var(--bad)';
    if (people.some(({ doing }) => doing === 'won')) return 'fill:var(--good-soft);stroke:var(--good)';
    return 'fill:var(--soft);stroke:var(--rim)';
  };
  const inside = (people: readonly PersonNow[]) => people.filter(({ doing }) => doing === 'inside');
  const reading = (people: readonly PersonNow[]): string => {
    const free = inside(people).filter(({ left }) => left === 1).length;
    return free > 0 ? words.read('orders', free, 1) : '';
  };
  const token = (people: readonly PersonNow[]): string => {
    const held = inside(people).find((each) => each.token !== undefined)?.token;
    return held && plan.line ? words.token(held) : '';
  };
  const middle = x + width / 2;
  const of = (css: (people: readonly PersonNow[]) => string, move = true): string =>
    tracks.of(
      here.map(({ at, people }) => ({ at, css: css(people) })),
      move,
    );
  /** A text for each that it shows in turn. */
  const texts = (what: (people: readonly PersonNow[]) => string, style: string, y: number): string[] =>
    [...new Set(here.map(({ people }) => what(people)))]
      .filter(Boolean)
      .map(
        (text) =>
          `<text class="${style}" x="${middle}" y="${y}" ${of((people) => `opacity:${what(people) === text ? 1 : 0}`, false)}>${text}</text>`,
      );
  const line = layout.boxes[0]!.y - 6;
  return [
    ...(plan.line ? [`<path class="line" d="M${middle} ${layout.line - 8}V${line}"/>`] : []),
    `<rect x="${x}" y="2" width="${width}" height="${height}" rx="10" ${of(look)}/>`,
    `<text class="name" x="${x + 10}" y="19">${words.order(thing)}</text>`,
    ...(plan.line ? [`<use href="#lock" x="${x + width - 16}" y="14" ${of(lockLook(token))}/>`] : []),
    `<circle class="slot" cx="${slots[0]!.x}" cy="${slots[0]!.y}" r="13"/>`,
    ...texts(reading, 'read', height + 18),
    ...texts(token, 'token', layout.inside + 20),
  ].join('\n');
}

const lockLook =
  (token: (people: readonly PersonNow[]) => string) =>
  (people: readonly PersonNow[]): string =>
    `color:var(--${token(people) ? 'accent' : 'lost'})`;

function car({ plan, layout, tracks, moments }: Scene, who: string): string {
  const states = moments.map(({ at, people }) => ({
    at,
    person: people.find((each) => each.who === who)!,
    place: placesOf(plan, layout, people).get(who)!,
  }));
  const changes = (css: (state: (typeof states)[number]) => string): Change[] =>
    states.map((state) => ({ at: state.at, css: css(state) }));
  const round = (n: number): number => Math.round(n * 10) / 10;
  const body = changes(({ place, person: { doing, process } }) => {
    const colour = COLOURS[doing] ?? `p${process}`;
    return `transform:translate(${round(place.x)}px,${round(place.y)}px);fill:var(--${colour})`;
  });
  const badge = (doing: Doing, id: string): string => {
    const shown = changes(({ person }) => `opacity:${person.doing === doing ? 1 : 0}`);
    const ever = shown.some(({ css }) => css === 'opacity:1');
    return ever ? `<use href="#${id}" ${tracks.of(shown, false)}/>` : '';
  };
  const number = numberOf({ who });
  return `<g ${tracks.of(body)}><use href="#car"/><text class="number" y="3">${number}</text>${badge('won', 'tick')}${badge('wrong', 'cross')}</g>`;
}

/** What is drawn often. */
export const DEFINITIONS = `<defs>
<g id="car"><path d="${SHAPES.car}"/><circle class="wheel" cx="-6" cy="6" r="2.7"/><circle class="wheel" cx="6" cy="6" r="2.7"/></g>
<g id="lock"><path d="${SHAPES.closed}" fill="none" stroke="currentColor" stroke-width="2"/><rect x="-5.5" y="-1" width="11" height="8" rx="2" fill="currentColor"/></g>
${(['tick', 'cross'] as const).map((name) => `<g id="${name}"><circle cx="9" cy="-9" r="5.5" class="${name}"/><path d="${SHAPES[name]}" transform="translate(9 -9)" class="stroke"/></g>`).join('\n')}
</defs>`;
