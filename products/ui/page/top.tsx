import type { ComponentChildren } from 'preact';
import { LanguageSwitch } from './kit/switch.tsx';
import { chosen, elapsed, going, language, link, lookNow, number, snapshot, t, time, writeAddress } from './state.ts';
import { Going, Name } from './text.tsx';
import type { Word } from './words/en.ts';

/** A view is old if its age is more than the times of a look and a pause, and this time, ms. */
const LATE_VIEW_MS = 3_000;

function Pulse() {
  const look = snapshot.value?.look;
  if (look?.state === 'unable') return null;
  if (!look || link.value !== 'open' || look.age === null) {
    const word = link.value === 'lost' || look?.state === 'failing' ? 'bad' : 'soft';
    return <span class={`pulse ${word}`}>{t(look?.looked ? 'looking' : 'connecting')}</span>;
  }
  const age = look.age + elapsed.value;
  const late = look.state === 'failing' || age > look.pause + (look.took ?? 0) + LATE_VIEW_MS;
  const text = late || look.pause > 10_000 ? t('old', { age: time(age) }) : t('live');
  return <span class={`pulse ${look.state === 'failing' ? 'bad' : late ? 'warn' : 'good'}`}>{text}</span>;
}

function Rate() {
  const look = snapshot.value?.look;
  if (!look || look.took === null) return null;
  return <span class="rate soft">{t('rate', { pause: time(look.pause), took: time(look.took) })}</span>;
}

export function Top() {
  const now = snapshot.value;
  return (
    <header class="top">
      <h1>holdfast</h1>
      {now && <Name text={now.engine} />}
      {now?.prefix && (
        <span class="tag">
          {t('prefixed', { prefix: '' })} <Name text={now.prefix} />
        </span>
      )}
      {now && (
        <span class={`tag ${now.mayRelease ? 'warn' : ''}`}>{t(now.mayRelease ? 'mayRelease' : 'readOnly')}</span>
      )}
      <span class="space" />
      <Pulse />
      <Rate />
      <button type="button" onClick={lookNow}>
        {t('lookNow')}
      </button>
      <LanguageSwitch
        now={language.value}
        choose={(other) => {
          chosen.value = other;
          writeAddress(true);
        }}
      />
    </header>
  );
}

function Band({ title, text, detail, bad }: { title: string; text?: string; detail?: string | null; bad?: boolean }) {
  return (
    <section class={`band ${bad ? 'bad' : ''}`} role={bad ? 'alert' : 'status'}>
      <strong>{title}</strong>
      {text && <p>{text}</p>}
      {detail && (
        <p class="detail">
          <Name text={detail} />
        </p>
      )}
    </section>
  );
}

/** Problems that the reader must know before the rest of the page. */
export function Trouble() {
  const now = snapshot.value;
  const gone = elapsed.value;
  if (link.value === 'lost')
    return <Band bad title={t('lost', { age: time((now?.look.age ?? 0) + gone) })} text={t('lostText')} />;
  if (!now) return null;
  const { state, age, error, next, failingFor, looked, took, pause } = now.look;
  const beyond = now.totals?.beyond ?? 0;
  const again = next === null || next <= gone ? t('againNow') : t('again', { next: time(next - gone) });
  if (state === 'unable') return <Band title={t('unable')} text={t('unableText')} detail={error} />;
  if (state === 'failing') {
    const values = { for: time((failingFor ?? 0) + gone), age: time((age ?? 0) + gone) };
    return <Band bad title={age === null ? t('failingNever') : t('failing', values)} text={again} detail={error} />;
  }
  if (state === 'never') return <Band title={t('neverTitle')} text={t('neverText', { n: number(looked ?? 0) })} />;
  return (
    <>
      {pause > 10_000 && (took ?? 0) > 100 && (
        <p class="remark soft">{t('slow', { took: time(took ?? 0), pause: time(pause) })}</p>
      )}
      {beyond > 0 && <p class="remark">{t('beyond', { n: number(beyond) })}</p>}
    </>
  );
}

function Figure({ word, of, children }: { word: Word; of?: number; children?: ComponentChildren }) {
  return (
    <div class={`figure ${word}`}>
      <dt>{t(word)}</dt>
      <dd>{children ?? number(of ?? 0)}</dd>
    </div>
  );
}

function Longest({ of }: { of: { readonly key: string; readonly for: number } | null }) {
  if (!of) return <span class="soft">{t('none')}</span>;
  return (
    <a {...going({ key: of.key })}>
      <Going ms={of.for} /> <Name text={of.key} />
    </a>
  );
}

export function Figures() {
  const totals = snapshot.value?.totals;
  if (!totals) return null;
  return (
    <dl class="figures">
      <Figure word="keys" of={totals.keys} />
      <Figure word="holders" of={totals.holders} />
      <Figure word="waiting" of={totals.waiting} />
      <Figure word="contested" of={totals.contested} />
      <Figure word="longestWait">
        <Longest of={totals.longestWait} />
      </Figure>
      <Figure word="longestHold">
        <Longest of={totals.longestHold} />
      </Figure>
    </dl>
  );
}

export function Findings() {
  const findings = snapshot.value?.findings;
  if (!findings) return null;
  if (findings.length === 0) return <p class="remark soft">✓ {t('fine')}</p>;
  const grave = findings.filter(({ severity }) => severity !== 'info');
  return (
    <details class="findings" open={grave.length > 0 && findings.length < 4}>
      <summary>
        {t('findings')}
        {(['danger', 'warning', 'info'] as const).map((severity) => {
          const count = findings.filter((each) => each.severity === severity).length;
          return (
            count > 0 && <span class={`badge ${severity}`}>{count > 1 ? `${t(severity)} ${count}` : t(severity)}</span>
          );
        })}
      </summary>
      <ul>
        {findings.map(({ severity, code, message, advice }) => (
          <li key={code}>
            <span class={`badge ${severity}`}>{t(severity)}</span> <code>{code}</code> <Name text={message} />
            <p class="soft">
              <Name text={advice} />
            </p>
          </li>
        ))}
      </ul>
    </details>
  );
}
