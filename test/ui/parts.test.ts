import { describe, expect, test } from 'vitest';
import { Board } from '../../products/ui/board.ts';
import { graphOf } from '../../products/ui/deadlocks.ts';
import { judge, orderOf } from '../../products/ui/guard.ts';
import { Access, CloseUp } from '../../products/ui/listing.ts';
import { busyFor, Cost, MAX_PAUSE_MS, pauseAfter, retryAfter } from '../../products/ui/pace.ts';
import { paramsOf, queryOf } from '../../products/ui/query.ts';
import { snapshot } from '../../products/ui/view.ts';
import { memory } from '../../src/backends/memory.ts';
import { ALL_UNITS } from '../../src/core/contract/admission.ts';
import type { Origin } from '../../src/core/contract/origin.ts';
import type { QueueEntry } from '../../src/core/contract/traits.ts';
import { createLocks } from '../../src/index.ts';

const TOKEN = 'the-token';
const page = { host: '127.0.0.1:4711' };
const post = { ...page, origin: 'http://127.0.0.1:4711', 'content-type': 'application/json' };

describe('a request', () => {
  test.each([
    ['GET', `/${TOKEN}/`, page],
    ['GET', `/${TOKEN}/`, { host: 'localhost:8080' }],
    ['GET', `/${TOKEN}/`, { host: '[::1]:8080' }],
    ['GET', `/${TOKEN}/events?q=a`, { ...page, 'sec-fetch-site': 'same-origin' }],
    ['GET', `/${TOKEN}/?key=a`, { ...page, 'sec-fetch-site': 'cross-site', 'sec-fetch-dest': 'document' }],
    ['POST', `/${TOKEN}/release`, post],
    ['POST', `/${TOKEN}/release`, { ...post, 'content-type': 'application/json; charset=utf-8' }],
  ])('of our own page is answered: %s %s %j', (method, url, headers) => {
    expect(judge({ method, url, headers }, TOKEN)).toMatchObject({ allowed: true });
  });

  test.each([
    ['GET', '/', page, 'token'],
    ['GET', '/wrong/', page, 'token'],
    ['GET', `/x${TOKEN}/`, page, 'token'],
    ['GET', `/${TOKEN}/`, {}, 'host'],
    ['GET', `/${TOKEN}/`, { host: 'evil.example:4711' }, 'host'],
    ['GET', `/${TOKEN}/`, { host: '127.0.0.1.evil.example' }, 'host'],
    ['GET', `/${TOKEN}/`, { ...page, origin: 'http://evil.example' }, 'site'],
    ['GET', `/${TOKEN}/events`, { ...page, 'sec-fetch-site': 'cross-site' }, 'site'],
    ['GET', `/${TOKEN}/events`, { ...page, 'sec-fetch-site': 'same-site' }, 'site'],
    ['GET', `/${TOKEN}/page.js`, { ...page, 'sec-fetch-site': 'cross-site', 'sec-fetch-dest': 'script' }, 'site'],
    ['POST', `/${TOKEN}/release`, { ...post, origin: 'http://evil.example' }, 'site'],
    ['POST', `/${TOKEN}/release`, { ...post, origin: 'http://127.0.0.1:8080' }, 'site'],
    ['POST', `/${TOKEN}/release`, { ...post, origin: 'null' }, 'site'],
    ['POST', `/${TOKEN}/release`, { ...post, origin: undefined }, 'site'],
    ['POST', `/${TOKEN}/release`, { ...post, 'content-type': 'text/plain' }, 'site'],
    ['POST', `/${TOKEN}/release`, { ...post, 'sec-fetch-site': 'cross-site' }, 'site'],
    ['PUT', `/${TOKEN}/release`, post, 'method'],
  ])('of anybody else is refused: %s %s %j', (method, url, headers, why) => {
    expect(judge({ method, url, headers }, TOKEN)).toMatchObject({ allowed: false, why });
  });

  test.each([
    ['', 'key'],
    ['null', 'key'],
    ['{"key":1}', 'key'],
    ['{"key":"a","token":"x"}', 'token'],
    ['{"key":"a","token":7,"reason":"b"}', 'token'],
    ['{"key":"a","token":"7","reason":"  "}', 'reason'],
  ])('to release that is %j is told what is missing', (body, what) => {
    expect(orderOf(body)).toEqual({ wrong: expect.stringContaining(what) });
  });

  test('to release is taken as it stands', () => {
    expect(orderOf('{"key":"a","token":"7","reason":" b "}')).toEqual({ key: 'a', token: '7', reason: 'b' });
  });
});

