import { numberOf } from '../model/places.ts';
import { type SideName, type SideView, sides, words } from '../state.ts';

/** All that was noted, as text: what the pictures are drawn from. */
export function Log() {
  const text = words.value;
  return (
    <details class="log">
      <summary>{text.log}</summary>
      <div class="logs">
        {(Object.keys(sides) as SideName[]).map((name) => {
          const view = sides[name].value;
          return view && <Notes key={name} view={view} name={name} />;
        })}
      </div>
    </details>
  );
}

function Notes({ view: { plan }, name }: { view: SideView; name: SideName }) {
  const text = words.value;
  const title = name === 'without' ? text.without[plan.scene] : text.strategy[plan.scene][plan.side.strategy]!.name;
  return (
    <div>
      <h3>{title}</h3>
      <ol>
        {plan.side.happenings.map((each, i) => (
          <li key={`${i}`}>
            <code>{each.at.toFixed(1)}</code>{' '}
            <span class={`process-${each.process}`}>{text.process(each.process)}</span>{' '}
            {text.happening(plan.scene, each, numberOf(each))}
          </li>
        ))}
      </ol>
    </div>
  );
}
