import { ENGINES } from '../kit/engines.ts';

/** An engine refuses options that name no server, or what is no client. */
const refusals = Object.fromEntries(
  Object.keys(ENGINES).map((name) => [`./${name}`, `isLockError(thrown(() => it.${name}({})))`]),
);

/** What makes the modules of the package do something: every subpath, with JavaScript that is true. `it` is the module. */
export const USES: Readonly<Record<string, string>> = {
  ...refusals,
  '.': `(await take(it.createLocks(memory()))) === 1n`,
  './backend': `it.admitted([{ units: 1, capacity: 2 }, { units: 2, capacity: 2 }]) === 1`,
  './memory': `(await take(createLocks(it.memory()))) === 1n`,
  './file': `(await take(createLocks(it.file({ path: 'used.db' })))) > 0n`,
  './register': `isLockError(thrown(() => it.register({})))`,
  './redis-plain': `isLockError(thrown(() => it.plainRedis({})))`,
  './redlock': `(await take(createLocks(it.quorum([memory(), memory(), memory()])))) > 0n`,
  './connect': `(await take(await it.connect('memory:'))) === 1n`,
  './decorator': `(await it.locked({ key: 'k', locks: createLocks(memory()) }, async () => it.currentLease().token)()) === 1n`,
  './nestjs': `it.LocksModule.forRoot({ backend: memory() }).module === it.LocksModule`,
  './nestjs/schedule': `typeof it.OnceCron('* * * * *', 'job') === 'function'`,
  './idempotency': `typeof it.idempotency(createLocks(memory()), { scope: () => 'all' }).express === 'function'`,
  './cron': `typeof it.cronerTask(createLocks(memory()), 'job', () => {}) === 'function'`,
  './stock': `(await it.createStock(it.memoryStock()).create('cup', { units: 3 })) !== undefined`,
  './otel': `typeof it.instrument(createLocks(memory())) === 'object'`,
  './ui': `typeof it.uiHandler(createLocks(memory())) === 'function' && isLockError(thrown(() => it.uiHandler({})))`,
  './fence': `it.memoryFence().write(2n, () => true) && isLockError(thrown(() => it.memoryFence().claim(-1n)))`,
  './transaction': `isLockError(await rejected(it.lockRow({}, { table: 't', where: { id: 1 } })))`,
  './testing': `it.manualClock().now() >= 0`,
};

/** What the uses stand on. It needs `createLocks`, `isLockError` and `memory`. */
const GIVEN = `
const take = async (locks) => {
  const token = await locks.mutex('order').run((lease) => lease.token);
  await locks.close();
  return token;
};
const thrown = (act) => { try { act(); } catch (error) { return error; } };
const rejected = (made) => made.then(() => undefined, (error) => error);
const wrong = [];
const use = async (name, works) => {
  if (!(await works().catch((error) => console.error(error)))) wrong.push(name);
};
`;

const body = Object.entries(USES).map(([path, works], i) => `await use('${path}', async (it = m${i}) => ${works});`);
const end = `console.log(wrong.length === 0 ? 'all' : wrong.join());`;
const each = (load: (name: string, i: number) => string): string =>
  Object.keys(USES)
    .map((path, i) => load(`holdfast${path.slice(1)}`, i))
    .join('\n');

/** A program that uses every subpath, and prints `all`. */
export const esm = `import { createLocks, isLockError } from 'holdfast';
import { memory } from 'holdfast/memory';
${each((name, i) => `import * as m${i} from '${name}';`)}
${GIVEN}${body.join('\n')}\n${end}`;

export const commonJs = `const { createLocks, isLockError } = require('holdfast');
const { memory } = require('holdfast/memory');
${each((name, i) => `const m${i} = require('${name}');`)}
${GIVEN}(async () => {\n${body.join('\n')}\n${end}\n})();`;