test('looks take a hundredth of the time, and never come closer or wait longer than the bounds', () => {
  const pace = { least: 1_000, share: 0.01 };
  expect(pauseAfter(1, pace)).toBe(1_000);
  expect(pauseAfter(100, pace)).toBe(9_900);
  expect(pauseAfter(1e9, pace)).toBe(MAX_PAUSE_MS);
  expect(pauseAfter(1e9, { least: 200, share: undefined }), 'as often as it was asked for').toBe(200);
  expect([1, 2, 3, 9].map(retryAfter)).toEqual([500, 1_000, 2_000, 5_000]);
});

test('of several looks the cheapest says what they cost', () => {
  const pace = { least: 1_000, share: 0.01 };
  const cost = new Cost();
  cost.add(400);
  expect(cost.pause(pace), 'the first one opened connections').toBe(1_000);
  cost.add(40);
  expect(cost.pause(pace)).toBe(3_960);
  for (let i = 0; i < 5; i++) cost.add(50);
  expect(cost.pause(pace), 'what was long ago is forgotten').toBe(4_950);
});

test('what a request waited for a processor is not the engine’s time, where others show how long one takes', () => {
  expect(busyFor([5, 700])).toBe(705);
  expect(busyFor([5, 5, 5, 5, 5, 5, 5, 5, 5, 700])).toBe(65);
});

test('what a view shows is in its address, and what is wrong there is left out', () => {
  const params = 'q=a&in=order%3A&show=contested&sort=held&up=1&rows=300&key=k&line=x&line=y';
  expect(paramsOf(queryOf(new URLSearchParams(params))).toString()).toBe(params);
  expect(paramsOf(queryOf(new URLSearchParams('show=none&sort=7&rows=-1&rows=x&up=2&key='))).toString()).toBe('');
  expect(queryOf(new URLSearchParams('rows=1e9')).rows).toBe(1_000);
  const many = Array.from({ length: 99 }, (_, i) => `line=${i}`).join('&');
  expect(queryOf(new URLSearchParams(many)).lines).toHaveLength(8);
});

/** Who stands in a line: `+` holds, with the token, and ms until it expires. */
const standing = (key: string, text: string, more: Partial<QueueEntry> = {}): QueueEntry => {
  const [, held, token, remaining = '30000'] = /^(\+?)(\d+)(?:\/(\d+))?$/.exec(text)!;
  const demand = { units: ALL_UNITS, capacity: ALL_UNITS };
  const who = { label: `who-${token}`, since: 1_000, position: 0 };
  return { key, held: held === '+', token: BigInt(token!), remaining: Number(remaining), ...demand, ...who, ...more };
};

/** A board that looks at one key once a second, and finds this each time. */
function looked(...looks: readonly (readonly string[])[]): Board {
  const board = new Board();
  for (const [i, claims] of looks.entries()) look(board, { k: claims }, (i + 1) * 1_000);
  return board;
}

function look(board: Board, keys: Readonly<Record<string, readonly string[]>>, at: number): void {
  board.begin();
  for (const [key, claims] of Object.entries(keys))
    if (claims.length > 0)
      board.see(
        key,
        claims.map((claim) => standing(key, claim)),
        at,
      );
  board.finish(at, 5);
}

const view = (board: Board, query = '', now = 10_000) =>
  snapshot(
    board,
    queryOf(new URLSearchParams(query)),
    { engine: 'e', prefix: '', mayRelease: false, began: 0 },
    { now, pause: 1_000 },
  );

const told = (board: Board): string[] =>
  view(board).events.map(({ what, from, to, end }) => [what, from, to, end].filter(Boolean).join(' '));

