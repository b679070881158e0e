import { posix } from 'node:path';
import { parseAst } from 'vitest/node';

/** What is built on the lock and stands beside it, in folders under products: the lock knows none of it. */
export const PRODUCTS = ['cli', 'stock', 'testing', 'torture', 'ui'];

/** Who may import whom, by the first folder (or file) under src or products. Everyone may import their own. */
export const LAYERS: Readonly<Record<string, readonly string[]>> = {
  core: [],
  primitives: ['core'],
  backends: ['core'],
  fence: ['core', 'transaction', 'backends'],
  transaction: ['core', 'memo'],
  testing: ['core', 'locks'],
  leading: ['core', 'primitives'],
  memo: ['core', 'leading'],
  once: ['core', 'primitives', 'leading', 'memo'],
  waits: ['core'],
  locks: ['core', 'primitives', 'leading', 'memo', 'once', 'waits'],
  backend: ['core'],
  index: ['core', 'primitives', 'leading', 'memo', 'once', 'waits', 'locks'],
  decorator: ['core', 'primitives', 'memo', 'locks', 'index'],
  // Like fence, it speaks to the caller's own Redis client or SQL connection, by the ports that are there for that.
  stock: ['core', 'primitives', 'locks', 'transaction', 'backends'],
  connect: ['core', 'primitives', 'locks', 'index', 'backends'],
  torture: ['core', 'primitives', 'locks', 'index', 'connect', 'testing'],
  ui: ['core', 'memo', 'once', 'locks', 'waits'],
  cli: ['core', 'primitives', 'memo', 'locks', 'index', 'connect', 'torture', 'ui'],
  cron: ['core', 'once', 'locks'],
  idempotency: ['core', 'memo', 'locks'],
  otel: ['core', 'once', 'locks'],
  nestjs: ['core', 'leading', 'once', 'locks', 'index', 'decorator', 'connect', 'cron', 'idempotency'],
};

/** The rooms of core, from the ground up: each may import those before it, types included. */
const ROOMS = ['contract', 'engine', 'queue'];

/** Backends know `core` and what they share, of which `register` is an engine, too; Redlock is the quorum of several Redis, and nothing else. Layouts of others on Redis share its clients. */
const COMPOSED: Readonly<Record<string, readonly string[]>> = {
  redlock: ['quorum', 'redis'],
  'redis-foreign': ['redis'],
  'redis-plain': ['redis', 'redis-foreign'],
  redisson: ['redis', 'redis-foreign'],
};

/** They get time, timers and randomness from a `Clock`… */
const CLOCKED = ['core', 'primitives', 'leading', 'memo', 'once', 'waits', 'backends'];
/** …which is this file. The machine is the engine of the file backend, so its clock is asked there. */
const CLOCKS = ['src/core/contract/clock.ts', 'src/backends/file/machine.ts'];
const TIMERS = ['setTimeout', 'setInterval', 'setImmediate'];
const SOURCES = ['Date.now', 'Math.random', 'performance.now', 'process.hrtime', 'AbortSignal.timeout'];

/** These load drivers, when they are needed. */
const LOADERS = ['connect', 'cli'];
/** What a folder is made for, and whose users have it. */
const HOSTS: Readonly<Record<string, readonly string[]>> = {
  'src/otel': ['@opentelemetry/api'],
  'src/nestjs': ['@nestjs/common', '@nestjs/core'],
  'src/nestjs/schedule': ['@nestjs/common', '@nestjs/core', '@nestjs/schedule'],
  // Built into one script; the package needs none of it.
  'products/ui/page': ['preact', 'preact/hooks', '@preact/signals'],
  'products/ui/page/kit': ['preact'],
};
/** All that core may know of Node. */
const CORE_BUILTINS = ['node:async_hooks', 'node:crypto', 'node:diagnostics_channel', 'node:os'];

const LONGEST_FILE = 250;
const LONGEST_CLASS = 150;
const INDEX_OF_A_BACKEND = /^src\/backends\/[\w-]+\/index\.ts$/;

/** What `node:sqlite` has learnt since the oldest Node that package.json allows (https://nodejs.org/api/sqlite.html). */
const NEW_IN_SQLITE = [
  'timeout',
  'readBigInts',
  'returnArrays',
  'isOpen',
  'isTransaction',
  'location',
  'columns',
  'backup',
];

