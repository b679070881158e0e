import { lastArgument } from '../../core/contract/shell.ts';
import type { Memo, Who } from '../wire.ts';
import { number, t, time } from './language.ts';
import { elapsed, query, releasing, show, snapshot, toggleLine } from './state.ts';
import { asWords, For, Going, Name } from './text.tsx';
import type { Word } from './words/en.ts';

function Remaining({ who }: { who: Who }) {
  if (who.left === null) return <>{t('bySession')}</>;
  const left = who.left - elapsed.value;
  return <>{left > 0 ? t('expires', { left: time(left) }) : t('maybeRenewed')}</>;
}

function One({ who, holds, place }: { who: Who; holds: boolean; place: number }) {
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

/** The state of a memo: never what it keeps. */
function Remembered({ memo: { state, attempts, token, since, left } }: { memo: Memo }) {
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
  who: readonly Who[];
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

/** The line of the key that is open: who holds it, and who waits in which order. */
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
    </section>
  );
}
