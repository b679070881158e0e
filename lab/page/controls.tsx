import { signal } from '@preact/signals';
import { toggle } from './player.ts';
import { open, playing, recording, seed, seek, showAddress, speed, step, told, way, words } from './state.ts';

const linked = signal(false);

async function copyLink(): Promise<void> {
  showAddress();
  await navigator.clipboard?.writeText(location.href).catch(() => {});
  linked.value = true;
  setTimeout(() => {
    linked.value = false;
  }, 1_500);
}

export function restart(): void {
  playing.value = false;
  seek(0);
}

const Icon = ({ path }: { readonly path: string }) => (
  <svg viewBox="0 0 16 16" aria-hidden="true">
    <path d={path} />
  </svg>
);

export function Controls() {
  const { ui } = words.value;
  const last = (recording.value?.happenings.length ?? 0) - 1;
  return (
    <div class="controls">
      <button type="button" class="icon" aria-label={ui.restart} title={ui.restart} onClick={restart}>
        <Icon path="M2 2h3v12H2zM14 2v12L6 8z" />
      </button>
      <button
        type="button"
        class="icon back"
        aria-label={ui.back}
        title={ui.back}
        disabled={told.value < 0}
        onClick={() => step(-1)}
      >
        <Icon path="M11 2v12L3 8zM12 2h2v12h-2z" />
      </button>
      <button type="button" class="play" onClick={toggle}>
        <Icon path={playing.value ? 'M3 2h4v12H3zM9 2h4v12H9z' : 'M3 1v14l11-7z'} />
        {playing.value ? ui.pause : ui.play}
      </button>
      <button
        type="button"
        class="icon step"
        aria-label={ui.step}
        title={ui.step}
        disabled={told.value >= last}
        onClick={() => step(1)}
      >
        <Icon path="M5 2v12l8-6zM2 2h2v12H2z" />
      </button>
      <label>
        <span class="hidden">{ui.speed}</span>
        <select
          value={speed.value}
          onChange={(event) => {
            speed.value = event.currentTarget.value as typeof speed.value;
          }}
        >
          {(['slow', 'normal', 'fast'] as const).map((name) => (
            <option key={name} value={name}>
              {ui[name]}
            </option>
          ))}
        </select>
      </label>
      <span class="gap" />
      <button type="button" title={`${ui.seed} ${seed.value}`} onClick={() => open({ seed: seed.value + 1 })}>
        {ui.seed} {seed.value} ↻<span class="hidden">{ui.another}</span>
      </button>
      <button type="button" onClick={() => void copyLink()}>
        {linked.value ? ui.linked : ui.link}
      </button>
    </div>
  );
}

/** Where no field of a form has the keys. */
export function onKey(event: KeyboardEvent): void {
  const { target, key } = event;
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const tag = target instanceof HTMLElement ? target.tagName : '';
  const typing = tag === 'INPUT' || tag === 'SELECT';
  if (typing || (key === ' ' && tag === 'BUTTON')) return;
  if (key === ' ') toggle();
  else if (key === 'ArrowRight') step(1);
  else if (key === 'ArrowLeft') step(-1);
  else if (key === 'Home') restart();
  else if (key === 'w' || key === 'W') open({ way: way.value === 'naive' ? 'holdfast' : 'naive' });
  else return;
  event.preventDefault();
}
