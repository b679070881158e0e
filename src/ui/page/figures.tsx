import type { ComponentChildren } from 'preact';
import { number, t } from './language.ts';
import { going, snapshot } from './state.ts';
import { Going, Name } from './text.tsx';
import type { Word } from './words/en.ts';

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

/** Six figures as a summary. */
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

/** The findings of `check()`. */
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