describe('between two looks', () => {
  test.each([
    ['who got a free key is told', [[], ['+1']], ['granted who-1']],
    ['who was there at the first look did not get it just now', [['+1']], []],
    ['a hold that had time left was given back', [['+1'], []], ['over who-1 released']],
    ['a hold whose time was over expired', [['+1/500'], []], ['over who-1 expired']],
    ['a renewed hold is no news', [['+1/500'], ['+1/30000'], ['+1/20000']], []],
    [
      'who waited and holds now got it from the one before',
      [
        ['+1', '2', '3'],
        ['+2', '3'],
      ],
      ['handed who-1 who-2 released'],
    ],
    ['who waits no more is told', [['+1', '2'], ['+1']], ['left who-2']],
    [
      'readers come and go one by one',
      [
        ['+1', '+2'],
        ['+2', '+3', '+4'],
      ],
      ['granted who-4', 'handed who-1 who-3 released'],
    ],
  ] as const)('%s', (_name, looks, events) => {
    expect(told(looked(...looks))).toEqual(events);
  });

  test('a long silence says neither whether a hold expired nor when another began', () => {
    const board = new Board();
    look(board, { k: ['+1/500'] }, 1_000);
    look(board, { k: ['+2'] }, 61_000);
    expect(told(board)).toEqual(['handed who-1 who-2 ended']);
    const { rows, lanes } = view(board, 'line=k', 61_000);
    expect(rows[0]?.holder).toMatchObject({ known: 'most', for: 1_000 });
    expect(lanes[0]?.spans[0], 'it was seen last then').toMatchObject({ to: 60_000, end: 'ended' });
  });

  test('a hold that was evicted from here is called so', () => {
    const board = looked(['+1', '2']);
    board.noteEviction('other', 1n);
    board.noteEviction('k', 1n);
    look(board, { k: ['+2'] }, 2_000);
    expect(told(board)).toEqual(['handed who-1 who-2 evicted']);
  });

  test('a look that failed in the middle takes nothing away', () => {
    const board = looked(['+1']);
    board.begin();
    board.fail('gone', 2_000);
    expect(view(board)).toMatchObject({
      look: { state: 'failing', age: 9_000, failingFor: 8_000 },
      totals: { keys: 1 },
    });
  });
});

test('of very many keys the first are told in the order that is asked for, and all are counted', () => {
  const board = new Board();
  board.begin();
  for (let i = 0; i < 20_000; i++) board.see(`t${i % 3}:k${i}`, [standing('', '+1', { since: i })], 20_000);
  board.see('t0:wanted', [standing('', '+1'), standing('', '2', { since: 7 })], 20_000);
  board.finish(20_000, 5);
  const all = view(board, 'rows=3', 20_000);
  expect(all.rows.map(({ key }) => key)).toEqual(['t0:wanted', 't1:k19999', 't0:k19998']);
  expect(all).toMatchObject({ found: 20_001, totals: { keys: 20_001, holders: 20_001, waiting: 1, contested: 1 } });
  expect(all.groups.map(({ prefix, keys }) => [prefix, keys])).toEqual([
    ['t0:', 6_668],
    ['t1:', 6_667],
    ['t2:', 6_666],
  ]);
  expect(view(board, 'rows=2&sort=held&up=1', 20_000).rows.map(({ key }) => key)).toEqual(['t0:k0', 't1:k1']);
  expect(view(board, 'q=WANT').rows.map(({ key }) => key)).toEqual(['t0:wanted']);
  expect(
    view(board, 'q=who-2').rows.map(({ key }) => key),
    'by the label of who waits',
  ).toEqual(['t0:wanted']);
  expect(view(board, 'in=t2%3A').found).toBe(6_666);
  expect(view(board, 'show=contested').found).toBe(1);
});

test('keys beyond the limit are counted; those that somebody waits for are kept', () => {
  const board = new Board(10);
  board.begin();
  for (let i = 0; i < 30; i++) board.see(`k${i}`, [standing('', '+1')], 1_000);
  board.see('wanted', [standing('', '+1'), standing('', '2')], 1_000);
  board.finish(1_000, 5);
  expect(view(board)).toMatchObject({ found: 11, totals: { keys: 31, beyond: 20, contested: 1 } });
});

test('what happened is kept, but not for ever', () => {
  const board = new Board();
  look(board, { k: ['+0'] }, 1_000);
  for (let i = 1; i < 3_000; i++) look(board, { k: [`+${i}`] }, 1_000 + i);
  const { events, lanes } = view(board, 'line=k', 4_000);
  expect(events).toHaveLength(60);
  expect(lanes[0]?.spans).toHaveLength(201);
});

test('a loss is still told after any number of hand-overs and hours', () => {
  const board = looked(['+1/500'], ['+2']);
  const busy = (at: number, token: number) => look(board, { k: ['+2'], busy: [`+${token}`] }, at);
  for (let i = 1; i < 3_000; i++) busy(2_000 + i, i);
  const { events, losses } = view(board, '', 5_000);
  expect(events.filter(({ key }) => key === 'k')).toEqual([]);
  expect(losses).toMatchObject([{ key: 'k', from: 'who-1', to: 'who-2', end: 'expired', ago: 3_000 }]);
  expect(view(board, 'in=busy', 5_000).losses, 'of keys in view').toEqual([]);
  expect(view(board, '', 3_603_000).losses).toMatchObject([{ key: 'k', ago: 3_601_000 }]);
});

