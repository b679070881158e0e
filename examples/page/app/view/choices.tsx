import type { ComponentChildren } from 'preact';
import { type SceneName, STRATEGIES } from '../../record.ts';
import { choose } from '../rounds.ts';
import { scene, strategy, words } from '../state.ts';

interface CardProps {
  readonly group: string;
  readonly value: string;
  readonly checked: boolean;
  readonly onChoose: () => void;
  readonly children: ComponentChildren;
}

const Card = ({ group, value, checked, onChoose, children }: CardProps) => (
  <label class="card">
    <input type="radio" name={group} value={value} checked={checked} onChange={onChoose} />
    <span>{children}</span>
  </label>
);

export function Scenes() {
  const text = words.value;
  return (
    <fieldset class="cards scenes">
      <legend>{text.scenes}</legend>
      {(Object.keys(STRATEGIES) as SceneName[]).map((each) => (
        <Card key={each} group="scene" value={each} checked={scene.value === each} onChoose={() => choose(each)}>
          <b>{text.scene[each].name}</b>
          <small>{text.scene[each].words}</small>
        </Card>
      ))}
    </fieldset>
  );
}

export function Strategies() {
  const text = words.value;
  const known = text.strategy[scene.value];
  return (
    <fieldset class="cards strategies">
      <legend>{text.strategies}</legend>
      {STRATEGIES[scene.value].map((each) => (
        <Card
          key={each}
          group="strategy"
          value={each}
          checked={strategy.value === each}
          onChoose={() => choose(scene.value, each)}
        >
          <b>{known[each]!.name}</b>
          <small>
            {each === 'in-process' && <i class="unsafe">{text.unsafe} </i>}
            {known[each]!.words}
          </small>
        </Card>
      ))}
    </fieldset>
  );
}
