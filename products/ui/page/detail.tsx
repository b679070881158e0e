import { Fragment } from 'preact';
import { mostOf } from '../../../src/core/contract/extremes.ts';
import type { Event, Memo, Person, Who } from '../wire.ts';
import { lastArgument } from './shell.ts';
import {
  dismiss,
  dismissed,
  elapsed,
  going,
  number,
  query,
  releasing,
  show,
  snapshot,
  t,
  time,
  toggleLine,
} from './state.ts';
import { asWords, For, Going, Name } from './text.tsx';
import type { Word } from './words/en.ts';

function Remaining({ who }: { who: Who }) {
  if (who.left === null) return <>{t('bySession')}</>;
  const left = who.left - elapsed.value;
  return <>{left > 0 ? t('expires', { left: time(left) }) : t('maybeRenewed')}</>;
}

function One({ who, holds, place }: { who: Person; holds: boolean; place: number }) {
  const now = snapshot.value;
  const key = query.value.key;
  return (
    <li class={holds ? 'holder' : 'waiter'}>
      <span class="place">{place}</span>
      <div>
        <p>
          <Name text={who.label} />
        </p>
        <p class="soft">
          {asWords(who.as)}
          {holds && who.as === 'exclusive' && ` · ${t('token')} ${who.token}`}
        </p>
        <p class="soft">
          <For who={who} /> · <Remaining who={who} />
          {who.trace !== null && (
            <>
              {' · '}
              <a href={who.trace} target="_blank" rel="noopener noreferrer">
                {t('trace')}
              </a>
            </>
          )}
        </p>
      </div>
      {holds && now?.mayRelease && key !== undefined && (
        <button
          type="button"
          class="danger"
          onClick={() => {
            releasing.value = { key, label: who.label, token: who.token };
          }}
        >
          {t('releaseButton')}
        </button>
      )}
    </li>
  );
}

const STATES = {
  absent: 'memoAbsent',
  running: 'memoRunning',
  kept: 'memoKept',
  failed: 'memoFailed',
  poisoned: 'memoPoisoned',
} as const satisfies Record<Memo['state'], Word>;

/** The state of a memo, never its value. */
export function Remembered({ memo: { state, attempts, token, since, left } }: { memo: Memo }) {
  return (
    <p class="memo">
      <strong>{t(STATES[state])}</strong>
      {token !== null && ` · ${t('token')} ${token}`}
      {since !== null && (
        <>
          {' · '}
          {t('memoSince')} <Going ms={since} />
        </>
      )}
      {left !== null && ` · ${t('memoLeft', { left: time(Math.max(0, left - elapsed.value)) })}`}
      {attempts > 0 && ` · ${t('memoTries', { n: number(attempts) })}`}
    </p>
  );
}

function People({
  title,
  who,
  of,
  holds,
  after,
}: {
  title: string;
  who: readonly Person[];
  of: number;
  holds: boolean;
  after: number;
}) {
  if (who.length === 0) return null;
  return (
    <>
      <h3>
        {title} <span class="soft">{number(of)}</span>
      </h3>
      <ol class="people">
        {who.map((each, i) => (
          <One key={each.token} who={each} holds={holds} place={after + i + 1} />
        ))}
      </ol>
      {of > who.length && <p class="soft">{t('notListed', { n: number(of - who.length) })}</p>}
    </>
  );
}

/** The details of the open key: its holders, and its waiters in their order. */
export function Detail() {
  const now = snapshot.value;
  const { key, lines } = query.value;
  if (key === undefined || !now) return null;
  const detail = now.detail?.key === key ? now.detail : undefined;
  const free = detail && detail.holding === 0 && detail.waiting === 0;
  return (
    <section class="detail-of-key" aria-label={t('key')}>
      <header>
        <h2>
          <Name text={key} />
        </h2>
        <button type="button" aria-pressed={lines.includes(key)} onClick={() => show({ lines: toggleLine(key) })}>
          {t(lines.includes(key) ? 'unpin' : 'pin')}
        </button>
        <button type="button" onClick={() => show({ key: undefined })}>
          {t('close')} <kbd>Esc</kbd>
        </button>
      </header>
      {detail?.memo && <Remembered memo={detail.memo} />}
      {free && <p class="soft">{t('free')}</p>}
      {detail && (
        <>
          <People
            title={t(detail.mark ? 'hasRunIt' : 'holdsIt')}
            who={detail.holders}
            of={detail.holding}
            holds
            after={0}
          />
          <People
            title={t('waitsForIt')}
            who={detail.waiters}
            of={detail.waiting}
            holds={false}
            after={detail.holding}
          />
        </>
      )}
      {detail && detail.holding > 0 && !now.mayRelease && (
        <p class="hint soft">
          {t('readOnlyText')} <code>{`holdfast release --force --reason '…' ${lastArgument(key)}`}</code>{' '}
          {t('releaseHint')}
        </p>
      )}
      {detail?.history && <List word="history" events={detail.history} none="noHistory" />}
    </section>
  );
}

function wordOf({ what, end }: Event): Word {
  if (what === 'granted' || what === 'left' || what === 'evicts') return what;
  if (what === 'handed') return end === 'expired' ? 'handedExpired' : end === 'evicted' ? 'handedEvicted' : 'handed';
  return end === 'evicted' ? 'evictedFrom' : end === 'lost' ? 'lostBy' : (end ?? 'ended');
}

/** The sentence of an event, with each label shown as a name. */
function Sentence({ event }: { event: Event }) {
  const parts = t(wordOf(event), { to: '\0to\0', from: '\0from\0' }).split('\0');
  return (
    <>
      {parts.map((part, i) => {
        if (i % 2 === 0) return <Fragment key={part}>{part}</Fragment>;
        return <Name key={part} text={(part === 'to' ? event.to : event.from) ?? ''} />;
      })}
    </>
  );
}

function List({ word, events, none }: { word: Word; events: readonly Event[]; none?: Word }) {
  if (events.length === 0 && !none) return null;
  return (
    <section class={`events ${word}`} aria-label={t(word)}>
      <h2>{t(word)}</h2>
      {events.length === 0 && none && <p class="soft">{t(none)}</p>}
      <ol>
        {events.map((event, i) => {
          const bad = event.end === 'expired' || event.end === 'evicted' || event.end === 'lost';
          return (
            <li key={i} class={`${event.what} ${bad ? 'bad' : ''}`}>
              <a {...going({ key: event.key })}>
                <Name text={event.key} />
              </a>
              <span class="ago soft">{t('ago', { ago: time(event.ago + elapsed.value) })}</span>
              <p>
                <Sentence event={event} />
                {event.held !== null && <span class="soft"> {t('after', { held: time(event.held) })}</span>}
                {event.why !== null && (
                  <>
                    : <Name text={event.why} />
                  </>
                )}
              </p>
            </li>
          );
        })}
      </ol>
    </section>
  );
}

/** The latest losses, until the reader dismisses them. */
export function Losses() {
  const losses = (snapshot.value?.losses ?? []).filter(({ at }) => at > dismissed.value);
  if (losses.length === 0) return null;
  return (
    <section class="band bad">
      <List word="losses" events={losses} />
      <button type="button" onClick={() => dismiss(mostOf(losses.map(({ at }) => at)))}>
        {t('dismiss')}
      </button>
    </section>
  );
}

/** All recent changes. Changes of a busy key push out all others within seconds. */
export function Events() {
  const now = snapshot.value;
  if (!now || now.look.age === null) return null;
  return <List word="events" events={now.events} none="noEvents" />;
}