test.each([
  'report@2026-05-04T03:00:00.000Z#done',
  'report@2026-05-04T03:00:00.000Z',
])('the end of %s, which is left to expire, is no loss', (key) => {
  const board = new Board();
  look(board, { [key]: ['+1/500'], 'report@running': ['+2/500'] }, 1_000);
  look(board, {}, 2_000);
  expect(view(board).losses.map((event) => event.key)).toEqual(['report@running']);
  expect(told(board).sort()).toEqual(['over who-1 ended', 'over who-2 expired']);
});

describe('an engine that never answered', () => {
  test.each([
    ['is still asked', () => {}],
    ['cannot be reached', (board: Board) => board.fail('gone', 2_000)],
    [
      'cannot list its locks',
      (board: Board) => {
        board.looks = { state: 'unable', error: 'it cannot' };
      },
    ],
  ])('and %s has no figures, and nothing is said of a key', (_name, become) => {
    const board = new Board();
    become(board);
    expect(view(board, 'key=k&line=k')).toMatchObject({ totals: null, detail: null, lanes: [] });
  });

  test('and stops in the middle has figures of what it told while it is asked, and no longer', () => {
    const board = new Board();
    board.begin();
    board.see('k', [standing('k', '+1')], 1_000);
    board.looks = { state: 'never', looked: 1 };
    const query = 'key=other&line=k&line=other';
    expect(view(board, query)).toMatchObject({ totals: { keys: 1 }, detail: null, lanes: [{ key: 'k' }] });
    board.fail('gone', 2_000);
    expect(view(board, query)).toMatchObject({ totals: null });
  });
});

test('what remembers that a tick was run is nobody’s hold: it is not the longest, and comes last', () => {
  const done = 'report@2026-05-04T03:00:00.000Z#done';
  const board = new Board();
  board.begin();
  board.see(done, [standing(done, '+1', { since: 50_000 })], 60_000);
  board.see('k', [standing('k', '+1', { since: 1_000 })], 60_000);
  board.finish(60_000, 5);
  const { totals, rows } = view(board, '', 60_000);
  expect(totals).toMatchObject({ keys: 2, holders: 1, longestHold: { key: 'k' } });
  expect(rows.map(({ key, holder, mark }) => [key, holder?.label, mark])).toEqual([
    ['k', 'who-1', false],
    [done, 'who-1', true],
  ]);
  expect(view(board, 'sort=held', 60_000).rows[0]?.key).toBe('k');
});

test('who waits for whom is told over all keys, in layers, also in a circle', () => {
  const board = new Board();
  const line = (key: string, ...labels: string[]) =>
    labels.map((label, i) => standing(key, `${i === 0 ? '+' : ''}${i + 1}`, { label, since: 1_000 * labels.length }));
  board.begin();
  board.see('free', line('free', 'nobody waits for me'), 5_000);
  board.see('a', line('a', 'one', 'two'), 5_000);
  board.see('b', line('b', 'two', 'three', 'four'), 5_000);
  board.finish(5_000, 5);
  const { nodes, edges, more } = graphOf(board.views(), [], 6_000);
  expect(nodes.map(({ name, layer }) => `${layer} ${name}`)).toEqual([
    '0 one',
    '1 a',
    '2 two',
    '3 b',
    '4 three',
    '4 four',
  ]);
  expect(edges).toHaveLength(5);
  expect(edges.find(({ from }) => from.endsWith('four'))).toEqual({
    from: 'process  four',
    to: 'key b',
    for: 4_000,
    stuck: false,
  });
  expect(more).toBe(0);
  board.see('c', line('c', 'three', 'one'), 6_000);
  expect(graphOf(board.views(), [], 6_000).edges, 'a circle ends').toHaveLength(7);
  for (let i = 0; i < 100; i++) board.see(`k${i}`, line(`k${i}`, `h${i}`, `w${i}`), 6_000);
  expect(graphOf(board.views(), [], 6_000)).toMatchObject({ nodes: { length: 60 }, more: 247 });
});

