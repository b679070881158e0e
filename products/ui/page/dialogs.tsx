import { signal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { visible } from '../../../src/core/contract/visible.ts';
import { helping, release, releasing, t } from './state.ts';
import { Name } from './text.tsx';

/** The outcome of the last release, and whether a release is going on. */
const outcome = signal<{ readonly text: string; readonly bad: boolean } | undefined>();
const underWay = signal(false);

/** A dialog takes the focus of the keyboard while it is open, and then gives the focus back. */
function Window({
  label,
  closed: onClose,
  children,
}: {
  label: string;
  closed: () => void;
  children: ComponentChildren;
}) {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    dialog.current?.showModal();
  }, []);
  return (
    <dialog ref={dialog} aria-label={label} onClose={onClose}>
      {children}
    </dialog>
  );
}

export function ReleaseDialog() {
  const wanted = releasing.value;
  const reason = useRef<HTMLInputElement>(null);
  if (!wanted) return null;
  const { key, label, token } = wanted;
  const close = (): void => {
    releasing.value = undefined;
  };
  const confirm = async (event: SubmitEvent): Promise<void> => {
    event.preventDefault();
    const why = reason.current?.value.trim() ?? '';
    if (why === '' || underWay.value) return;
    underWay.value = true;
    const answer = await release({ key, token, reason: why });
    underWay.value = false;
    if ('error' in answer) outcome.value = { text: t('notReleased', { error: answer.error }), bad: true };
    else if (answer.evicted) outcome.value = { text: t('evicted', { label }), bad: false };
    else outcome.value = { text: t('notEvicted'), bad: false };
    close();
  };
  return (
    <Window label={t('releaseTitle', { key: visible(key) })} closed={close}>
      <form onSubmit={(event) => void confirm(event as unknown as SubmitEvent)}>
        <h2>
          <Name text={t('releaseTitle', { key })} />
        </h2>
        <dl>
          <dt>{t('releaseWho')}</dt>
          <dd>
            <Name text={label} />
          </dd>
          <dt>{t('token')}</dt>
          <dd class="number">{token}</dd>
        </dl>
        <p>{t('releaseWhat')}</p>
        <p>{t('releaseOnly')}</p>
        <label>
          {t('reason')}
          <input ref={reason} name="reason" required maxLength={500} autocomplete="off" />
        </label>
        <div class="buttons">
          <button type="button" onClick={close}>
            {t('cancel')}
          </button>
          <button type="submit" class="danger" disabled={underWay.value}>
            <Name text={t('confirm', { label })} />
          </button>
        </div>
      </form>
    </Window>
  );
}

export function Outcome() {
  const shown = outcome.value;
  if (!shown) return null;
  return (
    <section class={`band ${shown.bad ? 'bad' : 'done'}`} role="status">
      <strong>
        <Name text={shown.text} />
      </strong>{' '}
      <button
        type="button"
        onClick={() => {
          outcome.value = undefined;
        }}
      >
        {t('close')}
      </button>
    </section>
  );
}

const KEYS = [
  ['/', 'helpSearch'],
  ['j k', 'helpMove'],
  ['Enter', 'helpOpen'],
  ['t', 'helpPin'],
  ['r', 'helpLook'],
  ['Esc', 'helpClose'],
  ['?', 'helpHelp'],
] as const;

export function Help() {
  if (!helping.value) return null;
  const close = (): void => {
    helping.value = false;
  };
  return (
    <Window label={t('help')} closed={close}>
      <h2>{t('help')}</h2>
      <dl class="keyboard">
        {KEYS.map(([key, word]) => (
          <div key={key}>
            <dt>
              <kbd>{key}</kbd>
            </dt>
            <dd>{t(word)}</dd>
          </div>
        ))}
      </dl>
      <div class="buttons">
        <button type="button" onClick={close}>
          {t('close')}
        </button>
      </div>
    </Window>
  );
}
