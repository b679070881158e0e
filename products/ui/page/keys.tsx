import { signal } from '@preact/signals';
import { FIRST_ROWS, type Query, type Show, type Sort } from '../query.ts';
import type { Row } from '../wire.ts';
import { cursor, going, number, query, show, snapshot, t } from './state.ts';
import { Count, For, Going, Name, TimeLeft } from './text.tsx';
import type { Word } from './words/en.ts';

const SHOWN: readonly (readonly [Show, Word])[] = [
  ['all', 'all'],
  ['contested', 'onlyContested'],
  ['held', 'onlyHeld'],
];
/** How many groups are shown until the user asks for all. */
const SHOWN_GROUPS = 12;
const allGroups = signal(false);

/** The shorter prefixes, such as `order:` and `order:42:`. Each is a link back. */
const steps = (prefix: string): string[] =>
  [...prefix.matchAll(/[:/]/g)].map(({ index }) => prefix.slice(0, index + 1)).filter((step) => step !== prefix);

function Groups() {
  const now = snapshot.value;
  const { in: inside } = query.value;
  if (!now || (now.groups.length === 0 && inside === '')) return null;
  const groups = allGroups.value ? now.groups : now.groups.slice(0, SHOWN_GROUPS);
  return (
    <nav class="groups" aria-label={t('groups')}>
      {inside !== '' && (
        <>
          <a {...going({ in: '', rows: FIRST_ROWS })}>{t('allKeys')}</a>
          {steps(inside).map((step) => (
            <a key={step} {...going({ in: step, rows: FIRST_ROWS })}>
              › <Name text={step} />
            </a>
          ))}
          <span class="here">
            › <Name text={inside} />
          </span>
        </>
      )}
      {groups.map(({ prefix, keys, waiting }) => (
        <a key={prefix} class="group" {...going({ in: prefix, rows: FIRST_ROWS })}>
          <Name text={prefix.slice(inside.length)} /> <span class="soft">{number(keys)}</span>
          {waiting > 0 && <span class="waits">{t('waitingNow', { n: number(waiting) })}</span>}
        </a>
      ))}
      {now.groups.length > SHOWN_GROUPS && (
        <button
          type="button"
          class="plain"
          onClick={() => {
            allGroups.value = !allGroups.value;
          }}
        >
          {allGroups.value ? t('fewerGroups') : t('moreGroups', { n: number(now.groups.length - SHOWN_GROUPS) })}
        </button>
      )}
    </nav>
  );
}

function Tools() {
  const { q, show: shown } = query.value;
  return (
    <div class="tools">
      <input
        id="search"
        type="search"
        placeholder={`${t('search')}  /`}
        aria-label={t('search')}
        value={q}
        onInput={(event) => show({ q: event.currentTarget.value, rows: FIRST_ROWS }, true)}
      />
      <fieldset class="choice">
        {SHOWN.map(([value, word]) => (
          <button
            key={value}
            type="button"
            aria-pressed={shown === value}
            onClick={() => show({ show: value, rows: FIRST_ROWS })}
          >
            {t(word)}
          </button>
        ))}
      </fieldset>
    </div>
  );
}

const COLUMNS: readonly (readonly [Sort | undefined, Word, string])[] = [
  ['key', 'key', 'key'],
  ['holder', 'heldBy', 'by'],
  [undefined, 'token', 'token number'],
  ['held', 'heldFor', 'for number'],
  ['left', 'expiresIn', 'left number'],
  ['waiting', 'waitingHere', 'waiting number'],
  ['trouble', 'longestHere', 'wait number'],
];

function Head() {
  const { sort, up } = query.value;
  return (
    <tr>
      {COLUMNS.map(([name, word, kind]) => {
        if (!name)
          return (
            <th key={word} class={kind} scope="col">
              {t(word)}
            </th>
          );
        const sorted = sort === name ? (up ? 'descending' : 'ascending') : undefined;
        const change: Partial<Query> = { sort: name, up: sort === name ? !up : false };
        return (
          <th key={word} class={kind} scope="col" aria-sort={sorted}>
            <button type="button" onClick={() => show(change)}>
              {t(word)}
              <span class="arrow">{sorted ? (up ? '▴' : '▾') : ''}</span>
            </button>
          </th>
        );
      })}
    </tr>
  );
}

function One({ row }: { row: Row }) {
  const { key, holder, holders, waiting, wait, mark } = row;
  const open = query.value.key === key;
  const here = cursor.value === key;
  return (
    <tr
      class={`${open ? 'open' : ''} ${here ? 'here' : ''} ${waiting > 0 ? 'contested' : ''}`}
      onClick={(event) => {
        // A click that ends a selection of text must not open the row.
        if ((event.target as Element).closest('a') || getSelection()?.toString()) return;
        show({ key: open ? undefined : key });
      }}
    >
      <th class="key" scope="row">
        <a {...going({ key: open ? undefined : key })} data-key={key} aria-current={open ? 'true' : undefined}>
          <Name text={key} />
        </a>
      </th>
      <td class="by">
        {holder ? <Name text={holder.label} /> : <span class="soft">{t('nobody')}</span>}
        {mark && <span class="soft suffix"> {t('hasRun')}</span>}
        {holders > 1 && <span class="soft suffix"> {t('andMore', { n: number(holders - 1) })}</span>}
      </td>
      <td class="token number">{holder?.as === 'exclusive' ? holder.token : <span class="soft">–</span>}</td>
      <td class="for number" data-label={t('heldFor')}>
        {holder && !mark && <For who={holder} />}
      </td>
      <td class="left number" data-label={t('expiresIn')}>
        {holder && <TimeLeft ms={holder.left} />}
      </td>
      <td class="waiting number" data-label={t('waitingHere')}>
        <Count of={waiting} />
      </td>
      <td class="wait number" data-label={t('longestHere')}>
        {wait !== null && <Going ms={wait} />}
      </td>
    </tr>
  );
}

function Empty() {
  const { q, in: inside, show: shown } = query.value;
  const filtered = q !== '' || inside !== '' || shown !== 'all';
  return (
    <div class="empty">
      <strong>{t(filtered ? 'noMatch' : 'empty')}</strong>
      {filtered ? (
        <p>
          <button type="button" onClick={() => show({ q: '', in: '', show: 'all', rows: FIRST_ROWS })}>
            {t('clear')}
          </button>
        </p>
      ) : (
        <p class="soft">{t('emptyText')}</p>
      )}
    </div>
  );
}

export function Keys() {
  const now = snapshot.value;
  if (!now || now.look.state === 'unable') return null;
  const { rows, found } = now;
  const nothing = found === 0 && now.look.age !== null;
  return (
    <section class="keys" aria-label={t('keys')}>
      <Tools />
      <Groups />
      {nothing ? (
        <Empty />
      ) : (
        <table>
          <thead>
            <Head />
          </thead>
          <tbody>
            {rows.map((row) => (
              <One key={row.key} row={row} />
            ))}
          </tbody>
        </table>
      )}
      {found > rows.length && (
        <p class="more">
          <span class="soft">{t('shown', { shown: number(rows.length), found: number(found) })}</span>
          {rows.length < 1_000 && (
            <button type="button" onClick={() => show({ rows: query.value.rows + 200 }, true)}>
              {t('more')}
            </button>
          )}
        </p>
      )}
    </section>
  );
}