describe('a deadlock', () => {
  /** One holds `a` and waits for `b`, another the other way round; a third one waits behind. */
  function inCircle(remaining = (_at: number): number => 30_000): {
    board: Board;
    lookAt: (key: 'a' | 'b', at: number) => void;
  } {
    const origin = (process: string, claim: number, ...inside: number[]): Origin => {
      return { process, claim, inside: inside.map((each) => ({ claim: each })), cut: false };
    };
    const lines = {
      a: [
        standing('a', '+1', { label: 'one', origin: origin('one', 1) }),
        standing('a', '2', { label: 'two', origin: origin('two', 2, 1) }),
        standing('a', '3', { label: 'three', origin: origin('three', 1) }),
      ],
      b: [
        standing('b', '+1', { label: 'two', origin: origin('two', 1), since: 500 }),
        standing('b', '2', { label: 'one', origin: origin('one', 2, 1) }),
      ],
    };
    const board = new Board();
    const listed = (key: 'a' | 'b', at: number): QueueEntry[] =>
      lines[key].map((standing) => ({
        ...standing,
        ...(standing.origin?.process === 'two' && { remaining: remaining(at) }),
      }));
    return { board, lookAt: (key, at) => board.see(key, listed(key, at), at) };
  }

  test('is told when its processes have given signs of life in looks at each of its keys, and not before', () => {
    const { board, lookAt } = inCircle();
    board.begin();
    lookAt('a', 1_000);
    lookAt('b', 1_001);
    board.finish(1_001, 5);
    expect(view(board).deadlocks, 'two lines that were not looked at at one moment').toEqual([]);
    expect([...board.deadlocks.keys].sort(), 'looked at closely from now on').toEqual(['a', 'b']);
    for (const [key, at] of [
      ['a', 2_500],
      ['b', 2_501],
    ] as const) {
      lookAt(key, at);
      board.deadlocks.look(board.views());
      expect(view(board).deadlocks, `${key} at ${at}`).toEqual([]);
    }
    lookAt('a', 4_000);
    board.deadlocks.look(board.views());
    const { deadlocks, graph } = view(board);
    expect(deadlocks).toHaveLength(1);
    expect(
      deadlocks[0]!.steps.map(({ label, key, held }) => `${label} ${held ? 'holds' : 'waits for'} ${key}`),
    ).toEqual(['one waits for b', 'two holds b', 'two waits for a', 'one holds a']);
    expect(deadlocks[0]!.victim, 'the hold that began last').toMatchObject({ label: 'two', key: 'b', token: '1' });
    expect(graph!.edges.filter(({ stuck }) => stuck)).toHaveLength(4);
    expect(graph!.edges, 'and one that only stands behind').toHaveLength(5);
  });

  test('of a process that gives no sign of life is not told: its claims expire', () => {
    const { board, lookAt } = inCircle((at) => (at > 2_000 ? 32_000 - at : 30_000));
    for (let at = 2_000; at < 32_000; at += 1_000) {
      lookAt('a', at);
      lookAt('b', at);
      board.deadlocks.look(board.views());
      expect(view(board).deadlocks, `${at}`).toEqual([]);
      expect(board.deadlocks.keys, 'looked at closely').toHaveLength(2);
    }
  });

  test('that cannot be looked for fails the close look alone, and no promise is left without a catch', async () => {
    const { board } = inCircle();
    board.looks = { state: 'seen', at: 0, took: 1 };
    board.deadlocks.look = () => {
      throw new RangeError('too many');
    };
    const pace = { least: 1_234, share: undefined };
    await using locks = createLocks(memory());
    const access = new Access(async () => locks);
    await access.locks();
    const around = {
      access,
      board,
      prefix: '',
      pace,
      now: () => 1,
      onChange: () => {},
      focus: () => new Set<string>(),
    };
    expect(await new CloseUp(around).once(() => true)).toBe(1_234);
  });

  test('that is over is not told any more', () => {
    const { board, lookAt } = inCircle();
    for (const at of [1_000, 3_000, 5_000]) {
      board.begin();
      lookAt('a', at);
      lookAt('b', at);
      board.finish(at, 5);
    }
    expect(view(board).deadlocks).toHaveLength(1);
    board.see('b', [standing('b', '+1', { label: 'two' })], 6_000);
    board.deadlocks.look(board.views());
    expect(view(board)).toMatchObject({ deadlocks: [], graph: null });
    expect(board.deadlocks.keys).toEqual([]);
  });
});
