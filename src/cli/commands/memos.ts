import { counted, unsupported, visible } from '../../core/index.ts';
import type { Locks } from '../../index.ts';
import { runtimeOf } from '../../locks.ts';
import type { MemoSight } from '../../memo/state.ts';
import { command } from '../command.ts';
import { addressOf, type EngineAddress, open, sourceOf, URL_OPTION } from '../engine.ts';
import { EXIT } from '../exit.ts';
import { findLine, findMemo, memoRecord } from '../listing.ts';
import { withProgress } from '../terminal/screen.ts';
import { span, table } from '../terminal/table.ts';

/** `holdfast memo --list [prefix]`: the states of memos, and never what they keep. */
export const listMemos = command({
  name: 'memo',
  summary: '',
  takes: ['[prefix]'],
  options: { ...URL_OPTION, list: { type: 'boolean' }, json: { type: 'boolean' } },
  help: '',
  async run({ values, positionals: [prefix = ''] }) {
    const address = addressOf(values.url);
    await using locks = await open(address);
    const found = await withProgress((progress) => sights(locks, prefix, progress));
    if (values.json) for (const [key, sight] of found) console.log(memoRecord(key, sight));
    else if (found.length > 0) console.log(rows(found).join('\n'));
    else console.error(`Nothing is kept of any memo${beginning(prefix)} in ${sourceOf(address)}.`);
    return EXIT.OK;
  },
});

/** `holdfast memo forget <key>`. */
export const forgetMemo = command({
  name: 'memo',
  summary: '',
  takes: ['forget', '<key>'],
  options: URL_OPTION,
  help: '',
  async run({ values, positionals: [, key] }) {
    const address = addressOf(values.url);
    await using locks = await open(address);
    const forgotten = await locks.memo(key!).forget();
    console.log(forgotten ? `Forgot what was kept of ${named(key!)}.` : nothing(key!, address));
    return forgotten ? EXIT.OK : EXIT.NO;
  },
});

async function sights(
  locks: Locks,
  prefix: string,
  progress: (looked: number) => void,
): Promise<(readonly [key: string, sight: MemoSight])[]> {
  const { engine } = runtimeOf(locks, 'memo --list');
  if (!engine.backend.values?.keys) throw unsupported(engine.backend, 'list what memos keep');
  const found: [string, MemoSight][] = [];
  for await (const key of engine.remembered(prefix, progress)) {
    const sight = await findMemo(locks, key, await findLine(locks, key));
    if (sight) found.push([key, sight]); // else it was over by then
  }
  return found.sort(([a], [b]) => (a < b ? -1 : 1));
}

function rows(found: Awaited<ReturnType<typeof sights>>): string[] {
  const told = found.map(([key, { state, attempts, token, since, remaining }]) => [
    key,
    state,
    token === undefined ? '-' : `${token}`,
    since === undefined ? '-' : span(since),
    remaining === undefined ? '-' : span(remaining),
    attempts === 0 ? '-' : counted(attempts, 'time'),
  ]);
  return table(['KEY', 'STATE', 'TOKEN', 'AGE', 'GONE IN', 'BEGUN WITHOUT A RESULT'], told);
}

const named = (key: string): string => visible(JSON.stringify(key));
const beginning = (prefix: string): string => prefix && ` whose key begins with ${named(prefix)}`;
const nothing = (key: string, address: EngineAddress): string =>
  `Nothing is kept of ${named(key)} in ${sourceOf(address)}.`;
