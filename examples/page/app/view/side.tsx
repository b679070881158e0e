import { numberOf } from '../model/places.ts';
import { ended, now } from '../player.ts';
import { language, round, type SideName, type SideView, sides, words } from '../state.ts';
import { Paused } from './paused.tsx';
import { Rush } from './rush.tsx';

/** One of the two rushes: its name, its picture, and what is happening in it. */
export function Side({ name }: { name: SideName }) {
  const view = sides[name].value;
  if (!view || !round.value) return null;
  const text = words.value;
  const { scene, processes } = round.value;
  const { plan, verdict } = view;
  const { strategy } = plan.side;
  const title = name === 'without' ? text.without[scene] : text.strategy[scene][strategy]!.name;
  const over = ended.value;
  const state = over ? (verdict.right ? 'right' : 'wrong') : 'open';
  const label = `${title}. ${text.sentence(scene, strategy, verdict)}`;
  return (
    <figure class={`side ${state}`} data-side={name} data-scene={scene} data-strategy={strategy}>
      <h2>
        {title}
        {over && <span class="mark">{verdict.right ? text.right : text.wrong}</span>}
      </h2>
      {scene === 'paused' ? (
        <Paused plan={plan} at={now.value} label={label} />
      ) : (
        <Rush plan={plan} processes={processes} at={now.value} label={label} />
      )}
      <figcaption>{over ? text.sentence(scene, strategy, verdict) : caption(view)}</figcaption>
    </figure>
  );
}

/** What happened last. */
function caption({ plan }: SideView): string {
  const last = plan.side.happenings.findLast(({ at }) => at <= now.value);
  const soFar = last ?? plan.side.happenings[0];
  if (!soFar || !language.value) return '';
  return words.value.happening(plan.scene, soFar, numberOf(soFar));
}
