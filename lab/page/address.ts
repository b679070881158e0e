import { preferredLanguage } from '../../products/ui/page/kit/language.ts';
import { SCENES } from '../scenes/index.ts';
import { type Fault, faultsText, readFaults } from '../stage/faults.ts';
import type { WayName } from '../stage/scene.ts';
import { LANGUAGES, type Language } from '../words/index.ts';

/** All that a run follows from, and from where on it is looked at: enough to see the same elsewhere. */
export interface Address {
  readonly scene: string;
  readonly way: WayName;
  readonly seed: number;
  readonly faults: readonly Fault[];
  /** ms since the scene began, where it is looked at between two sentences. */
  readonly at: number;
  /** The sentence that was told last, counted from 1; 0: `at` counts. */
  readonly step: number;
  readonly language: Language;
}

/** From what stands behind the `#`. What is missing or not understood is as at the first visit. */
export function readAddress(hash: string, tags: readonly string[]): Address {
  const given = new URLSearchParams(hash.replace(/^#/, ''));
  const language = given.get('lang') ?? preferredLanguage(tags);
  const seed = Number(given.get('seed'));
  const at = Number(given.get('at'));
  const step = Number(given.get('step'));
  return {
    scene: SCENES.find(({ name }) => name === given.get('scene'))?.name ?? SCENES[0]!.name,
    way: given.get('way') === 'holdfast' ? 'holdfast' : 'naive',
    seed: Number.isInteger(seed) && seed > 0 && seed < 1e9 ? seed : 1,
    faults: readFaults(given.get('do') ?? ''),
    at: at > 0 && at < 1e6 ? at : 0,
    step: Number.isInteger(step) && step > 0 ? step : 0,
    language: Object.hasOwn(LANGUAGES, language) ? (language as Language) : 'en',
  };
}

export function addressText({ scene, way, seed, faults, at, step, language }: Address): string {
  const parts = [`scene=${scene}`, `way=${way}`, `seed=${seed}`];
  if (faults.length > 0) parts.push(`do=${faultsText(faults)}`);
  if (step > 0) parts.push(`step=${step}`);
  else if (at > 0) parts.push(`at=${at}`);
  return `#${parts.join('&')}&lang=${language}`;
}