interface Import {
  readonly from: string;
  readonly kind: 'value' | 'type' | 'lazy';
}

type Node = { readonly type: string; readonly start: number; readonly end: number } & Readonly<Record<string, unknown>>;

export function* nodes(value: unknown): Generator<Node> {
  if (Array.isArray(value)) for (const item of value) yield* nodes(item);
  else if (value && typeof value === 'object' && 'type' in value) {
    yield value as Node;
    for (const child of Object.values(value)) yield* nodes(child);
  }
}

/** `a.b` for a member expression of two names, `a` for a name, '' for anything else. */
function name(node: unknown): string {
  const { type, name: own, object, property, computed } = node as Node;
  if (type === 'Identifier') return own as string;
  return type === 'MemberExpression' && !computed
    ? `${name(object)}.${name(property)}`.replace(/^globalThis\./, '')
    : '';
}

export function imported(node: Node): Import | undefined {
  const from = (node.source as { value?: unknown } | null | undefined)?.value;
  if (typeof from !== 'string') return undefined;
  if (node.type === 'ImportExpression') return { from, kind: 'lazy' };
  const type = node.type === 'TSImportType' || node.importKind === 'type' || node.exportKind === 'type';
  return { from, kind: type ? 'type' : 'value' };
}

/** src/backends/redis/scripts.ts → ['backends', 'redis'] */
function place(path: string): [layer: string, part: string] {
  const [, layer = '', part = ''] = path.replace(/\.\w+$/, '').split('/');
  return [layer, part];
}

function wrongArrow(path: string, { from, kind }: Import): string | undefined {
  const [layer, part] = place(path);
  const arrow = `imports ${from}`;
  if (from.startsWith('node:')) {
    const timers = from.startsWith('node:timers');
    if (timers && CLOCKS.includes(path)) return undefined;
    if (timers && CLOCKED.includes(layer)) return `${arrow}: timers come from the Clock`;
    const known = layer !== 'core' || CORE_BUILTINS.includes(from);
    return known ? undefined : `${arrow}: core knows of Node only ${CORE_BUILTINS.join(', ')}`;
  }
  if (!from.startsWith('.')) {
    if (LOADERS.includes(layer) && kind !== 'value') return undefined;
    if (HOSTS[posix.dirname(path)]?.includes(from)) return undefined;
    return `${arrow}: only ${LOADERS.join(' and ')} load packages, and only when they need them`;
  }
  const [otherLayer, otherPart] = place(posix.join(posix.dirname(path), from));
  if (otherLayer !== layer) {
    const allowed = LAYERS[layer]!;
    return allowed.includes(otherLayer)
      ? undefined
      : `${arrow}: ${layer} may import ${['itself', ...allowed].join(', ')}`;
  }
  if (path === 'src/core/index.ts') return undefined;
  if (layer === 'core') {
    const known = ROOMS.slice(0, ROOMS.indexOf(part) + 1);
    return known.includes(otherPart) ? undefined : `${arrow}: ${part} may import ${known.join(', ')}`;
  }
  if (layer !== 'backends' || otherPart === part || COMPOSED[part]?.includes(otherPart)) return undefined;
  if (['shared', 'register'].includes(otherPart)) return undefined;
  return `${arrow}: a backend knows core, backends/shared and the register only, never another backend`;
}

/** The time, timers and randomness that a piece of code takes from elsewhere than the Clock. */
export function unclocked(node: Node): string | undefined {
  const called = node.type === 'CallExpression' || node.type === 'NewExpression' ? name(node.callee) : '';
  if (called === 'Date' && node.type === 'NewExpression' && (node.arguments as unknown[]).length === 0)
    return 'new Date()';
  if (node.type === 'CallExpression' && TIMERS.includes(called)) return `${called}(`;
  // Also when it is only mentioned: passed on, it is called elsewhere.
  if (node.type === 'MemberExpression' && [...SOURCES, ...TIMERS].includes(name(node))) return name(node);
  return undefined;
}

