import { signal } from '@preact/signals';
import type { Deed } from '../stage/faults.ts';
import { act } from './state.ts';

/** What is dragged, and where the pointer is. */
export const dragged = signal<{ readonly deed: Deed; readonly x: number; readonly y: number } | undefined>(undefined);
/** A drop was just made: the click that follows it is no click. */
export const dropped = signal(false);

/** Farther than this it is a drag, and no press. px */
const SLACK = 8;

/** From a button of a deed to a card or a message. */
export function beginDrag(deed: Deed, down: PointerEvent): void {
  const move = (event: PointerEvent): void => {
    if (!dragged.value && Math.hypot(event.clientX - down.clientX, event.clientY - down.clientY) < SLACK) return;
    event.preventDefault();
    dragged.value = { deed, x: event.clientX, y: event.clientY };
  };
  const end = (event: PointerEvent): void => {
    removeEventListener('pointermove', move);
    removeEventListener('pointerup', end);
    removeEventListener('pointercancel', end);
    const was = dragged.value;
    dragged.value = undefined;
    if (!was || event.type === 'pointercancel') return;
    dropped.value = true;
    setTimeout(() => {
      dropped.value = false;
    });
    const on = document.elementFromPoint(event.clientX, event.clientY)?.closest<HTMLElement>('[data-name]')
      ?.dataset.name;
    if (on && fits(deed, on)) act(deed, on);
  };
  addEventListener('pointermove', move);
  addEventListener('pointerup', end);
  addEventListener('pointercancel', end);
}

/** Whether that can be done to it. */
export function fits(deed: Deed, on: string): boolean {
  const message = on.includes('-');
  if (deed === 'lose' || deed === 'hold') return message;
  return !message && (deed !== 'take' || on.length === 1);
}
