import { PEOPLE, type Who } from './events.ts';
import type { Stage } from './stage.ts';

export const DEEDS = ['take', 'pause', 'go', 'kill', 'cut', 'mend', 'lose', 'hold'] as const;
export type Deed = (typeof DEEDS)[number];

/** What a person did: to a process, an engine or a message, at that time, ms since the scene began. */
export interface Fault {
  readonly at: number;
  readonly deed: Deed;
  readonly on: string;
}

/** How long `hold` holds a message up, ms. */
export const HELD_UP = 1_000;

/** As text in an address: `pause-A@812.4,lose-A-engine 1-3@900`. */
export const faultsText = (faults: readonly Fault[]): string =>
  faults.map(({ at, deed, on }) => `${deed}-${on.replaceAll(' ', '_')}@${at}`).join(',');

/** What is not understood is left out. */
export function readFaults(text: string): Fault[] {
  return text.split(',').flatMap((part) => {
    const found = /^([a-z]+)-([\w-]+)@(\d+(?:\.\d+)?)$/.exec(part);
    const deed = DEEDS.find((each) => each === found?.[1]);
    if (!found || !deed) return [];
    return [{ at: Number(found[3]), deed, on: found[2]!.replaceAll('_', ' ') }];
  });
}

export function apply(stage: Stage, { deed, on }: Fault): void {
  if (deed === 'take' && PEOPLE.includes(on as Who)) stage.start(on as Who);
  if (deed === 'pause') stage.troubles.pause(on);
  if (deed === 'go') stage.troubles.resume(on);
  if (deed === 'kill') stage.troubles.kill(on);
  if (deed === 'cut') stage.troubles.cut(on);
  if (deed === 'mend') stage.troubles.mend(on);
  if (deed === 'lose') stage.network.lose(on);
  if (deed === 'hold') stage.network.hold(on, HELD_UP);
}