/** What a piece of code wants of SQLite that the oldest Node does not have. */
function tooNew(node: Node): string | undefined {
  if (node.type === 'Identifier' && NEW_IN_SQLITE.includes(node.name as string)) return `${node.name}`;
  const { raw = node.value } = (node.value ?? {}) as { raw?: unknown }; // of a template, of a literal
  return /\?\d/.exec(typeof raw === 'string' ? raw : '')?.[0];
}

/**
 * Where clients take what they send as arguments, and where the list is short by its nature. V8 puts arguments on the stack, which
 * ends at some 120,000 of them.
 */
const SPREADS: Readonly<Record<string, string>> = {
  'src/backends/redis/ioredis.ts': 'the client takes arguments; the core bounds what one request has',
  'products/stock/stores/sql.ts': 'the parameters of one statement',
  'products/stock/stores/statements.ts': 'the parameters of one statement',
};

/** It stands there, item by item. */
const isShort = (list: unknown): boolean => {
  const { type, elements, consequent, alternate } = list as Node;
  if (type === 'ConditionalExpression') return isShort(consequent) && isShort(alternate);
  return type === 'ArrayExpression' && !(elements as (Node | null)[]).some((each) => each?.type === 'SpreadElement');
};

/** The calls that get the items of a list as their arguments, other than those of a rest parameter, which came as arguments. */
export function spreadLists(path: string, tree: readonly Node[], text: string): string[] {
  if (path in SPREADS) return [];
  const rest = new Set(tree.filter(({ type }) => type === 'RestElement').map(({ argument }) => name(argument)));
  return tree
    .filter(({ type }) => type === 'CallExpression' || type === 'NewExpression')
    .flatMap((call) => call.arguments as Node[])
    .filter(({ type, argument }) => type === 'SpreadElement' && !rest.has(name(argument)) && !isShort(argument))
    .map(({ start, end }) => `spreads ${text.slice(start, end)} into arguments, which fails for a long list`);
}

/** A class that is too long, by its name. */
function longClass({ type, start, end, id }: Node, text: string): string | undefined {
  if (type !== 'ClassDeclaration' && type !== 'ClassExpression') return undefined;
  const lines = text.slice(start, end).split('\n').length;
  if (lines <= LONGEST_CLASS) return undefined;
  return `has ${id ? name(id) : 'a class'} of ${lines} lines; more than ${LONGEST_CLASS} are more than one idea`;
}

/** What is wrong with a file, a line each. `path` begins with `src/` or `products/`. */
export function violations(path: string, text: string): string[] {
  const [layer] = place(path);
  const folder = PRODUCTS.includes(layer) ? 'products' : 'src';
  if (!(layer in LAYERS) || !path.startsWith(`${folder}/`))
    return [`${path} is in no layer; in ${folder} there are ${Object.keys(LAYERS).join(', ')}`];
  const lines = text.trimEnd().split('\n');
  const found = new Set<string>();
  if (lines.length > LONGEST_FILE && !/^\/\/ Generated /.test(text)) {
    found.add(`has ${lines.length} lines; more than ${LONGEST_FILE} are more than one idea`);
  }
  if (path.endsWith('.css')) return [...found].map((what) => `${path} ${what}`);
  const program = parseAst(text, { lang: path.endsWith('x') ? 'tsx' : 'ts' });
  if (INDEX_OF_A_BACKEND.test(path) && program.body.some(({ type }) => !type.startsWith('Export')))
    found.add('is the index of a backend, which only exports; the class is in backend.ts');
  const tree = [...nodes(program)];
  for (const spread of spreadLists(path, tree, text)) found.add(spread);
  const hasSqlite = tree.some((node) => imported(node)?.from === 'node:sqlite');
  for (const node of tree) {
    const each = imported(node);
    const wrong = each && wrongArrow(path, each);
    if (wrong) found.add(wrong);
    const long = longClass(node, text);
    if (long) found.add(long);
    const source = CLOCKED.includes(layer) && !CLOCKS.includes(path) ? unclocked(node) : undefined;
    if (source) found.add(`uses ${source}: time, timers and randomness come from the Clock`);
    const young = hasSqlite ? tooNew(node) : undefined;
    if (young) found.add(`uses ${young}, which SQLite has only in a newer Node than package.json asks for`);
  }
  return [...found].map((what) => `${path} ${what}`);
}
