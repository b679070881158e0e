import { visible } from '../../../src/core/contract/visible.ts';
import type { Who } from '../wire.ts';
import { elapsed, number, t, time } from './state.ts';

/** Shows a foreign name so that its characters cannot change the text around it. */
export const Name = ({ text, title }: { readonly text: string; readonly title?: string }) => (
  <bdi class="name" title={title ?? visible(text)}>
    {visible(text)}
  </bdi>
);

export const Going = ({ ms }: { readonly ms: number }) => <>{time(ms + elapsed.value)}</>;

/** How long a claim holds or waits, and how sure that is. */
export const For = ({ who }: { readonly who: Who }) => {
  const mark = { seen: '', most: '≤ ', least: '≥ ' }[who.known];
  const title = who.known === 'seen' ? undefined : `${mark}${time(who.for)} ${t(who.known)}`;
  return (
    <span title={title}>
      {mark}
      <Going ms={who.for} />
    </span>
  );
};

/** The time until a claim expires if nobody renews it. */
export const TimeLeft = ({ ms }: { readonly ms: number | null }) => {
  if (ms === null) return <span class="soft">{t('session')}</span>;
  const left = ms - elapsed.value;
  if (left <= 0)
    return (
      <span class="soft" title={t('maybeRenewed')}>
        ?
      </span>
    );
  return <>{time(left)}</>;
};

export const Count = ({ of }: { readonly of: number }) => (
  <span class={of === 0 ? 'soft' : undefined}>{number(of)}</span>
);

export function asWords(as: Who['as']): string {
  if (as === 'exclusive' || as === 'shared') return t(as);
  const [units = '', capacity = ''] = as.split(' of ');
  return t('of', { units, capacity });
}
