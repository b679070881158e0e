import { signal } from '@preact/signals';
import type { MemoList } from '../wire.ts';
import { Remembered } from './detail.tsx';
import { forget, going, memosIn, query, snapshot, t } from './state.ts';
import { Name } from './text.tsx';

/** The last list; undefined while it is closed. It is not repeated, because each memo costs a request. */
const listed = signal<MemoList | { readonly error: string } | undefined>();
/** The key whose button was pressed once: a second press forgets. */
const sure = signal<string | undefined>();

async function list(): Promise<void> {
  listed.value = await memosIn(query.value.in);
}

async function press(key: string): Promise<void> {
  if (sure.value !== key) {
    sure.value = key;
    return;
  }
  sure.value = undefined;
  const answer = await forget(key);
  if ('error' in answer) listed.value = answer;
  else await list();
}

/** The list of memos, without their values. */
export function Memos() {
  const now = snapshot.value;
  if (!now || now.look.age === null) return null;
  const found = listed.value;
  const toggle = (): void => {
    if (found) listed.value = undefined;
    else void list();
  };
  return (
    <section class="memos" aria-label={t('memos')}>
      <button type="button" class="plain" aria-expanded={found !== undefined} onClick={toggle}>
        {found ? '▾' : '▸'} <strong>{t('memos')}</strong>
      </button>
      {found && 'error' in found && (
        <p class="soft">
          <Name text={found.error} />
        </p>
      )}
      {found && 'memos' in found && (
        <ol>
          {found.memos.map((memo) => (
            <li key={memo.key}>
              <a {...going({ key: memo.key })}>
                <Name text={memo.key} />
              </a>{' '}
              {now.mayRelease && (
                <button type="button" class="danger" onClick={() => void press(memo.key)}>
                  {t(sure.value === memo.key ? 'reallyForget' : 'forget')}
                </button>
              )}
              <Remembered memo={memo} />
            </li>
          ))}
          {found.memos.length === 0 && <li class="soft">{t('noMemos')}</li>}
          {found.more && <li class="soft">{t('moreMemos')}</li>}
        </ol>
      )}
    </section>
  );
}
