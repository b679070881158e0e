/**
 * What stands for `vitest` where mutants run: the tests of all files are taken down once, and then run one by one, as often as is
 * needed, in a process that stays. Of vitest itself it has `expect`.
 */
import { format } from 'node:util';
import { expect as ofVitest } from '../../node_modules/vitest/dist/index.js';

type Body = (...values: never[]) => unknown;
interface Options {
  readonly concurrent?: boolean;
}

class Skipped extends Error {}

export interface Suite {
  readonly name: string;
  readonly parent: Suite | undefined;
  readonly before: (() => unknown)[];
  readonly after: (() => unknown)[];
  readonly beforeEach: (() => unknown)[];
  readonly afterEach: (() => unknown)[];
}

export interface Taken {
  readonly name: string;
  readonly suite: Suite;
  /** Beside others of its file. */
  readonly concurrent: boolean;
  run(): Promise<void>;
}

const made = (name: string, parent?: Suite): Suite => ({
  ...{ name, parent, before: [], after: [], beforeEach: [], afterEach: [] },
});
let suite = made('');
let taken: Taken[] = [];

/** The tests of one file; undefined if it needs more than this module and Node can give, such as fake timers or decorators. */
export async function take(file: string, load: () => Promise<unknown>): Promise<readonly Taken[] | undefined> {
  suite = made(file);
  taken = [];
  try {
    await load();
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
  return taken;
}

/** From the outermost inwards. */
export const suitesOf = (inner: Suite | undefined): Suite[] => (inner ? [...suitesOf(inner.parent), inner] : []);

const filled = (name: string, values: readonly unknown[]): string => {
  let next = 0;
  return name
    .replace(/%[sijdfo]/g, (place) => format(place, values[next++]))
    .replace(/\$([\w.]+)/g, (whole, path: string) => {
      const found = path.split('.').reduce<unknown>((of, part) => (of as Record<string, unknown>)?.[part], values[0]);
      return found === undefined ? whole : String(found);
    });
};

/** The body may stand before its options or behind. */
const bodyOf = (rest: readonly unknown[]): Body => rest.find((each) => typeof each === 'function') as Body;

const context = {
  skip(): never {
    throw new Skipped();
  },
};

function add(name: string, body: () => unknown, rest: readonly unknown[] = []): void {
  const concurrent = rest.some((each) => (each as Options).concurrent === true);
  const own = suite;
  const run = async (): Promise<void> => {
    const suites = suitesOf(own);
    try {
      for (const { beforeEach } of suites) for (const each of beforeEach) await each();
      await body();
    } catch (error) {
      if (!(error instanceof Skipped)) throw error;
    } finally {
      for (const { afterEach } of suites.toReversed()) for (const each of afterEach.toReversed()) await each();
    }
  };
  taken.push({
    name: [
      ...suitesOf(own)
        .map((each) => each.name)
        .slice(1),
      name,
    ].join(' > '),
    suite: own,
    concurrent,
    run,
  });
}

type Cases = readonly unknown[];
const each =
  (register: (name: string, body: () => unknown, rest?: readonly unknown[]) => void) =>
  (cases: Cases) =>
  (name: string, ...rest: unknown[]): void => {
    for (const one of cases) {
      const values = Array.isArray(one) ? one : [one];
      register(filled(name, values), () => (bodyOf(rest) as (...all: unknown[]) => unknown)(...values, context), rest);
    }
  };

const nothing = (): void => {};
const registerTest = (name: string, ...rest: [Options | Body, ...unknown[]]): void =>
  add(name, () => (bodyOf(rest) as (all: unknown) => unknown)(context), rest);
function registerSuite(name: string, ...rest: unknown[]): void {
  const outer = suite;
  suite = made(name, outer);
  bodyOf(rest)();
  suite = outer;
}
const skips = (register: (name: string, ...rest: never[]) => void) => (without: unknown) =>
  without ? Object.assign(nothing, { each: () => nothing }) : register;

/** As `each`, with a case as it is, and the context behind it. */
const cases =
  (all: Cases) =>
  (name: string, ...rest: unknown[]): void => {
    for (const one of all)
      add(filled(name, [one]), () => (bodyOf(rest) as (...all: unknown[]) => unknown)(one, context), rest);
  };

const plain = Object.assign(registerTest, { each: each(add), for: cases, skip: nothing });
/** One at a time, whatever they say. */
export const test = Object.assign(plain, { concurrent: plain, skipIf: skips(plain) });
export const it = test;
const group = Object.assign(registerSuite, { each: each((name, body) => registerSuite(name, body)), skip: nothing });
export const describe = Object.assign(group, { concurrent: group, skipIf: skips(group) });
export const beforeAll = (hook: () => unknown): void => void suite.before.push(hook);
export const afterAll = (hook: () => unknown): void => void suite.after.push(hook);
export const beforeEach = (hook: () => unknown): void => void suite.beforeEach.push(hook);
export const afterEach = (hook: () => unknown): void => void suite.afterEach.push(hook);

/** As vitest's `expect.poll`: again and again, for a second. */
const poll = (look: () => unknown, { timeout = 1_000, interval = 50 } = {}) =>
  new Proxy(
    {},
    {
      get:
        (_, matcher: string) =>
        async (...values: unknown[]) => {
          for (const end = performance.now() + timeout; ; await new Promise((go) => setTimeout(go, interval))) {
            try {
              const found = ofVitest(await look()) as unknown as Record<string, (...all: unknown[]) => unknown>;
              return await found[matcher]!(...values);
            } catch (error) {
              if (performance.now() > end) throw error;
            }
          }
        },
    },
  );
export const expect: typeof ofVitest = Object.assign(ofVitest, { poll }) as typeof ofVitest;
